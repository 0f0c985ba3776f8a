"""Messages as Python 3.6 to 3.14, installers, compilers and loaders word them -> what they say."""

import pytest

from envdoctor.engine.build_logs import building, plugins
from envdoctor.engine.families import clues
from envdoctor.probes.error_text import read

MESSAGES = {
    "ModuleNotFoundError: Left 4.x can only be used with Right 1.x; you have Right 2.2.2": ("unmet", {"distribution": "Right", "version": "2.2.2"}),
    "You have an incompatible version of 'right' installed (11.0.0)": ("unmet", {"distribution": "right"}),
    "RuntimeError: Unrecognized new version of right (9.8.3). Expected < 9.8.0.": ("unmet", {"distribution": "right"}),
    "LeftWarning: right (1.26.9) or far (3.0.4) doesn't match a supported version!": ("unmet", {"distribution": "right", "version": "1.26.9"}),
    "ERROR: Could not build wheels for left, which is required": ("build", {"distribution": "left"}),
    "pg_config is required to build left from source.": ("build", {"distribution": "left"}),
    "  - package left-0.22.1-py36h22eb022_0 requires python >=3.6,<3.7.0a0, but none of the providers can be installed":
        ("requires-python", {"distribution": "left", "python": ">=3.6,<3.7.0a0"}),
    "left: error: unrecognized arguments: --fast": ("voice", {"distribution": "left"}),
    "exec user process caused: exec format error": ("architecture", {}),
    "WARNING: the ssl module in Python is not available.": ("part", {"said": "the ssl module in Python is not available"}),
    "ValueError: Unable to configure handler 'file'": ("settings", {}),
    ".leftrc.toml:1: invalid value": ("settings", {}),
    "ImportError: cannot import name 'pad'": ("missing-name", {"name": "pad"}),
    "ImportError: cannot import name 'pad' from 'left.core' (unknown location)":
        ("missing-name", {"name": "pad", "module": "left.core", "path": "unknown location"}),
    "AttributeError: module 'left' has no attribute 'pad'. Did you mean: 'pod'?": ("missing-name", {"name": "pad", "module": "left"}),
    "AttributeError: 'Frame' object has no attribute 'append'": ("missing-attribute", {"owner": "Frame", "name": "append"}),
    "AttributeError: type object 'Frame' has no attribute 'append'": ("missing-attribute", {"owner": "Frame", "name": "append"}),
    "AttributeError: 'super' object has no attribute 'tags'": ("super", {"name": "tags"}),
    "AttributeError: property 'pad' of 'Frame' object has no setter": ("read-only", {"owner": "Frame", "name": "pad"}),
    "TypeError: Cannot create a consistent method resolution\norder (MRO) for bases Generic, Frame, Row": ("bases", {"owner": "Frame"}),
    "ModuleNotFoundError: No module named 'left.core'; 'left' is not a package": ("missing-module", {"module": "left.core"}),
    "ImportError: No module named left.core": ("missing-module", {"module": "left.core"}),
    "TypeError: check() got an unexpected keyword argument 'force'": ("signature", {"function": "check", "name": "force"}),
    "TypeError: Frame.check() got an unexpected keyword argument 'force'. Did you mean 'forced'?":
        ("signature", {"function": "Frame.check", "name": "force"}),
    "TypeError: __init__() takes 2 positional arguments but 3 were given": ("signature", {"function": "__init__"}),
    "TypeError: Frame.make() missing 1 required positional argument: 'ctx'": ("signature", {"function": "Frame.make", "name": "ctx"}),
    "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header": ("abi", {"module": "numpy"}),
    "RuntimeError: module compiled against ABI version 0x1000009 but this version of numpy is 0x2000000": ("abi", {"distribution": "numpy"}),
    "AttributeError:` module 'left' has no attribute 'pad'": ("missing-name", {"name": "pad", "module": "left"}),
    "RuntimeError: module was compiled against Left C-API version 0x10 (Left 1.23) but the running Left has C-API version 0xf":
        ("abi", {"distribution": "Left"}),
    "OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory": ("device", {}),
    "error: Distribution `left==2.15.0 @ registry+https://example.org/simple` can't be installed because it doesn't have a source distribution or wheel for the current platform":
        ("no-wheel", {"distribution": "left", "version": "2.15.0"}),
    "hint: `left` (v2.15.0) only has wheels with the following Python ABI tags: `cp39`": ("no-wheel", {"distribution": "left"}),
    "hint: `left` was found but wheels (v1.13.0) with a matching Python ABI tag (e.g., `cp312`) not found": ("no-wheel", {"distribution": "left"}),
    "ImportError: /x/site-packages/left/_c.so: undefined symbol: _ZN4left3padEv":
        ("symbol", {"path": "/x/site-packages/left/_c.so", "symbol": "_ZN4left3padEv"}),
    "ImportError: dlopen(/x/left.so, 0x0002): symbol not found in flat namespace '_pad'": ("symbol", {"path": "/x/left.so", "symbol": "_pad"}),
    "ImportError: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /x/left.so)": ("libc", {"symbol": "GLIBC_2.34", "path": "/x/left.so"}),
    "ImportError: libGL.so.1: cannot open shared object file: No such file or directory": ("library", {"library": "libGL.so.1"}),
    "ImportError: DLL load failed while importing _core: The specified module could not be found.": ("library", {"module": "_core"}),
    "OSError: cannot load library 'gobject-2.0-0': error 0x7e": ("library", {"library": "gobject-2.0-0"}),
    'OSError: no library called "cairo-2" was found': ("library", {"library": "cairo-2"}),
    "OSError: PortAudio library not found": ("library", {"library": "PortAudio"}),
    'ImportError: Library "GLU" not found.': ("library", {"named": "GLU"}),
    "ImportError: failed to find libmagic.  Check your installation": ("library", {"library": "libmagic"}),
    "ImportError: Unable to find zbar shared library": ("library", {"library": "zbar"}),
    "ImportError: The 'enchant' C library was not found and maybe needs to be installed.": ("library", {"library": "enchant"}),
    "graphviz.backend.execute.ExecutableNotFound: failed to execute PosixPath('dot'), make sure the Graphviz executables are on your systems' PATH":
        ("program", {"program": "dot"}),
    "TesseractNotFoundError: tesseract is not installed or it's not in your PATH. See README file": ("program", {"named": "tesseract"}),
    "WebDriverException: Message: 'chromedriver' executable needs to be in PATH.": ("program", {"program": "chromedriver"}),
    "PDFInfoNotInstalledError: Unable to get page count. Is poppler installed and in PATH?": ("program", {"named": "poppler"}),
    "FileNotFoundError: [Errno 2] No such file or directory: 'ffprobe'": ("program", {"program": "ffprobe"}),
    "OSError: No wkhtmltopdf executable found: \"b''\"": ("program", {"program": "wkhtmltopdf"}),
    "ImportError: Bad git executable.": ("program", {"program": "git"}),
    "JavaNotFoundError: `java` command is not found from this Python process.": ("program", {"program": "java"}),
    "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding":
        ("python-home", {"said": "failed to get the Python codec of the filesystem encoding"}),
    "The virtual environment was not created successfully because ensurepip is not available.":
        ("part", {"said": "ensurepip is not available"}),
    "ImportError: attempted relative import with no known parent package": ("script", {}),
    "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed": ("certificates", {}),
    "OSError: Could not find a suitable TLS CA certificate bundle, invalid path: /etc/ssl/x.crt": ("certificates", {}),
    "AssertionError: daemonic processes are not allowed to have children": ("daemonic", {}),
    "Illegal instruction (core dumped)": ("processor", {}),
    "zsh: illegal hardware instruction  python train.py": ("processor", {}),
    "SyntaxError: future feature annotations is not defined": ("newer-python", {}),
    "OSError: [E050] Can't find model 'en_core_web_sm'. It doesn't seem to be a Python package": ("data", {"name": "en_core_web_sm"}),
    "playwright._impl._errors.Error: BrowserType.launch: Executable doesn't exist at /root/.cache/chrome":
        ("program", {"program": "/root/.cache/chrome"}),
    "MemoryError": ("resources", {}),
    "RuntimeError: can't start new thread": ("resources", {}),
    'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\torch\\lib\\fbgemm.dll" or one of its dependencies.':
        ("library", {"path": "C:\\torch\\lib\\fbgemm.dll"}),
    "error: externally-managed-environment": ("managed", {"said": "externally-managed-environment"}),
    "PermissionError: [Errno 13] Permission denied: '/usr/lib/python3/dist-packages/six.py'":
        ("permission", {"path": "/usr/lib/python3/dist-packages/six.py"}),
    "bash: /srv/env/bin/pip: /srv/old/env/bin/python3: bad interpreter: No such file or directory":
        ("moved-environment", {"path": "/srv/old/env/bin/python3"}),
    "/bin/sh: 1: gcc: not found": ("program", {"program": "gcc"}),
    "zsh: command not found: pip": ("program", {"program": "pip"}),
    "build.sh: line 3: mpicc: command not found": ("program", {"program": "mpicc"}),
    "OSError: CUDA_HOME environment variable is not set. Please set it": ("compiler", {"said": "CUDA_HOME environment variable is not set"}),
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/":
        ("network", {}),
    "re.error: global flags not at the start of the expression at position 4": ("descriptor", {}),
    "ValueError: invalid mode: 'rU'": ("descriptor", {}),
    "TypeError: Population must be a sequence.  For dicts or sets, use sorted(d).": ("descriptor", {}),
    "TypeError: cannot pickle '_thread.lock' object": ("pickle", {"object": "'_thread.lock'"}),
    "TypeError: can't pickle _thread.RLock objects": ("pickle", {"object": "_thread.RLock"}),
    "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'": ("pickle", {"object": "local object 'main.<locals>.<lambda>'"}),
    "AttributeError: Can't get attribute 'Net' on <module '__main__' from 'train.py'>": ("saved", {"name": "Net", "module": "__main__"}),
    "pkg_resources.VersionConflict: (left 2.0 (/x/site-packages), Requirement.parse('left<2'))":
        ("unmet", {"distribution": "left", "version": "2.0", "requirement": "left<2"}),
    "pkg_resources.ContextualVersionConflict: (left 2.0 (/x), Requirement.parse('left<2'), {'right'})":
        ("unmet", {"distribution": "left", "version": "2.0", "requirement": "left<2", "consumer": "right"}),
    "pkg_resources.DistributionNotFound: The 'left>=1' distribution was not found and is required by right":
        ("unmet", {"requirement": "left>=1", "consumer": "right"}),
    "ImportError: left>=1.0,<2 is required for a normal functioning of this module, but found left==2.1.":
        ("unmet", {"requirement": "left>=1.0,<2", "distribution": "left", "version": "2.1"}),
    "ERROR: right 1.3 requires left<2, but you have left 2.0 which is incompatible.":
        ("unmet", {"consumer": "right", "requirement": "left<2", "distribution": "left", "version": "2.0"}),
    "FileNotFoundError: [Errno 2] No such file or directory: '/x/site-packages/left/data/pad.json'":
        ("missing-file", {"path": "/x/site-packages/left/data/pad.json", "name": "data/pad.json"}),
    "ERROR: No matching distribution found for left==9": ("no-wheel", {"requirement": "left==9"}),
    "ERROR: left_pad-1.0-cp38-cp38-win_amd64.whl is not a supported wheel on this platform.": ("no-wheel", {"distribution": "left_pad"}),
    "ERROR: Package 'left' requires a different Python: 3.12.1 not in '<3.12,>=3.8'":
        ("requires-python", {"distribution": "left", "version": "3.12.1", "python": "<3.12,>=3.8"}),
    "error in left setup command: use_2to3 is invalid.": ("setup", {"distribution": "left", "said": "use_2to3 is invalid."}),
    "left/_c.c:12:10: fatal error: longintrepr.h: No such file or directory": ("compile", {"header": "longintrepr.h"}),
    "RuntimeError: Cannot re-initialize CUDA in forked subprocess. Use the 'spawn' start method": ("start-method", {}),
    "TypeError: 'type' object is not subscriptable": ("newer-python", {}),
    "AttributeError: 'dict' object has no attribute 'iteritems'": ("python2", {}),
    "ImportError: cannot import name 'a' from partially initialized module 'left' (most likely due to a circular import) (/home/me/left.py)":
        ("circular", {"name": "a", "module": "left", "path": "/home/me/left.py"}),
    "AttributeError: module 'random' has no attribute 'x' (consider renaming '/home/me/random.py' since it has the same name as ...)":
        ("shadowed", {"module": "random", "name": "x", "path": "/home/me/random.py"}),
    "ImportError: Right requires version '2.0.1' or newer of 'left' (version '1.2.0' currently installed).":
        ("unmet", {"consumer": "Right", "version": "2.0.1", "distribution": "left"}),
    "OSError: [Errno 24] Too many open files": ("resources", {}),
}  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES)
def test_the_family_of_a_message_and_what_it_names(message):
    family, groups = MESSAGES[message]

    first = clues(read(message))[0]

    assert (first.family, dict(first.groups)) == (family, groups)


