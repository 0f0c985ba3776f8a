"""Families of error messages: what each says is missing, and of which kind. Pure.

A family is a row of :data:`FAMILIES` or, for lines of any log, of :data:`LINES`. The groups of its
expression name what the message says: ``module`` and ``name`` (or ``owner``, a class, or ``function``) of what is
asked for, ``path`` where it was searched for, ``distribution``, ``consumer``, ``requirement``, ``version``, ``library``
(a file of the system's) and ``program``, each also ``named``, ``symbol``, ``object`` (what cannot be pickled), ``python``, ``wheel``, ``importer`` (the module
or plugin that was being imported), ``plugin`` and ``maker`` (who implements a hook, whose ``name`` begins with its owner's).
"""

# ruff: noqa: E501 - an expression is one row

from __future__ import annotations

import builtins
import re
from collections import Counter
from typing import Any

from envdoctor.engine.build_logs import building
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Characters of a message that are looked at, and how many clues are kept of one text.
MOST_MESSAGE, MOST_CLUES = 4_000, 24
#: Characters of a line, lines, and lines of one family that are looked at outside any failure.
MOST_LINE, MOST_LINES, MOST_ALIKE = 500, 200, 3
#: Characters at the end of a log in which the words of tools are looked for.
MOST_SPOKEN = 20_000

_DOTTED = r"[A-Za-z_][\w.]{0,200}"
_NAME = r"[A-Za-z0-9](?:[\w.-]{0,80}[A-Za-z0-9])?"
_VERSION = r"\d(?:[\w.!+]{0,60}\w)?"
_SPEC = rf"(?: ?(?:[<>=!~]=?=?) ?{_VERSION}(?:\.\*)?,?){{1,6}}"
_FILE = r"(?:[A-Za-z]:)?[^\s:'\"()]{1,400}?"
_SHARED = r"(?:[\w.+-]{1,100}\.so(?:\.[\d.]+)?|[\w.+-]{1,100}\.(?:dylib|dll))"

