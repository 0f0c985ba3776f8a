"""What can be sent to a worker, by asking each Python: objects of the standard library and of well-known packages.

``python docs/pickling-kinds.py`` asks one interpreter, and prints JSON: the Python, the releases of the packages, and of
each call how its result travels, a letter for each way that refuses: ``p`` pickle, ``c`` cloudpickle, ``s`` to a process
while it is started (spawn), ``t`` with a task to a process that runs, ``d`` a deep copy, which stays here. With interpreters as arguments it asks all of
them and writes ``docs/pickling.json``, and into ``rules/vocabulary.yaml`` the words that follow from it. Runs on every
Python from 3.9 on.
"""

import contextlib
import copy
import importlib.metadata
import json
import multiprocessing
import multiprocessing.context
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from multiprocessing.reduction import ForkingPickler

#: Each line is a name as source writes it, and where it differs from ``name()`` the call that makes an object.
STANDARD = """
builtins.open.r | open(TEXT)
builtins.open.rb | open(TEXT, "rb")
builtins.open.w | open(os.devnull, "w")
builtins.open.wb | open(os.devnull, "wb")
pathlib.Path.open.r | pathlib.Path(TEXT).open()
pathlib.Path.open.rb | pathlib.Path(TEXT).open("rb")
pathlib.Path.open.w | pathlib.Path(os.devnull).open("w")
pathlib.Path.open.wb | pathlib.Path(os.devnull).open("wb")
pathlib.Path | pathlib.Path(TEXT)
pathlib.Path.iterdir | pathlib.Path(".").iterdir()
pathlib.Path.glob | pathlib.Path(".").glob("*")
pathlib.Path.rglob | pathlib.Path(".").rglob("*")
os.scandir | os.scandir(".")
os.walk | os.walk(".")
os.popen | os.popen("true")
os.stat | os.stat(".")
io.StringIO
io.BytesIO
io.TextIOWrapper | io.TextIOWrapper(io.BytesIO())
io.BufferedReader | io.BufferedReader(io.BytesIO())
io.BufferedWriter | io.BufferedWriter(io.BytesIO())
io.FileIO | io.FileIO(TEXT)
codecs.open | codecs.open(TEXT)
gzip.open | gzip.open(os.devnull, "wb")
gzip.GzipFile | gzip.GzipFile(os.devnull, "wb")
bz2.open | bz2.open(os.devnull, "wb")
bz2.BZ2File | bz2.BZ2File(os.devnull, "wb")
lzma.open | lzma.open(os.devnull, "wb")
lzma.LZMAFile | lzma.LZMAFile(os.devnull, "wb")
bz2.BZ2Compressor
lzma.LZMACompressor
zlib.compressobj
zlib.decompressobj
tarfile.open | tarfile.open(TAR, "w")
tarfile.TarFile | tarfile.TarFile(TAR, "w")
zipfile.ZipFile | zipfile.ZipFile(ZIP, "w")
tempfile.TemporaryFile
tempfile.NamedTemporaryFile
tempfile.SpooledTemporaryFile
tempfile.TemporaryDirectory
mmap.mmap | mmap.mmap(-1, 8)
builtins.memoryview | memoryview(b"a")
builtins.dict.keys | {}.keys()
builtins.dict.values | {}.values()
builtins.dict.items | {}.items()
sys.stdin | sys.stdin
sys.stdout | sys.stdout
sys.stderr | sys.stderr
fileinput.input | fileinput.input([TEXT])
csv.writer | csv.writer(io.StringIO())
csv.reader | csv.reader([])
csv.DictWriter | csv.DictWriter(io.StringIO(), ["a"])
csv.DictReader | csv.DictReader([])
configparser.ConfigParser
json.JSONEncoder
json.JSONDecoder
pickle.Pickler | pickle.Pickler(io.BytesIO())
pickle.Unpickler | pickle.Unpickler(io.BytesIO())
shelve.open | shelve.open(SHELF)
dbm.open | dbm.open(SHELF, "c")
dbm.dumb.open | dbm.dumb.open(SHELF, "c")
sqlite3.connect | sqlite3.connect(":memory:")
sqlite3.Connection | sqlite3.Connection(":memory:")
sqlite3.dbapi2.connect | sqlite3.dbapi2.connect(":memory:")
sqlite3.connect.cursor | sqlite3.connect(":memory:").cursor()
sqlite3.connect.execute | sqlite3.connect(":memory:").execute("select 1")
threading.Lock
threading.RLock
threading.Condition
threading.Event
threading.Semaphore
threading.BoundedSemaphore
threading.Barrier | threading.Barrier(1)
threading.Thread
threading.Timer | threading.Timer(1, print)
threading.local
threading.current_thread
_thread.allocate_lock
_thread.RLock
queue.Queue
queue.LifoQueue
queue.PriorityQueue
queue.SimpleQueue
collections.deque
concurrent.futures.ThreadPoolExecutor
concurrent.futures.ProcessPoolExecutor
concurrent.futures.Future
multiprocessing.Pool | multiprocessing.Pool(1)
multiprocessing.pool.ThreadPool | multiprocessing.pool.ThreadPool(1)
multiprocessing.Lock
multiprocessing.RLock
multiprocessing.Condition
multiprocessing.Event
multiprocessing.Semaphore
multiprocessing.BoundedSemaphore
multiprocessing.Barrier | multiprocessing.Barrier(1)
multiprocessing.Queue
multiprocessing.SimpleQueue
multiprocessing.JoinableQueue
multiprocessing.Value | multiprocessing.Value("i")
multiprocessing.Array | multiprocessing.Array("i", 1)
multiprocessing.RawValue | multiprocessing.RawValue("i")
multiprocessing.RawArray | multiprocessing.RawArray("i", 1)
multiprocessing.Pipe | multiprocessing.Pipe()[0]
multiprocessing.Process
multiprocessing.Manager
multiprocessing.Manager.dict | multiprocessing.Manager().dict()
multiprocessing.Manager.list | multiprocessing.Manager().list()
multiprocessing.Manager.Queue | multiprocessing.Manager().Queue()
multiprocessing.Manager.Lock | multiprocessing.Manager().Lock()
multiprocessing.get_context | multiprocessing.get_context("spawn")
subprocess.Popen | subprocess.Popen(["true"])
subprocess.run | subprocess.run(["true"])
socket.socket
socket.socketpair
socket.create_server | socket.create_server(("127.0.0.1", 0))
ssl.create_default_context
ssl.SSLContext | ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
select.poll
select.epoll
selectors.DefaultSelector
selectors.SelectSelector
http.client.HTTPConnection | http.client.HTTPConnection("localhost")
urllib.request.build_opener
urllib.request.Request | urllib.request.Request("http://localhost")
http.cookiejar.CookieJar
http.server.HTTPServer | http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
socketserver.TCPServer | socketserver.TCPServer(("127.0.0.1", 0), None)
xmlrpc.client.ServerProxy | xmlrpc.client.ServerProxy("http://localhost")
smtplib.SMTP
ftplib.FTP
asyncio.new_event_loop
asyncio.Lock
asyncio.Event
asyncio.Queue
contextvars.ContextVar | contextvars.ContextVar("a")
contextvars.copy_context
weakref.ref | weakref.ref(HOLDER)
weakref.proxy | weakref.proxy(HOLDER)
weakref.WeakValueDictionary
weakref.WeakKeyDictionary
weakref.WeakSet
weakref.finalize | weakref.finalize(HOLDER, print)
logging.getLogger
logging.StreamHandler
logging.FileHandler | logging.FileHandler(os.devnull)
logging.NullHandler
logging.Formatter
logging.LoggerAdapter | logging.LoggerAdapter(logging.getLogger(), {})
logging.handlers.RotatingFileHandler | logging.handlers.RotatingFileHandler(os.devnull)
logging.handlers.QueueHandler | logging.handlers.QueueHandler(queue.Queue())
logging.handlers.QueueListener | logging.handlers.QueueListener(queue.Queue())
logging.handlers.MemoryHandler | logging.handlers.MemoryHandler(1)
ctypes.pointer | ctypes.pointer(ctypes.c_int())
ctypes.POINTER | ctypes.POINTER(ctypes.c_int)()
ctypes.c_int
ctypes.c_void_p
ctypes.c_char_p
ctypes.CDLL | ctypes.CDLL(None)
ctypes.create_string_buffer | ctypes.create_string_buffer(1)
xml.etree.ElementTree.Element | xml.etree.ElementTree.Element("a")
xml.etree.ElementTree.SubElement | xml.etree.ElementTree.SubElement(xml.etree.ElementTree.Element("a"), "b")
xml.etree.ElementTree.fromstring | xml.etree.ElementTree.fromstring("<a/>")
xml.etree.ElementTree.parse | xml.etree.ElementTree.parse(io.StringIO("<a/>"))
xml.etree.ElementTree.iterparse | xml.etree.ElementTree.iterparse(io.StringIO("<a/>"))
xml.etree.ElementTree.XMLParser
xml.dom.minidom.parseString | xml.dom.minidom.parseString("<a/>")
xml.parsers.expat.ParserCreate
xml.sax.make_parser
html.parser.HTMLParser
re.compile | re.compile("a")
re.match | re.match("a", "a")
re.search | re.search("a", "a")
re.finditer | re.finditer("a", "a")
re.Scanner | re.Scanner([("a", None)])
random.Random
random.SystemRandom
hashlib.sha256
hashlib.md5
hashlib.new | hashlib.new("sha1")
hmac.new | hmac.new(b"a", b"b", "sha1")
decimal.Decimal
decimal.Context
fractions.Fraction
datetime.datetime.now | datetime.datetime.now()
zoneinfo.ZoneInfo | zoneinfo.ZoneInfo("UTC")
uuid.uuid4
itertools.count
itertools.cycle | itertools.cycle([1])
itertools.chain | itertools.chain([1])
itertools.islice | itertools.islice([1], 1)
itertools.product | itertools.product([1])
itertools.groupby | itertools.groupby([1])
itertools.tee | itertools.tee([1])
itertools.repeat | itertools.repeat(1)
functools.cmp_to_key | functools.cmp_to_key(min)(1)
operator.itemgetter | operator.itemgetter(0)
operator.attrgetter | operator.attrgetter("a")
operator.methodcaller | operator.methodcaller("a")
types.SimpleNamespace
types.ModuleType | types.ModuleType("unheard_of")
types.MappingProxyType | types.MappingProxyType({})
importlib.import_module | importlib.import_module("json")
inspect.currentframe
inspect.signature | inspect.signature(os.walk)
sys.exc_info
collections.OrderedDict
collections.Counter
collections.defaultdict | collections.defaultdict(list)
collections.ChainMap
argparse.ArgumentParser
argparse.Namespace
array.array | array.array("i")
struct.Struct | struct.Struct("i")
string.Template | string.Template("a")
traceback.TracebackException | traceback.TracebackException(ValueError, ValueError(), None)
unittest.TestCase | RUNNING()
unittest.mock.Mock
unittest.mock.MagicMock
sched.scheduler
signal.signal | signal.getsignal(signal.SIGINT)
secrets.SystemRandom
statistics.NormalDist
ipaddress.ip_address | ipaddress.ip_address("127.0.0.1")
email.message.EmailMessage
contextlib.ExitStack
contextlib.closing | contextlib.closing(io.StringIO())
contextlib.redirect_stdout | contextlib.redirect_stdout(io.StringIO())
cProfile.Profile
code.InteractiveConsole
dis.Bytecode | dis.Bytecode("1")
symtable.symtable | symtable.symtable("1", "", "exec")
unicodedata.ucd_3_2_0 | unicodedata.ucd_3_2_0
graphlib.TopologicalSorter
difflib.SequenceMatcher
textwrap.TextWrapper
locale.localeconv
platform.uname
generator | (one for one in ())
lambda | (lambda: 0)
local-function | LOCAL
"""
PACKAGES = """
zmq.Context
zmq.Context.instance | zmq.Context.instance()
zmq.Context.socket | zmq.Context().socket(zmq.REQ)
zmq.Poller
zmq.asyncio.Context
lxml.etree.Element | lxml.etree.Element("a")
lxml.etree.fromstring | lxml.etree.fromstring("<a/>")
lxml.etree.XML | lxml.etree.XML("<a/>")
lxml.etree.HTML | lxml.etree.HTML("<a/>")
lxml.etree.parse | lxml.etree.parse(io.StringIO("<a/>"))
lxml.etree.XMLParser
lxml.etree.XPath | lxml.etree.XPath("a")
lxml.etree.XSLT | lxml.etree.XSLT(lxml.etree.XML(STYLE))
lxml.html.fromstring | lxml.html.fromstring("<a/>")
lxml.objectify.fromstring | lxml.objectify.fromstring("<a/>")
h5py.File | h5py.File("a", "w", driver="core", backing_store=False)
h5py.File.create_group | h5py.File("a", "w", driver="core", backing_store=False).create_group("b")
grpc.insecure_channel | grpc.insecure_channel("localhost:1")
grpc.secure_channel | grpc.secure_channel("localhost:1", grpc.ssl_channel_credentials())
grpc.server | grpc.server(concurrent.futures.ThreadPoolExecutor(1))
redis.Redis
redis.StrictRedis
redis.from_url | redis.from_url("redis://localhost")
redis.ConnectionPool
requests.Session
requests.session
requests.Request
httpx.Client
httpx.AsyncClient
psutil.Process
sqlalchemy.create_engine | sqlalchemy.create_engine("sqlite://")
sqlalchemy.create_engine.connect | sqlalchemy.create_engine("sqlite://").connect()
sqlalchemy.MetaData
sqlalchemy.orm.sessionmaker
sqlalchemy.orm.Session
pymongo.MongoClient | pymongo.MongoClient(connect=False)
paramiko.SSHClient
pygame.Surface | pygame.Surface((1, 1))
pygame.time.Clock
pygame.display.set_mode | pygame.display.set_mode((1, 1))
pygame.font.SysFont | (pygame.font.init(), pygame.font.Font(None, 8))[1]
uvloop.new_event_loop
numpy.array | numpy.array([1])
numpy.random.default_rng
numpy.random.RandomState
numpy.memmap | numpy.memmap(MAPPED, shape=(1,), mode="w+")
numpy.nditer | numpy.nditer([1])
"""