@pytest.mark.parametrize(
    "message",
    [
        "AttributeError: 'NoneType' object has no attribute 'shape'",
        "AttributeError: 'list' object has no attribute 'items'",
        "KeyError: 'left'",
    ],
)
def test_what_every_program_can_say_is_of_no_family(message):
    assert {clue.family for clue in clues(read(message))} <= {"frames"}


def test_the_failure_that_ended_it_counts_more_than_what_came_before():
    text = (
        "ImportError: cannot import name 'a' from 'left'\n\nlater\nImportError: cannot import name 'b' from 'right'\n"
    )

    assert [clue.groups["name"] for clue in clues(read(text))] == ["b", "a"]


def test_a_wrapper_does_not_hide_the_error_that_it_wraps():
    text = """\
Traceback (most recent call last):
  File "/x/site-packages/left/a.py", line 1, in <module>
    import cgi
ModuleNotFoundError: No module named 'cgi'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/x/site-packages/right/b.py", line 2, in load
    raise LoadError
right.errors.LoadError: the plugin could not be loaded
"""

    assert clues(read(text))[0].groups == {"module": "cgi"}


def test_each_side_of_a_conflict_that_a_resolver_reports_is_a_clue():
    log = "The conflict is caused by:\n    right 1.0 depends on left<2\n    other 2.0 depends on left>=2\n"

    found = [dict(clue.groups) for clue in clues(read(log)) if clue.family == "unmet"]

    assert found == [{"consumer": "other", "requirement": "left>=2"}, {"consumer": "right", "requirement": "left<2"}]