#: Modules of the standard library of Python 2 alone.
PYTHON_2 = (
    "urllib2", "ConfigParser", "Queue", "StringIO", "cStringIO", "cPickle", "__builtin__", "Tkinter", "httplib", "urlparse",
    "HTMLParser", "cookielib", "SocketServer", "BaseHTTPServer", "SimpleHTTPServer", "copy_reg", "exceptions", "sets", "md5",
    "sha", "thread", "commands", "xmlrpclib",
)  # fmt: skip
#: Name of the family, a name that the exception must have (any where empty), and the expression for the message.
FAMILIES: Sequence[tuple[str, str, str]] = (
    ("python-home", "", r"(?P<said>failed to get the Python codec of the filesystem encoding|Could not find platform (?:in)?dependent libraries|No module named '?encodings'?)"),
    ("part", "", r"(?P<said>the \w+ module in Python is not available|zlib not available|ensurepip is not available|can't decompress data; zlib)"),
    ("script", "", r"attempted relative import (?:with no known parent package|beyond top-level package)"),
    ("certificates", "", r"(?i:certificate[ _]verify[ _]failed|suitable TLS CA certificate bundle|unable to get local issuer certificate|self[- ]signed certificate in certificate chain)"),
    ("daemonic", "", r"daemonic processes are not allowed to have children"),
    ("processor", "", r"(?i:illegal (?:hardware )?instruction)|SIGILL|(?i:was (?:compiled|built) to use \w+ instructions|(?:your|the) (?:cpu|processor) (?:does not|doesn't) support)"),
    ("data", "", r"Can't find model '(?P<name>[\w.-]{1,80})'|Resource (?:\x1b\[93m)?(?P<named>[\w.-]{1,80})(?:\x1b\[0m)? not found"),
    ("program", "", r"Executable doesn't exist at (?P<program>\S{1,400})"),
    ("shadowed", "", rf"module '(?P<module>{_DOTTED})' has no attribute '(?P<name>\w+)' \(consider renaming '(?P<path>[^']+)'"),
    ("shadowed", "", rf"cannot import name '(?P<name>\w+)' from '(?P<module>{_DOTTED})' \(consider renaming '(?P<path>[^']+)'"),
    ("circular", "", rf"partially initialized module '(?P<module>{_DOTTED})' has no attribute '(?P<name>\w+)'(?! \(most likely due to a circular import\) \()"),
    ("circular", "", rf"cannot import name '(?P<name>\w+)' from partially initialized module '(?P<module>{_DOTTED})'(?:.{{0,80}}? \((?P<path>[^()\n]+)\)$)?"),
    ("python2", "", r"'(?:dict|dict_keys|dict_values|dict_items|map|filter|zip|range|generator)' object (?:has no attribute '(?:iteritems|iterkeys|itervalues|has_key|next|sort)'|is not subscriptable|does not support indexing)"),
    ("python2", "NameError", r"name '(?:unicode|xrange|raw_input|basestring|long|unichr|reduce|execfile|cmp)' is not defined"),
    ("python2", "", rf"No module named '?(?:{'|'.join(PYTHON_2)})'?$"),
    ("newer-python", "TypeError", r"'(?:type|ABCMeta|builtin_function_or_method|_GenericAlias)' object is not subscriptable|unsupported operand type\(s\) for \|: '(?:type|ABCMeta|_GenericAlias|NoneType|_UnionGenericAlias)' and|dataclass\(\) got an unexpected keyword argument '(?:slots|kw_only|match_args|weakref_slot)'|zip\(\) takes no keyword arguments|unsupported operand type\(s\) for \|=?: 'dict' and 'dict'"),
    ("newer-python", "SyntaxError", r"future feature (?:annotations|generator_stop) is not defined"),
    ("newer-python", "AttributeError", r"'str' object has no attribute 'remove(?:pre|suf)fix'|'int' object has no attribute 'bit_count'"),
    ("locale", "", r"'(?:ascii|latin-1|charmap|cp\d+|gbk|gb2312|shift_jis|euc[_-]\w+)' codec can't (?:de|en)code|unknown locale: |unsupported locale setting|could not (?:find|set) (?:a )?(?:suitable |the )?locale|configured to use ASCII as encoding"),
    ("descriptor", "RuntimeError", r"There is no current event loop in thread|no running event loop"),
    ("missing-name", "", rf"cannot import name '?(?P<name>\w+)'? from '(?P<module>{_DOTTED})'(?: \((?P<path>[^()\n]+)\))?"),
    ("missing-name", "ImportError", r"cannot import name '?(?P<name>\w+)'?$"),
    ("missing-name", "", rf"module '?(?P<module>{_DOTTED})'? has no attribute '?(?P<name>\w+)'?"),
    ("read-only", "AttributeError", rf"property '(?P<name>\w+)' of '(?P<owner>{_DOTTED})' object has no (?:setter|deleter)"),
    ("bases", "TypeError", rf"Cannot create a consistent method resolution\s+order \(MRO\) for bases (?:(?:object|type|Generic|Protocol|ABC|ABCMeta), )*(?P<owner>{_DOTTED})"),
    ("super", "AttributeError", r"'super' object has no attribute '(?P<name>\w+)'"),
    ("missing-attribute", "", rf"type object '(?P<owner>{_DOTTED})' has no attribute '?(?P<name>\w+)'?"),
    ("missing-attribute", "", rf"'(?P<owner>{_DOTTED})' object has no attribute '?(?P<name>\w+)'?"),
    ("missing-attribute", "", rf"'(?P<owner>{_DOTTED})' object is not (?:callable|subscriptable|iterable)"),
    ("missing-module", "", rf"No module named '?(?P<module>{_DOTTED})'?"),
    ("missing-module", "", rf"[Mm]issing optional dependency '(?P<module>{_DOTTED})'"),
    ("signature", "TypeError", rf"(?P<function>{_DOTTED}|[\w.<>]+)\(\) (?:got an unexpected keyword argument|got multiple values for (?:keyword )?argument|got some positional-only arguments passed as keyword arguments:) '(?P<name>\w+)'?"),
    ("signature", "TypeError", rf"(?P<function>{_DOTTED}|[\w.<>]+)\(\) (?:takes|missing) (?:from |at most |at least |exactly )?(?:\d+|no)\b.{{0,60}}?arguments?(?:: '(?P<name>\w+))?"),
    ("signature", "TypeError", rf"(?:'(?P<name>\w+)' is an invalid keyword argument for|unexpected keyword argument '?(?P<named>\w+)'?)(?: (?P<function>{_DOTTED}))?"),
    ("signature", "TypeError", rf"Can't instantiate abstract class (?P<owner>{_DOTTED}) with"),
    ("descriptor", "TypeError", r"(?:duplicate base class|metaclass conflict|descriptor '\w+' (?:for|requires)|an integer is required \(got type bytes\)|code\(\) (?:argument|takes|missing))|ForwardRef\._evaluate\(\)"),
    ("descriptor", "KeyError", r"^'__\w+__'$"),
    ("descriptor", "ValueError", rf"mutable default <class '(?P<module>{_DOTTED})'> for field \w+ is not allowed"),
    ("descriptor", "", r"global flags not at the start of the expression|Population must be a sequence\. +For dicts or sets"),
    ("descriptor", "ValueError", r"^invalid mode: '\w*U"),
    ("abi", "", rf"(?P<module>{_DOTTED}?)\.\w+ size changed, may indicate binary incompatibility"),
    ("abi", "", rf"module that was compiled using (?P<distribution>{_NAME}) [\w.]+ cannot be run in"),
    ("abi", "", rf"module compiled against A[PB]I version \S+ but this version of (?P<distribution>{_NAME}) is"),
    ("abi", "", rf"module was compiled against (?P<distribution>{_NAME}) C-API version"),
    ("abi", "", rf"(?P<module>{_DOTTED}) failed to import(?: \(auto-generated|$)"),
    ("abi", "AttributeError", r"(?P<symbol>_ARRAY_API) not found"),
    ("symbol", "", rf"(?:(?P<path>{_FILE}): )?undefined symbol: (?P<symbol>\w+)"),
    ("symbol", "", r"(?:\((?P<path>[^\s(),]{1,400}), 0x[0-9a-fA-F]+\): )?[Ss]ymbol not found(?: in flat namespace)?:? \(?'?(?P<symbol>\w+)'?"),
    ("symbol", "", r"(?P<path>\S{1,400}): symbol (?P<symbol>\w+) version \S+ not defined"),
    ("symbol", "", r"operator (?P<module>\w+)::(?P<name>\w+) does not exist"),
    ("libc", "", r"version `(?P<symbol>[A-Z]+_[\d.]+)' not found \(required by (?P<path>[^)\n]+)\)"),
    ("device", "", r"lib(?:cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|cupti|nccl|nvinfer|nvJitLink|nvrtc|nvToolsExt|amdhip64|MIOpen|rocblas)[\w-]*\.so[\d.]*: cannot open shared object file"),
    ("library", "", rf"(?P<library>{_SHARED}): (?:cannot open shared object file|file too short|invalid ELF header|wrong ELF class)"),
    ("library", "", rf"(?P<library>{_SHARED}): cannot allocate memory in static TLS block"),
    ("library", "", rf"Library not loaded: \S*?(?P<library>{_SHARED})(?:\s+Referenced from: (?:<[\w-]+> )?(?P<path>\S+))?"),
    ("library", "", r"Could not find (?:module|library) '(?P<library>[^'\n]{1,200})'"),
    ("library", "OSError", r"cannot load library '(?P<library>[^'\n]{1,200})'"),
    ("library", "", r"\bno library called [\"'](?P<library>[\w.+-]{1,60})[\"'] was found"),
    ("library", "", r"\b(?P<library>[\w.+-]{2,40}) (?:shared )?library (?:was )?not found|[Ll]ibrary [\"'](?P<named>[\w.+-]{1,40})[\"'] not found"),
    ("library", "", r"[\"'`](?P<library>[\w.+-]{2,40})['\"`] (?:C |shared )?library was not found"),
    ("library", "", r"(?i:could ?n[o']t|cannot|unable to|failed to) (?:find|load|locate)(?: or load)? (?:the )?(?P<library>lib[a-z][\w+-]*(?:\.so[.\d]*)?|[\w.+-]{2,40}(?= (?:(?:DLL/)?shared library|DLL\b)))"),
    ("program", "FileNotFoundError", r"No such file or directory: '(?P<program>[A-Za-z][\w+-]{0,40})'$"),
    ("program", "", r"(?i:failed to execute (?:\w+\()?\[?['\"]?)(?P<program>[A-Za-z][\w.+-]{0,40})"),
    ("program", "", r"(?i:['\"`](?P<program>[a-z][\w.+-]{0,40})['\"`]|\b(?!(?:which|that|it|this|is|are|was|not|be|or|and|directory|folder|path)\b)(?P<named>[a-z][\w.+-]{1,40}))(?: executable| binary| command| program)? (?i:(?:is|was|needs? to|must|has to|should|not|or|it'?s|isn'?t|be|installed|found|available|located|and|properly)[ ,]+){1,8}(?i:(?:in|on) (?:your |the |system |\$){0,3}path\b)"),
    ("program", "", r"(?i:\bno|\bbad) (?P<program>[a-z][\w.+-]{1,40}) (?:executable|(?:binary |program )?was found|binary found)"),
    ("program", "", r"[`'\"](?P<program>[\w.+-]{2,40})[`'\"] (?:command|executable|program|binary) (?:is |was |could )?not (?:be )?found"),
    ("program", "", r"(?P<program>[Jj]ava) gateway process exited before|(?P<named>JAVA)_HOME is not set"),
    ("library", "", r"\[WinError (?:126|127|193|1114)\][^\n]{0,200}?[Ll]oading \"(?P<path>[^\"\n]{1,300})\""),
    ("library", "", rf"DLL load failed(?: while importing (?P<module>{_DOTTED}))?"),
    ("architecture", "", r"[Ee]xec format error"),
    ("architecture", "", r"(?P<path>[^\s',]{1,400}?)'?,? \(?.{0,120}incompatible architecture \(have '?(?P<have>[\w,]+)'?, need '?(?P<need>[\w,]+)'?"),
    ("missing-file", "", r"No such file or directory: '(?P<path>[^'\n]*[\\/](?:site|dist)-packages[\\/][\w.-]+[\\/](?P<name>[^'\n]+))'"),
    ("pickle", "", r"(?i:cannot|can't) pickle (?P<object>(?:local object |<(?:function|class) |'?)[^\n]{1,160}?)(?: objects?\b.*)?$"),
    ("pickle", "", r"(?P<object>[\w.]+)(?: objects?)? (?:cannot|can not|can't) be pickled"),
    ("saved", "", rf"Can't get attribute '(?P<name>[\w.]+)' on <module '(?P<module>{_DOTTED})'"),
    ("saved", "", r"(?:unsupported pickle protocol: \d|invalid load key, '|Weights only load failed|ran out of input|node array from the pickle has an incompatible dtype)"),
    ("unmet", "", rf"\((?P<distribution>{_NAME}) (?P<version>{_VERSION}) \([^)]*\), Requirement\.parse\('(?P<requirement>[^']+)'\)(?:, \{{'?(?P<consumer>[\w.-]+))?"),
    ("unmet", "", rf"The '(?P<requirement>[^'\n]+)' distribution was not found and is required by (?P<consumer>{_NAME})"),
    ("unmet", "", rf"(?P<requirement>{_NAME}{_SPEC}) is required .{{0,120}}?but found (?P<distribution>{_NAME})==(?P<version>{_VERSION})"),
    ("unmet", "", rf"(?P<consumer>{_NAME}) requires version '?(?P<version>{_VERSION})'? or (?:newer|higher|greater|later) of '?(?P<distribution>{_NAME})'?"),
    ("unmet", "", rf"No package metadata was found for (?P<distribution>{_NAME})"),
    ("unmet", "PackageNotFoundError", rf"^(?P<distribution>{_NAME})$"),
    ("start-method", "", r"(?i:in forked subprocess|bootstrapping phase|freeze_support|'?(?:spawn|forkserver)'? start method|when fork\(\) was called|context has already been set|multi-?threaded, use of fork\(\))"),
    ("resources", "MemoryError", r""),
    ("resources", "", r"(?i:can't start new thread|killed by signal: killed|out of memory: killed|too many open files|received \d+ items of ancdata|no space left on device|cannot allocate memory|insufficient shared memory|unable to (?:mmap|open shared memory)|out of (?:shared )?memory|/dev/shm)"),
    ("device", "", r"(?:no kernel image is available|CUDA (?:driver|error|capability|initialization)|sm_\d+ is not compatible|NVIDIA driver|libcuda|cuDNN|HIP error|ROCm|CUBLAS_STATUS|not compiled with CUDA)"),
    ("display", "", r"(?i:glad ?LoadGL|\bEGL\b|\bGLX\b|OpenGL|\$DISPLAY|no display|connect to display|\bxcb\b|X server|GLEW|not implemented\. Rebuild the library|Qt platform plugin(?: \"\w+\" in \"(?P<path>[^\"\n]+)\")?)"),
    ("settings", "", r"Unable to configure (?:handler|formatter|filter|logger|root logger)|Extra inputs are not permitted|extra fields not permitted"),
    ("settings", "", r"(?i:(?:unknown|unrecogni[sz]ed|invalid|unsupported|unexpected|malformed) (?:config(?:uration)?|settings?|option|section|key)s?\b(?! (?:argument|error))|[\w-]\.(?:toml|ini|cfg|ya?ml)\b[^\n]{0,60}(?:invalid|malformed|cannot|could not|unknown|unrecogni[sz]ed|error))"),
    ("hook", "", r"Plugin '(?:\d+|(?P<plugin>[\w.-]+))' for hook '(?P<name>\w+)'[^\n]*\n[^\n]*\n?(?:Argument\(s\) [^\n]{1,200})?"),
    ("hook", "", r"unknown hook '(?P<name>\w+)' in plugin (?:<module '(?P<plugin>[\w.]+)'|<(?P<maker>[\w.]+))?"),
    ("stated", "", rf"(?P<consumer>[A-Za-z][\w-]+)(?: {_VERSION})? (?:needs|requires|only supports?|depends on) (?:at least |the )?(?P<distribution>[A-Za-z][\w.-]+?)(?: version)?(?: ?[<>=!~]=?| at least)? ?v?\d"),
    ("stated", "", r"(?:[Rr]equires?|needs?|upgrade|install(?:ed)?|is incompatible with|not compatible with) (?:at least |a newer |to )?`?(?P<distribution>[A-Za-z][\w.-]+?)`?(?: to)?(?: at least)?(?: version)? ?(?:[<>=!~]=?)? ?v?(?P<version>\d[\w.]*)"),
    ("stated", "", r"(?P<consumer>[A-Za-z][\w.-]+) (?:needs|requires) (?:the )?[`'\"]?(?P<distribution>[A-Za-z][\w.-]+)[`'\"]?(?= (?:package|library|module|when|to be installed)|[.,]|$)"),
    ("announced", "", r"`?'?(?P<module>[A-Za-z_]\w*)\.(?P<name>[A-Za-z_][\w.]*)(?:\(\))?'?`? (?:module |function |class |attribute )?(?:was|is|has been|have been|were) (?:now |a )?(?:removed|moved|renamed|deprecated|replaced|no longer|expired|separate)"),
    ("announced", "", r"(?:[Oo]ption|[Ss]etting|[Aa]rgument|[Pp]arameter|[Kk]ey(?:word)?|[Cc]ommand|[Ff]lag|[Mm]odule|[Cc]lass|[Ff]unction|[Mm]ethod|[Ff]ield|[Vv]alue) [`'\"]?(?P<name>[\w.-]+)[`'\"]? (?:was|has been|is) (?:removed|renamed|moved|no longer \w+)(?: (?:from|in|by|to) (?:the )?(?P<distribution>[A-Za-z][\w-]+))?"),
    ("announced", "", r"(?P<name>[A-Za-z_]\w*) is no longer an? [\w -]{1,40} (?:of|in) the (?P<module>[A-Za-z]\w+) (?:package|library)"),
    ("announced", "", r"[`'\"](?P<name>[A-Za-z_]\w*)(?:\(\))?[`'\"] (?:was|has been|is) (?:now )?(?:removed|moved|renamed|expired)[^\n]{0,100}"),
    ("announced", "", rf"pip install (?:-U |--upgrade )?[\"'`]?(?P<requirement>{_NAME}(?:\[[\w,]+\])?(?:{_SPEC})?)"),
)  # fmt: skip

