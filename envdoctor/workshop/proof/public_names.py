"""A program for the Python of an environment: what a distribution offers there, or lacks of what another release had.

It imports every public module of the distribution that it is given the name of, and writes JSON beside itself:
``had.json`` with everything that is public, or, where that is there already, ``gone.json`` with what of it went.
Both have ``asked``: of each dotted name in ``asked.json`` whether it is there, or ``null`` where that is not known.

Nothing of envdoctor is imported, and no syntax is used that Python 3.6 lacks. The modules of the distribution may do
anything when they are imported: exit, warn, or start threads.
"""

import csv
import dis
import glob
import importlib
import inspect
import json
import os
import re
import sys
import warnings
from types import FunctionType, ModuleType

ASKED, HAD, GONE = "asked.json", "had.json", "gone.json"
#: Parts of a module's path that hold no names for others.
ASIDE = {"tests", "test", "testing", "vendor", "vendored", "benchmarks", "docs", "conftest", "setup", "examples"}
#: Names and types of values that modules have for themselves.
NO_NAMES = {"TYPE_CHECKING", "annotations"}
OWN_TYPES = ("typing", "logging", "__future__", "typing_extensions")


def modules_of(distribution):
    """The public modules that a distribution installs, by its record."""
    for info in (found for place in sys.path for found in glob.glob(os.path.join(place, "*.dist-info"))):
        if normalised(os.path.basename(info).partition("-")[0]) == normalised(distribution):
            with open(os.path.join(info, "RECORD"), encoding="utf-8") as record:
                return sorted(set(filter(None, (module_of(row[0]) for row in csv.reader(record) if row))))
    return sys.exit(distribution + " is not installed")


def normalised(name):
    """The name of a distribution as PEP 503 normalises it."""
    return re.sub("[-_.]+", "-", name).lower()


def module_of(path):
    """The dotted name of the public module that a file is, or nothing."""
    parts = path.split("/")
    stem = parts[-1].partition(".")[0]
    if not path.endswith((".py", ".so", ".pyd")) or parts[0].endswith((".dist-info", ".data")):
        return ""
    parts = parts[:-1] + ([] if stem == "__init__" else [stem])
    aside = any(one.startswith("_") or one in ASIDE or not one.isidentifier() for one in parts)
    return "" if aside else ".".join(parts)


def imported(path):
    """A module, or what importing it raised."""
    try:
        return importlib.import_module(path)
    except BaseException as error:
        return error


def resolved(path):
    """Whether a dotted name is a module or something in one.

    ``None`` where it would be an attribute of an instance, or of a module that cannot be imported.
    """
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        found = imported(".".join(parts[:end]))
        if not isinstance(found, (ModuleType, ModuleNotFoundError)):
            return None
        if isinstance(found, ModuleType):
            for name in parts[end:]:
                try:
                    found = getattr(found, name)
                except Exception:
                    return False if isinstance(found, ModuleType) else None
            return True
    return False


class Reader:
    """Reads what the modules of a distribution offer; ``roots`` are its packages."""

    def __init__(self, paths):
        self.roots = {path.partition(".")[0] for path in paths}

    def is_own(self, value):
        """Whether a class or function was made in one of the packages."""
        return str(attribute(value, "__module__")).partition(".")[0] in self.roots

    def names(self, module):
        """The public names of a module, each with the path where it was made if it is a class or function."""
        listed = [one for one in getattr(module, "__all__", ()) if isinstance(one, str)]
        found = {}
        for name in sorted({*dir(module), *listed} - NO_NAMES):
            try:
                value = getattr(module, name)
                if not name.startswith("_") and (name in listed or self.is_for_users(module, value, bool(listed))):
                    found[name] = self.home(value)
            except Exception:  # also of an object that is only made when something of it is asked for
                continue
        return found

    def is_for_users(self, module, value, is_listed):
        """Whether a name that ``__all__`` does not have is a module's own; a package has those of its parts, too."""
        is_package = hasattr(module, "__path__")
        if isinstance(value, ModuleType):
            return value.__name__.startswith(module.__name__ + ".")
        if not callable(value):
            return type(value).__module__ not in OWN_TYPES and (is_package or not is_listed)
        home = attribute(value, "__module__")
        if not isinstance(home, str):
            return not is_listed
        return home == module.__name__ or (is_package and self.is_own(value))

    def home(self, value):
        """The path under which a class or function was made; ``None`` for anything else."""
        if not isinstance(value, (type, FunctionType)) or not self.is_own(value):
            return None
        path = value.__module__ + "." + value.__qualname__
        return None if "<" in path else path

    def members(self, cls):
        """The public attributes of a class and of its instances, and whether there may be more."""
        names = set(dir(cls))
        is_open = any(hasattr(one, "__getattr__") for one in type(cls).__mro__)
        for base in cls.__mro__:
            if self.is_own(base):
                is_open = is_open or not {"__getattr__", "__getattribute__"}.isdisjoint(vars(base))
                names.update(getattr(base, "__annotations__", ()))
                for one in list(vars(base).values()):
                    names.update(assigned(one))
            else:
                is_open = is_open or hasattr(base, "__getattr__")
        return {name for name in names if not name.startswith("_")}, is_open

    def calls(self, path, value):
        """What can be called of a function or a class, by its path: itself, and its methods."""
        yield path, value
        for name in dir(value) if isinstance(value, type) else ():
            method = attribute(value, name)
            if callable(method) and not name.startswith("_") and not isinstance(method, type) and self.is_own(method):
                yield path + "." + name, method