LOGS = {
    "creating '/tmp/pip-modern-metadata-a6ff/left_pad-3.23.0.dist-info'\nerror: metadata-generation-failed": "left_pad",
    "Collecting left-pad==1.0\n  Downloading left-pad-1.0.tar.gz (3 kB)\n  error: subprocess-exited-with-error\n": "left-pad",
    "  ERROR: Failed building wheel for left-pad\n": "left-pad",
    "  x Failed to build `left-pad==1.0`\n": "left-pad",
    '  File "/tmp/pip-install-a1b2/left-pad_0123456789abcdef0123456789abcdef/setup.py", line 3\nerror: egg_info\n': "left-pad",
    "Collecting left-pad\nSuccessfully installed left-pad-1.0\nKeyError: 1\n": None,
}


@pytest.mark.parametrize("log", LOGS)
def test_what_was_being_built_is_named_only_where_something_was_built(log):
    assert building(log) == LOGS[log]


@pytest.mark.trials
@pytest.mark.parametrize("line", ["a." * 250, "requires a" * 50, "Failed to build " + "a-" * 240, "'" * 499])
def test_hostile_lines_take_bounded_time(line):
    assert len(clues(read(f"ImportError: cannot import name {line}\n" + f"{line} requires \n" * 5_000))) < 30