#: Families whose message is a line of an installer's, a compiler's or a build tool's log.
LINES: Sequence[tuple[str, str, str]] = (
    ("voice", "", r"^(?:[Uu]sage: (?!(?:python|setup)\b)|(?=\S+: error: ))(?P<distribution>(?!(?:gcc|g\+\+|cc|clang|ld|collect2|nvcc|make|cmake|bash|sh|error)\b)[a-z][\w-]+)(?: \[|: error: )[^\n]{0,160}"),
    ("managed", "", r"(?P<said>externally-managed-environment)"),
    ("permission", "", r"(?:Permission denied|Access is denied)[^\n]{0,20}: '(?P<path>[^'\n]*(?:(?:site|dist)-packages|[\\/](?:usr|opt|Program Files|lib|bin|Scripts))(?:[\\/][^'\n]*)?)'"),
    ("moved-environment", "", r"(?P<path>\S{1,300}): bad interpreter: |(?:^|/)(?P<named>\S{0,300}/(?:bin|Scripts)/python[\w.]*)'?: No such file or directory"),
    ("program", "", r"^(?:[\w./ -]{0,60}: )?(?:line \d+: |\d+: )?(?P<program>[A-Za-z][\w.+-]{0,40}): (?:command )?not found$"),
    ("program", "", r"command not found: (?P<program>[A-Za-z][\w.+-]{0,40})$"),
    ("compiler", "", r"(?P<said>CUDA_HOME environment variable is not set|[Cc]annot find nvcc)"),
    ("network", "", r"(?i:Max retries exceeded with url|temporary failure in name resolution|name or service not known|getaddrinfo failed|network is unreachable|nodename nor servname|cannot connect to proxy|ProxyError|failed to establish a new connection|Read timed out|connection (?:refused|reset by peer|aborted|timed out))"),
    ("unmet", "", rf"(?P<consumer>{_NAME}) {_VERSION} (?:requires|has requirement|depends on) (?P<requirement>{_NAME}[^,\n;]{{0,100}}?)(?:; .{{0,80}}?)?, (?:but you(?:'ll)? have (?P<distribution>{_NAME}) (?P<version>{_VERSION})|which is not installed)"),
    ("unmet", "", rf"(?P<consumer>{_NAME})(?:==| )\(?{_VERSION}\)? depends on (?P<requirement>{_NAME}(?:{_SPEC})?)"),
    ("unmet", "", rf"[Bb]ecause (?P<consumer>{_NAME}) depends on (?P<requirement>{_NAME}(?:{_SPEC})?)"),
    ("unmet", "", rf"(?i:incompatible|unsupported|un(?:known|recogni[sz]ed)) (?:new |newer )?version of (?:the )?['\"`]?(?P<distribution>(?!(?:this|your|that|it|a|an)\b){_NAME})['\"`]?"),
    ("unmet", "", rf"[Yy]ou(?: have|'ve| are using|'re using)(?: installed| currently)?(?: installed)? (?P<distribution>(?!(?i:python|version)\b)[A-Za-z][\w.-]+) v?(?P<version>{_VERSION})"),
    ("unmet", "", rf"\b(?P<distribution>[A-Za-z][\w.-]+) \(v?(?P<version>{_VERSION})\)[^\n]{{0,60}} (?:doesn't match|does not match|is not|isn't) (?:a |the )?(?:supported|compatible)"),
    ("requires-python", "", rf"Package '(?P<distribution>{_NAME})' requires a different Python: (?P<version>{_VERSION}) not in '(?P<python>[^'\n]+)'"),
    ("requires-python", "", rf"package (?P<distribution>{_NAME}?)-{_VERSION}-\w+ (?:requires|depends on) python (?P<python>[<>=!~][^\s]{{0,60}}?)(?:,? (?:which|but)|, none|\s*$)"),
    ("unmet", "", rf"package (?P<consumer>{_NAME}?)-{_VERSION}-\w+ (?:requires|depends on|has constraint) (?P<requirement>(?!python\b){_NAME})"),
    ("requires-python", "", rf"[Tt]he requested .{{0,60}}Python .{{0,80}} (?P<distribution>{_NAME})(?:==\S+)? depends on Python(?P<python>[<>=!~][^\s,]{{0,60}})"),
    ("no-wheel", "", rf"(?P<distribution>{_NAME}?)-{_VERSION}(?:-[\w.]+){{3,4}}\.whl is not a supported wheel on this platform"),
    ("no-wheel", "", rf"(?:Could not find a version that satisfies the requirement|No matching distribution found for) (?P<requirement>{_NAME}[^\s(]{{0,80}})"),
    ("no-wheel", "", rf"(?:[Dd]istribution )?`?(?P<distribution>{_NAME})(?:==(?P<version>{_VERSION}))?(?: @ [^`\n]{{1,200}})?`? (?:can't be installed because it doesn't have a source distribution or wheel|(?:\(v[\w.]+\) )?only has wheels with the following|was found,? but wheels)"),
    ("no-wheel", "", rf"`?(?P<distribution>{_NAME})(?:==\S+)?`? (?:has no (?:usable )?wheels|.{{0,80}}no wheels with a matching)"),
    ("setup", "", rf"error in (?P<distribution>{_NAME}) setup command: (?P<said>.{{1,200}})"),
    ("compile", "", r"fatal error: '?(?P<header>[\w./+-]+\.h(?:pp)?)'?(?: file not found|: No such file)"),
    ("compile", "", r"['`\u2018](?P<symbol>\w+)['\u2019][^\n]{0,80} has no member named"),
    ("compile", "", r"(?:use of undeclared identifier|[\u2018'`]?(?P<undeclared>_?Py\w+)[\u2019']? (?:undeclared|was not declared)|unknown type name|implicit declaration of function) ?[\u2018'`]?(?P<symbol>\w*)"),
    ("compiler", "", r"(?P<said>Microsoft Visual C\+\+ [\d.]+ (?:or greater )?is required|Unable to find vcvarsall\.bat|(?:command|program) '[\w/.-]*(?:gcc|g\+\+|cc|clang|cl\.exe|nvcc)[\w.-]*' failed: No such file|can't find Rust compiler|cargo.{0,80}not (?:found|installed)|CMake must be installed|No CMAKE_C(?:XX)?_COMPILER|unable to execute '\S+': No such file|No such file or directory: '(?:[\w+-]+-config|cmake|cargo|make|ninja|swig|git|meson)')"),
    ("build", "", r"(?P<said>the configured Python interpreter version \([\d.]+\) is (?:newer|lower) than PyO3's \w+ supported version)"),
    ("build", "", rf"[Cc]ould not build wheels for (?P<distribution>{_NAME})"),
    ("build", "", rf"\b(?:is|are) required to build (?P<distribution>{_NAME}) from source"),
    ("build", "", rf"[Ff]ailed building (?:editable )?wheel for (?P<distribution>{_NAME})"),
    ("build", "", rf"[Ff]ailed to build [`']?(?P<distribution>{_NAME})(?:==(?P<version>{_VERSION}))?[`']?(?: when .{{1,120}})?\s*$"),
    ("build", "", rf"Building (?:editable )?wheel for (?P<distribution>{_NAME}) \([\w.]+\)(?:[ .]*error$| did not run successfully|: finished with status 'error')"),
    ("build", "", rf"[Ff]ailed to build installable wheels for some .{{0,40}}\((?P<distribution>{_NAME})"),
    ("build", "", rf"[Ii]gnoring version (?P<version>{_VERSION}) of (?P<distribution>{_NAME}) since it has invalid metadata"),
    ("build", "", r"(?P<said>metadata-generation-failed|Preparing metadata \([\w.]+\)[ .]*(?:error|did not run successfully)|legacy-install-failure|Getting requirements to build wheel did not run successfully|python setup\.py \w+ did not run successfully|Command errored out with exit status)"),
)  # fmt: skip

