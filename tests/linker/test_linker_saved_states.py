"""What saved objects lack that the installed release of their class reads."""

import pickle
import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.artifacts import of_files
from envdoctor.probes.distributions import scan

OLD = "class Base:\n    pass\nclass Model(Base):\n    def __init__(self):\n        self.kept = 1\n"
SAVE = "import pickle, b\nobject = b.Model()\nif hasattr(object, 'fit'): object.fit()\npickle.dump(object, open('m.pkl', 'wb'), {protocol})"


def new(body="", start="self.kept = 1\n        self.gained = 2", use="return self.gained"):
    """A later release, in which ``gained`` is set and read."""
    text = "class Base:\n    pass\nclass Model(Base):\n    def __init__(self):\n        "
    return f"{text}{start}\n    def predict(self):\n        {use}\n{body}"


def lacking(tmp_path, before, after, protocol=2):
    """What an object lacks that one release saved and the other reads; and whether its use fails there."""
    sites = [env.write(tmp_path / name, b={"b.py": text}) for name, text in (("old", before), ("new", after))]
    run(sites[0], SAVE.format(protocol=protocol), tmp_path)
    path = str(tmp_path / "m.pkl")
    beside = Beside(None, of_files([path])["found"])
    target = Target(sys.version_info[:2], sys.platform)
    missing = link(scan(sites[1:]).packages.values(), target, lambda _doing: None, beside, {"dotted": {}}).missing
    used = run(sites[1], "import pickle\npickle.load(open('m.pkl', 'rb')).predict()", tmp_path, fails=True)
    return [one.asked for one in missing if one.kind == "state"], "AttributeError" in used


def run(site, code, folder, *, fails=False):
    """Run code beside a site directory; its error text."""
    done = subprocess.run([sys.executable, "-c", f"import sys\nsys.path.insert(0, {site!r})\n{code}"], cwd=folder,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert fails or done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_an_attribute_that_a_release_gained_is_missing_in_what_an_older_one_saved(tmp_path, protocol):
    assert lacking(tmp_path, OLD, new(), protocol) == (["b.Model.gained"], True)


FAILING = {
    "of a base": new().replace("    pass\n", "    def __init__(self):\n        self.gained = 2\n", 1).replace(
        "self.kept = 1\n        self.gained = 2", "super().__init__()"
    ),
    "on both ways": new(start="if __name__:\n            self.gained = 1\n        else:\n            self.gained = 2"),
    "read by what is called": new(body="    def _helped(self):\n        return self.gained\n", use="return self._helped()"),
    "beside a __setstate__ that takes all": new(body="    def __setstate__(self, state):\n        self.__dict__.update(state)\n"),
    "of an abstract class": "import abc\n" + new().replace("class Base:", "class Base(metaclass=abc.ABCMeta):"),
}  # fmt: skip


@pytest.mark.parametrize("after", FAILING.values(), ids=FAILING)
def test_wherever_it_is_set_and_read(tmp_path, after):
    assert lacking(tmp_path, OLD, after) == (["b.Model.gained"], True)


WORKING = {
    "a default of the class": new(body="    gained = 3\n"),
    "a property": new(body="    @property\n    def gained(self): return 1\n    @gained.setter\n    def gained(self, x): pass\n"),
    "a __getattr__": new(body="    def __getattr__(self, name):\n        return 1\n"),
    "a __setstate__": new(body="    def __setstate__(self, state):\n        self.__dict__.update(state, gained=1)\n"),
    "a __setstate__ that makes it anew": new(body="    def __setstate__(self, state):\n        self.__init__()\n"),
    "asked for first": new(use="return self.gained if hasattr(self, 'gained') else 0"),
    "caught": new(use="try:\n            return self.gained\n        except AttributeError:\n            return 0"),
    "set before": new(use="self.gained = 1\n        return self.gained"),
    "read by what makes it anew alone": new(use="return 0", body="    def fit(self):\n        self.kept = self.gained\n"),
    "set on one way": new(start="if not __name__:\n            self.gained = 1", use="return 0"),
    "read by nobody": new(use="return 0"),
}  # fmt: skip


@pytest.mark.parametrize("after", WORKING.values(), ids=WORKING)
def test_nothing_is_said_where_its_use_works(tmp_path, after):
    assert lacking(tmp_path, OLD, after) == ([], False)


FIT = "    def fit(self):\n        {0}self.fitted_ = 1\n    def predict(self):\n        return self.fitted_\n"


def test_what_a_method_sets_before_what_the_object_has(tmp_path):
    before, after = OLD + FIT.format(""), OLD + FIT.format("self.gained_ = 1\n        ")
    assert lacking(tmp_path, before, after.replace("return self.fitted_", "return self.gained_")) == (
        ["b.Model.gained_"], True,
    )  # fmt: skip


def test_a_method_that_did_not_run_has_set_nothing(tmp_path):
    after = OLD + FIT.format("self.gained_ = 1\n        ").replace("return self.fitted_", "return self.gained_")
    assert lacking(tmp_path, OLD, after)[0] == []


def test_the_line_is_of_the_module_that_reads(tmp_path):
    base = "class Base:\n    def predict(self):\n        return self.gained\n"
    model = "from base import Base\nclass Model(Base):\n    def __init__(self):\n        self.gained = 2\n"
    saved = str(tmp_path / "m.pkl")
    old = env.write(tmp_path / "old", b={"b.py": "class Model: pass\n"})
    run(old, "import pickle, b\nmade = b.Model()\nmade.kept = 1\npickle.dump(made, open('m.pkl', 'wb'))", tmp_path)
    site = env.write(tmp_path / "new", b={"b.py": model, "base.py": base})
    beside = Beside(None, of_files([saved])["found"])
    target = Target(sys.version_info[:2], sys.platform)
    (one,) = link(scan([site]).packages.values(), target, lambda _doing: None, beside, {"dotted": {}}).missing
    assert (one.asked, one.detail) == ("b.Model.gained", "line 3 of base")