def frames_with(code, said):
    return f'Traceback (most recent call last):\n  File "/x/run.py", line 1, in <module>\n    {code}\n{said}\n'


@pytest.mark.parametrize(
    ("said", "code", "family"),
    [
        ("UnicodeEncodeError: 'latin-1' codec can't encode character '\\u017c'", "log.write(text)", "locale"),
        ("UnicodeDecodeError: 'charmap' codec can't decode byte 0x9d in position 3", "text = file.read()", "locale"),
        ("UnicodeEncodeError: 'latin-1' codec can't encode character '\\u017c'", "body.encode('latin-1')", "frames"),
        ("UnicodeDecodeError: 'ascii' codec can't decode byte 0xc2", "open(path, encoding='ascii').read()", "frames"),
        ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc2", "text = file.read()", "frames"),
    ],
)
def test_an_encoding_is_of_the_machine_unless_the_statement_names_it(said, code, family):
    assert clues(read(frames_with(code, said)))[0].family == family


@pytest.mark.parametrize(
    ("words", "importer"),
    [
        ('Flake8 failed to load plugin "left-plug" due to', "left-plug"),
        ("Failed to import the extension 'left_plug':", "left_plug"),
        ('Failed to load settings "left-plug":', None),
    ],
)
def test_a_plugin_that_could_not_be_loaded_is_the_one_that_asked(words, importer):
    (clue, *_) = clues(read(f"x.PluginError: {words} cannot import name 'pad' from 'left.core' (/x/left/core.py)\n"))
    assert (clue.family, clue.groups.get("importer")) == ("missing-name", importer)


def test_the_head_of_a_test_run_lists_plugins_by_what_follows_their_first_word():
    text = "rootdir: /x\nplugins: inline-1.0.5, django-queries-1.1.0, xdist-2.1.0rc1\ncollected 1 item\n"
    assert plugins(text) == {
        "inline": "pytest-inline",
        "django_queries": "pytest-django-queries",
        "xdist": "pytest-xdist",
    }
    assert plugins("plugins: none of them\nOur plugins: left-1.0\n") == {}


def test_a_file_that_is_not_there_is_a_program_only_where_one_is_started():
    opened = 'Traceback (most recent call last):\n  File "/home/user/app.py", line 3, in <module>\n    open("data")\n'
    started = (
        opened + '  File "/usr/lib/python3.12/subprocess.py", line 1024, in __init__\n    self._execute_child(args)\n'
    )
    error = "FileNotFoundError: [Errno 2] No such file or directory: 'data'\n"

    assert [clues(read(text + error))[0].family for text in (opened, started)] == ["frames", "program"]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: The script tqdm is installed in '/root/.local/bin' which is not on PATH.",
        "OSError: The directory '/x' is not on PATH",
        "Consider adding this directory to PATH or, if you prefer to suppress this warning, use --no-warn-script-location.",
    ],
)
def test_what_an_installer_says_of_its_own_scripts_is_no_missing_program(line):
    assert [one for one in clues(read(line)) if one.family == "program"] == []