#: Families that a log may quote in the middle of a line: behind an exception's name, or in brackets, after what imported.
_QUOTED = frozenset({"missing-name", "missing-attribute", "missing-module", "signature"})
_LEAD = (
    rf"(?:(?:import|load)(?:ing)?(?: the)?(?: \w+)? '?(?P<importer>{_DOTTED})'?[^\n]{{0,60}}?)?"
    r"(?:\w+Error(?:: |\([\"'])|\bexception: )"
)
_PLUGIN = re.compile(rf"[Ff]ailed to (?:load|import) (?:the )?(?:plugin|extension)s? [\"'`](?P<importer>{_NAME})[\"'`]")
_STARTS = re.compile(r"[\\/](?:subprocess|pexpect|ptyprocess|asyncio[\\/]\w+|_?posixsubprocess)\.py$")
_ENCODING = re.compile(r"\.(?:en|de)code\(\s*[rb]?['\"]|\bencoding\s*=\s*['\"]")
#: Families of lines without an exception before them, and the words of which such a line has one.
_ANYWHERE = {"hook", "display", "abi", "libc", "unmet", "start-method", "device", "resources", "shadowed"}
_ANYWHERE |= {"architecture", "settings", "certificates", "part", "processor", "python-home", "data"}
_TELLING = re.compile(
    r"requires |requirement|depends on|different Python|wheel|No matching|setup command|fatal error|no member|undeclared"
    r"|unknown type|implicit decl|Visual C|vcvarsall|[Ff]ailed|cargo|Rust|CMake|CMAKE|unable to execute|invalid metadata"
    r"|did not run|errored out|compiled using|required by|start method|bootstrapping|CUDA|sm_|open files|ancdata"
    r"|shared memory|but found|consider renaming|size changed|failed to import|Error: |Error\(|exception: |unknown hook"
    r"|not found|externally-managed|denied|bad interpreter|No such file|CUDA_HOME|nvcc|retries|resolution|unreachable"
    r"|not known|[Yy]ou (?:have|are using) |version of |match a|getaddrinfo|Proxy|proxy|connection|timed out|verify failed|Illegal instruction|not available|not exist at"
    r"|parent package|error: |sage: |required to build|requires python|[Ee]xec format|[Cc]ould not|(?i:configur|settings?\b|option|\.toml|\.ini|\.cfg|\.ya?ml)|codec of|core dumped|Preparing metadata|-config'|Building |removed|platform plugin|to display"
)


