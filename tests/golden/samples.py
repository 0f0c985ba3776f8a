"""Reports that the golden files show, and the comparison with them (ENVDOCTOR_UPDATE_GOLDEN=1 writes them anew)."""

import os

from known_facts import facts_of

from envdoctor.model import Distribution, Evidence, Finding, Remedy, Report, Snapshot, UnknownFact
from envdoctor.renderers.redaction import Redactor

HERE = os.path.dirname(__file__)
PREFIX = "/home/ada/work/dreamer/.venv"
SITE = PREFIX + "/lib/python3.11/site-packages"


def installed(name, version):
    return Distribution(name=name, version=version, path=f"{SITE}/{name}-{version}.dist-info", location=SITE)


VERSIONS = {"cloudpickle": "1.6.0", "flask": "2.2.3", "gym": "0.19.0", "werkzeug": "3.0.1", "rich": "13.0.0"}
PACKAGES = {name: installed(name, version) for name, version in VERSIONS.items()}
ANSWERS = {
    ("env", "USE_TF"): "0",
    ("env", "HF_TOKEN"): "hf_" + "a1" * 17,
    ("env", "PIP_CONSTRAINT"): None,
    ("system", "glibc"): "2.36",
    ("system", "container"): False,
    ("module", "distutils"): {"kind": "missing", "origin": None},
    ("marker", "sys_platform"): "linux",
    ("requirements", "flask"): ["werkzeug>=2.2", "tool @ git+https://ada:pa55word@git.example.org/tool.git"],
    ("requires_python", "flask"): ">=3.7",
    ("tags", "flask"): ["py3-none-any"],
    ("installer", "flask"): "pip",
    ("installed", "leftover"): [(SITE + "/~umpy", "left behind by an interrupted install")],
}
SNAPSHOT = Snapshot(
    target={"kind": "interpreter", "path": PREFIX, "installer": "pip"},
    python={"version": "3.11.7", "implementation": "cpython", "executable": PREFIX + "/bin/python", "prefix": PREFIX},
    platform={"system": "linux", "machine": "x86_64"},
    start_method={"default": "fork"},
    packages=PACKAGES,
    duplicates=[Distribution(name="gym", version="0.21.0", path="/opt/extra/gym-0.21.0.dist-info")],
    source=PREFIX,
    facts=facts_of(ANSWERS, PACKAGES),
)
PICKLE = Finding(
    rule="cloudpickle-bytecode-py311",
    severity="error",
    impact="crash",
    title="cloudpickle before 2.1 cannot handle functions on Python 3.11 and later",
    why="Python 3.11 changed the layout of code objects, which cloudpickle takes apart and rebuilds.\n",
    packages=["cloudpickle"],
    facts=["python", "packages"],
    evidence=[
        Evidence(fact="python", value="3.11.7", source=PREFIX + "/bin/python"),
        Evidence(fact="packages.cloudpickle", value="1.6.0", source=SITE + "/cloudpickle-1.6.0.dist-info"),
    ],
    remedies=[
        Remedy(kind="upgrade", requirement="cloudpickle>=2.1", command="pip install 'cloudpickle>=2.1'"),
        Remedy(
            kind="set",
            file="dreamerv3/configs.yaml",
            key="run.driver_parallel",
            to=False,
            safety="workaround",
            effect="environments run one after the other in the training process, so collection is slower",
        ),
        Remedy(kind="downgrade", requirement="python<3.11", safety="manual"),
    ],
    references=["https://github.com/danijar/dreamerv3/issues/112"],
    proof="proven",
)
FLASK = Finding(
    rule="werkzeug-url-quote-removed",
    severity="error",
    impact="crash",
    title="werkzeug 3 removed werkzeug.urls.url_quote, which flask before 2.2.4 imports",
    why="werkzeug 3.0 removed the URL helpers that 2.3 had deprecated, so `import flask` itself fails.",
    packages=["werkzeug", "flask"],
    facts=["packages"],
    consumer="flask",
    evidence=[
        Evidence(fact="packages.flask", value="2.2.3", source=SITE + "/flask-2.2.3.dist-info"),
        Evidence(fact="packages.werkzeug", value="3.0.1", source=SITE + "/werkzeug-3.0.1.dist-info"),
    ],
    remedies=[
        Remedy(kind="upgrade", requirement="flask>=2.2.4", command="pip install 'flask>=2.2.4'"),
        Remedy(
            kind="pin",
            requirement="werkzeug<3",
            command="pip install 'werkzeug<3'",
            safety="workaround",
            effect="what werkzeug 3 repaired is not received",
        ),
    ],
    references=["https://github.com/pallets/flask/issues/5279"],
    proof="proven",
)
LONG_COMMAND = "PIP_CONSTRAINT=build.txt pip install --no-cache-dir --force-reinstall 'gym==0.19.0' 'another>=1.2,<2'"
GYM = Finding(
    rule="gym-extras-require",
    severity="warning",
    impact="install-failure",
    title="gym 0.21 and older cannot be built with setuptools 66 and later",
    why="Their setup.py states a requirement that setuptools refuses since 66.",
    packages=["gym"],
    facts=["packages", "env"],
    evidence=[
        Evidence(fact="packages.gym", value="0.19.0", source="requirements.txt, line 3"),
        Evidence(fact="env.PIP_CONSTRAINT", value="unset", source="the environment of the interpreter"),
    ],
    remedies=[
        Remedy(kind="pin", requirement="setuptools<66", at="build", command=LONG_COMMAND),
        Remedy(kind="change", text="move to gymnasium, in which step returns five values", safety="manual"),
        Remedy(kind="setenv", name="USE_TF", to="0"),
    ],
    references=["https://github.com/openai/gym/issues/3176", "https://github.com/openai/gym/pull/3189"],
)
UNKNOWN = [
    *(UnknownFact(rule=f"rule-{n}", fact="system.glibc", reason="the interpreter did not answer") for n in range(3)),
    UnknownFact(rule=None, fact="packages.huge", reason="METADATA is 1.0 GB long; at most 8 MB are read"),
]
CHECK = Report(
    snapshot=SNAPSHOT, findings=[GYM, PICKLE, FLASK], unknown=UNKNOWN, rules=400, known_packages=["gym", "flask", "jax"]
)
CLEAN = Report(snapshot=SNAPSHOT, findings=[], rules=1000)
UNDERSTOOD = {
    "exception": "builtins.TypeError",
    "message": "code() argument 13 must be str, not int",
    "frame": "cloudpickle",
    "versions": {"cloudpickle": "1.6.0"},
    "python": "3.11",
}
TRACE = ["IndexError: tuple index out of range", "a frame in cloudpickle"]
EXPLAIN = Report(
    snapshot=SNAPSHOT,
    findings=[
        PICKLE.replace(matched=TRACE, confirmed=True),
        FLASK.replace(matched=["ImportError: cannot import name 'url_quote'"], confirmed=None),
    ],
    ruled_out=[GYM.replace(matched=["error in gym setup command"], confirmed=False)],
    understood=UNDERSTOOD,
    rules=400,
)
UNEXPLAINED = Report(snapshot=SNAPSHOT, findings=[], understood=UNDERSTOOD, rules=400)
WANTED = {
    "env": ["USE_TF", "HF_TOKEN", "PIP_CONSTRAINT", "UNREADABLE"],
    "module": ["distutils"],
    "system": ["glibc", "container"],
    "marker": ["sys_platform"],
}


def redactor():
    return Redactor(home="/home/ada", user="ada", host="gpu01.example.org", known_env=WANTED["env"])


def same(name, text):
    """Compare with a golden file."""
    path = os.path.join(HERE, name)
    if os.environ.get("ENVDOCTOR_UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    with open(path, encoding="utf-8", newline="") as file:
        assert text == file.read()