class _Started:
    """Stands for the process that is being started: what it is handed over is numbered."""

    @staticmethod
    def duplicate_for_child(number):
        return number

    @staticmethod
    def DupFd(number):  # noqa: N802 - multiprocessing's name
        return number


def _spawning(thing):
    before = multiprocessing.context.get_spawning_popen()
    multiprocessing.context.set_spawning_popen(_Started)
    try:
        ForkingPickler.dumps(thing)
    finally:
        multiprocessing.context.set_spawning_popen(before)


def _by_value(thing):
    import cloudpickle

    cloudpickle.dumps(thing)


WAYS = {"p": pickle.dumps, "c": _by_value, "s": _spawning, "t": ForkingPickler.dumps, "d": copy.deepcopy}


def refused(thing):
    """The letters of the ways that refuse an object."""
    letters = ""
    for letter, way in WAYS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                way(thing)
        except Exception:  # noqa: BLE001 - each library has its own
            letters += letter
    return letters


def names_of(folder):
    """What the calls may use: modules where they are first needed, and files in a folder."""

    def local():
        """Have no name to be imported by."""

    class Holder:
        """Something to refer to."""

    text = os.path.join(folder, "text")
    pathlib.Path(text).write_text("a")
    names = {"TEXT": text, "LOCAL": local, "HOLDER": Holder, "STYLE": _STYLE, "RUNNING": running}
    names.update({name: os.path.join(folder, name.lower()) for name in ("TAR", "ZIP", "SHELF", "MAPPED")})
    return names