#: Types whose name says nothing of who made them.
BUILT_IN = frozenset(dir(builtins)) | {"NoneType", "function", "method", "module", "coroutine", "mappingproxy"}


class Clue(Record):
    """The content of one message of a text: its family, the groups of the expression, and its failure.

    ``failure`` is ``None`` for a line of a log. ``built`` names the distribution that was being built, where the
    text shows a build. ``weight`` says how near the message is to what failed in the end.
    """

    family: str
    said: str
    groups: Mapping[str, str] = {}
    failure: Any = None
    built: str | None = None
    weight: float = 1.0


def clues(error_text: Any, voices: Mapping[str, str] | None = None) -> list[Clue]:
    """The clues of a text's messages, those with most weight first; ``voices`` are expressions for words of tools."""
    built = building(error_text.text)
    failures = list(error_text.failures)
    found = [
        clue for number, failure in enumerate(failures) for clue in _of_failure(failure, number, len(failures), built)
    ]
    known = [(clue.family, clue.groups) for clue in found]
    found += [clue for clue in _of_lines(error_text.text, built) if (clue.family, clue.groups) not in known]
    found += _spoken(error_text, built, voices or {})
    found.sort(key=lambda clue: -clue.weight)
    return found[:MOST_CLUES]


def _of_failure(failure: Any, number: int, count: int, built: str | None) -> Iterator[Clue]:
    message = failure.message[:MOST_MESSAGE]
    exception = (failure.exception or "").rpartition(".")[2]
    if failure.chained == "ignored":
        return
    late = (number + 1) / count / 2
    for family, raises, expression in _IN_ORDER:
        if raises and raises != exception:
            continue
        found = _compiled(expression).search(message)
        if found and found.groupdict().get("owner") not in BUILT_IN and not _is_other(family, failure):
            weight, groups = _weight(family, failure) + late, {**_loaded(family, message), **_groups(found)}
            said = found.group() or exception
            yield Clue(family=family, said=said, groups=groups, failure=failure, built=built, weight=weight)
            return
    kind = _by_name(failure, exception)
    if kind:
        said = f"{exception}: {message.partition(chr(10))[0]}" if exception else message
        yield Clue(family=kind, said=said[:300], failure=failure, built=built, weight=_weight(kind, failure) + late)