def attribute(value, name):
    """An attribute of anything; ``None`` where asking for it raises, as of an object that is made when it is asked."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def assigned(value):
    """The names of the attributes that a method or the getter of a property assigns."""
    function = getattr(value, "fget", None) or getattr(value, "__func__", None) or value
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return [one.argval for one in dis.get_instructions(code) if one.opname == "STORE_ATTR"] if code else []


def keywords(value):
    """The public keywords that a call takes, and whether it takes any; ``None`` where that is not known."""
    try:
        found = inspect.signature(value, follow_wrapped=False).parameters.values()
    except Exception:
        return None
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [one.name for one in found if one.kind in named and one.name not in ("self", "cls")]
    is_open = any(one.kind == one.VAR_KEYWORD for one in found)
    return [name for name in names if not name.startswith("_")], is_open


def everything(distribution):
    """All that a distribution offers: ``modules``, the members of ``classes`` and the keywords of ``calls`` by path."""
    paths = modules_of(distribution)
    reader = Reader(paths)
    found = {"modules": {}, "classes": {}, "calls": {}}
    for path in paths:
        module = imported(path)
        found["modules"].update({path: reader.names(module)} if isinstance(module, ModuleType) else {})
        for name, home in found["modules"].get(path, {}).items():
            value = getattr(module, name)
            if home is None or home in found["classes"] or home in found["calls"]:
                continue
            if isinstance(value, type):
                found["classes"][home] = sorted(reader.members(value)[0])
            for call, what in reader.calls(home, value):
                taken = keywords(what)
                found["calls"].update({call: taken[0]} if taken else {})
    return found


class Comparison:
    """What this environment lacks of what another release had."""

    def __init__(self, distribution, had):
        self.had = had
        self.here = set(modules_of(distribution))
        self.reader = Reader([*had["modules"], *self.here])
        self.found = {path: imported(path) for path in had["modules"]}
        self.lost = sorted(path for path, found in self.found.items() if self.is_lost(path, found))
        self.homes = {}
        for path, names in had["modules"].items():
            for name, home in names.items():
                if home is not None:
                    self.homes.setdefault(home, []).append(path + "." + name)

    def is_lost(self, path, found):
        """Whether a module is not there; of one that cannot be imported for another reason nothing is known."""
        is_missing = isinstance(found, ImportError) and found.name and path.startswith(found.name)
        return is_missing and path not in self.here

    def is_name(self, path):
        """Whether what was a module is a name of the module around it now."""
        parent, _, name = path.rpartition(".")
        return hasattr(self.found.get(parent), name)

    def lacks(self, path, name):
        """Whether a module that can be imported has no such name, and no such part."""
        module = self.found[path]
        if not isinstance(module, ModuleType):
            return False
        try:
            getattr(module, name)
        except Exception:
            part = imported(path + "." + name)
            return isinstance(part, ImportError) and str(part.name).startswith(path)
        return False

    def value(self, home):
        """The class or function that is imported by one of the paths of one that was there."""
        for path in self.homes[home]:
            module, _, name = path.rpartition(".")
            try:
                found = getattr(self.found[module], name)
            except Exception:
                continue
            if isinstance(found, (type, FunctionType)):
                return found
        return None

    def gone(self):
        """What went: ``modules``, ``names`` by module, ``members`` by class, ``keywords`` by call, and ``paths``."""
        replaced = [path for path in self.lost if self.is_name(path)]
        modules = [path for path in self.lost if path not in replaced]
        found = {"modules": modules, "names": {}, "members": {}, "keywords": {}, "paths": self.homes}
        for path, names in self.had["modules"].items():
            gone = [name for name in names if path in replaced or self.lacks(path, name)]
            found["names"].update({path: gone} if gone else {})
        for home in self.homes:
            value = self.value(home)
            if isinstance(value, type):
                found["members"].update(lacking(home, self.had["classes"], *self.reader.members(value)))
            for call, what in self.reader.calls(home, value) if value is not None else ():
                found["keywords"].update(lacking(call, self.had["calls"], *(keywords(what) or ([], True))))
        return found


def lacking(path, had, there, is_open):
    """What something had and has no more, by its path; nothing where it is open for anything."""
    gone = [] if is_open else sorted(set(had.get(path, ())) - set(there))
    return {path: gone} if gone else {}


def main(distribution, first=""):
    """Write what the distribution offers, or what it lacks of what is written already; ``first`` is run before."""
    exec(first, {})
    if os.path.exists(HAD):
        with open(HAD, encoding="utf-8") as file:
            place, answer = GONE, Comparison(distribution, json.load(file)).gone()
    else:
        place, answer = HAD, everything(distribution)
    with open(ASKED, encoding="utf-8") as file:
        answer["asked"] = {path: resolved(path) for path in json.load(file)}
    with open(place, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
    os._exit(0)  # what modules started is not waited for