class Test(unittest.TestCase):
    """A test that keeps what it is while it runs: a test case holds its outcome, and that the runner's stream."""

    def test(self):
        Test.kept = copy.copy(self)


def running():
    """A test case as it is while a runner runs it."""
    unittest.TextTestRunner().run(Test("test"))
    return Test.kept


_STYLE = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/>'


def made(name, call, names):
    """The object that a call makes."""
    for part in {*_dotted(name), *_dotted(call)}:
        parts = part.split(".")
        for length in range(1, len(parts)):
            try:
                __import__(".".join(parts[:length]))
            except ImportError:
                break
            names[parts[0]] = sys.modules[parts[0]]
    return eval(call, dict(names))  # noqa: S307 - the lines above


def _dotted(text):
    return re.findall(r"[A-Za-z_]\w*(?:\.\w+)+", text)


def lines():
    """Each name with its call."""
    for line in (STANDARD + PACKAGES).strip().split("\n"):
        name, _, call = line.partition(" | ")
        if name:
            yield name, call or f"{name}()"


def ask():
    """The answers of this interpreter; what cannot be made here is left out."""
    folder = tempfile.mkdtemp()
    names = names_of(folder)
    multiprocessing.set_start_method("spawn")
    answers, kept = {}, []
    os.environ.update(SDL_VIDEODRIVER="dummy", PYGAME_HIDE_SUPPORT_PROMPT="1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in lines():
            try:
                kept.append(made(name, call, names))
            except Exception as error:  # noqa: BLE001
                sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
                continue
            answers[name] = refused(kept[-1])
    packages = {"zmq": "pyzmq", "grpc": "grpcio", "pygame": "pygame-ce"}
    releases = {}
    for package in sorted({packages.get(one, one) for one in (name.split(".")[0] for name in PACKAGES.split())}):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
            releases[package] = importlib.metadata.version(package)
    shutil.rmtree(folder, ignore_errors=True)
    return {"python": "{}.{}".format(*sys.version_info[:2]), "releases": releases, "refused": answers}


def asked_of(python):
    """The answers of another interpreter; what it started is ended with it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        words = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, "start_new_session": True}
        child = subprocess.Popen([python, __file__], **words)
        child.wait(timeout=300)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        out.seek(0)
        return json.loads(out.read())


def words(rows):
    """The words of the vocabulary that follow: what every Python refuses in which way."""
    refusing = {
        letter: {name for name, row in rows.items() if all(letter in one for one in row.values() if one is not None)}
        for letter in WAYS
    }
    shared = (refusing["t"] & refusing["p"]) - refusing["s"]
    found = {
        "unpicklable": refusing["c"] - shared,
        "shared-by-inheritance": shared,
        "bound-to-process": refusing["s"] & refusing["p"],
        "uncopyable": refusing["d"],
    }
    for names in found.values():
        names -= {"lambda", "local-function"}
        opened = {name.rpartition(".")[0] for name in rows if name.rpartition(".")[2] in MODES}
        names |= {one for one in opened if all(f"{one}.{mode}" in names for mode in MODES)}
    return {word: sorted(names) for word, names in found.items()}


#: How a file is opened, which source says in a call of ``open``.
MODES = ("r", "rb", "w", "wb")
_BEGIN, _END = "  # begin of what docs/pickling-kinds.py has measured\n", "  # end of what was measured\n"


def main(pythons):
    """Ask one interpreter, or several and write."""
    if not pythons:
        sys.stdout.write(json.dumps(ask()))
        sys.stdout.flush()
        os._exit(0)  # some of what was made waits for ever
    told = [asked_of(python) for python in pythons]
    rows = {name: {one["python"]: one["refused"].get(name) for one in told} for name, _ in lines()}
    rows = {name: row for name, row in rows.items() if any(one is not None for one in row.values())}
    body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    releases = json.dumps({one["python"]: one["releases"] for one in told}, indent=1)
    here = pathlib.Path(__file__).parent
    (here / "pickling.json").write_text(f'{{"releases": {releases},\n"refused": {{\n{body}\n}}}}\n', encoding="utf-8")
    write_words(here.parent / "rules" / "vocabulary.yaml", words(rows))


def write_words(path, found):
    """Put the words between their marks."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    said = "".join(f"  {word}:\n" + "".join(f"    - {name}\n" for name in names) for word, names in found.items())
    path.write_text(before + _BEGIN + said + _END + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