def _is_other(family: str, failure: Any) -> bool:
    """Whether the frames show that a message is not of its family.

    A statement that names the encoding itself has nothing to do with the locale, and a file that is not there is a
    program only where one was to be started.
    """
    code = (failure.frames[-1].code or "") if failure.frames else ""
    if family == "program" and failure.frames and failure.message.startswith("[Errno 2]"):
        return not any(_STARTS.search(one.file) for one in failure.frames)
    return family == "locale" and _ENCODING.search(code) is not None


def _loaded(family: str, message: str) -> dict[str, str]:
    """The plugin that a message says could not be loaded, before it quotes why."""
    found = _PLUGIN.search(message) if family in _QUOTED else None
    return _groups(found) if found else {}


def _by_name(failure: Any, exception: str) -> str | None:
    """The family of a failure whose message matches none: by what was raised, and where."""
    if exception in {"SyntaxError", "TabError", "IndentationError"}:
        return "syntax" if failure.frames else None
    if exception.endswith("Warning"):
        return "warning" if failure.frames else None
    if failure.exit_signal:
        return "crash"
    return "frames" if exception else None


#: How much each family tells; a message that is of none tells where it was raised.
_TELLS = {
    "frames": 0.2,
    "crash": 0.3,
    "warning": 0.1,
    "stated": 0.5,
    "announced": 0.6,
    "voice": 0.75,
    "build": 0.4,
    "compiler": 0.7,
    "network": 0.4,
    "settings": 0.35,
    "permission": 0.5,
}


def _weight(family: str, failure: Any) -> float:
    """The weight of a clue: a wrapper that only repeats another exception's message weighs less than that one."""
    base = _TELLS.get(family, 1.0)
    return base - 0.3 if failure.exception is None and not failure.frames else base


def _of_lines(text: str, built: str | None) -> Iterator[Clue]:
    """The clues of single lines that are not part of a failure, the last of each family first."""
    rows = _rows_of_lines()
    lines = [line for line in (line[:MOST_LINE] for line in text.split("\n")) if _TELLING.search(line)]
    seen: Counter[str] = Counter()
    for line in reversed(lines[-MOST_LINES:]):
        left = [row for row in rows if seen[row[0]] < MOST_ALIKE]
        found = next(((family, match) for family, form in left if (match := _compiled(form).search(line))), None)
        if found:
            family, match = found
            weight = _TELLS.get(family, 1.0) - 0.1 * seen[family] - 0.3 * (family in _ANYWHERE | _QUOTED)
            weight += "importer" in match.groupdict() and match["importer"] is not None  # it knows both sides
            seen[family] += 1
            if match.groupdict().get("owner") in BUILT_IN:
                continue
            yield Clue(family=family, said=match.group().strip(), groups=_groups(match), built=built, weight=weight)


def _rows_of_lines() -> list[tuple[str, str]]:
    """The families that a line may be of, with their expressions; those that are quoted may follow a prompt."""
    rows = [(row[0], row[2]) for row in _IN_ORDER if _in_line(*row)]
    quoted = (row for row in _IN_ORDER if row[0] in _QUOTED)
    rows += [(family, _LEAD + re.sub(r"\$$", r"(?=\\)?$)", expression)) for family, _, expression in quoted]
    return rows


def _spoken(error_text: Any, built: str | None, voices: Mapping[str, str]) -> Iterator[Clue]:
    """The last words of each tool at the end of a text, with the failure that says them."""
    text, failures = error_text.text[-MOST_SPOKEN:], list(error_text.failures)
    for form, name in voices.items():
        for match in list(_compiled(form).finditer(text))[-1:]:
            line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            by = next((one for one in reversed(failures) if match.group() in one.message), None)
            groups, weight = {"distribution": name}, _TELLS["voice"]
            yield Clue(family="voice", said=line.strip()[:300], groups=groups, failure=by, built=built, weight=weight)


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value}


def _in_line(family: str, raises: str, expression: str) -> bool:
    """Whether a family may be in a line that is not part of a failure."""
    anywhere = family in _ANYWHERE or any(family == row[0] for row in LINES)
    return not raises and (anywhere or (family == "announced" and "removed" in expression))


_LOOSE = frozenset({"stated", "announced", "settings"})
#: All families, those whose expressions many messages meet at the end.
_IN_ORDER = tuple(sorted((*FAMILIES, *LINES), key=lambda row: row[0] in _LOOSE))
_expressions: dict[str, re.Pattern[str]] = {}


def _compiled(expression: str) -> re.Pattern[str]:
    found = _expressions.get(expression)
    if found is None:
        found = _expressions[expression] = re.compile(expression, re.MULTILINE)
    return found
