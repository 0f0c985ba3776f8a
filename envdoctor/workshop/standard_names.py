"""Runs inside a Python, 3.6 or later: the names that its standard library has, as JSON on standard output.

For each module a mapping of its names to ``null``; of a class to its attributes, and of what can be called to its
signature. A module that cannot be imported here has ``null`` itself. With an argument, standard input has names by
module, and those are printed that a module answers for, which need not be listed.
"""

import importlib
import inspect
import json
import os
import sys
import warnings

#: What is no part of the library that others import, or does something when it is imported.
SKIPPED = {
    "antigravity", "this", "idlelib", "test", "turtledemo", "site-packages", "__pycache__", "__phello__", "lib-dynload",
    "__main__", "tests", "_bundled", "sitecustomize", "pydoc_data", "dist-packages",
}  # fmt: skip


def modules(folder, prefix=""):
    """The dotted names of the modules in a directory of the library."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        stem = name.split(".")[0]
        if stem in SKIPPED or stem.startswith(("_sysconfigdata", "_testcapi", "_xx", "_ctypes_test")) or "-" in stem:
            continue
        if os.path.isdir(path) and os.path.exists(os.path.join(path, "__init__.py")):
            yield prefix + name
            for inner in modules(path, prefix + name + "."):
                yield inner
        elif name.endswith((".py", ".so", ".pyd")) and stem not in ("__init__", "__main__"):
            yield prefix + stem


def signature(thing):
    """The parameters of a callable, such as ``a,b=,*c,d=,**e``; nothing where Python does not know them."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (ValueError, TypeError, RecursionError, NameError, AttributeError):
        return None
    written = []
    bare = True
    for one in parameters:
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        if one.kind == one.KEYWORD_ONLY and bare:
            written.append("*")
        bare = bare and one.kind not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        slash = "/" if one.kind == one.POSITIONAL_ONLY else ""
        written.append(star + one.name + slash + ("=" if one.default is not one.empty else ""))
    return ",".join(written)


def described(thing):
    """The record of one name: ``[attributes or null, signature or null]``, or ``null``."""
    if inspect.isclass(thing):
        try:
            attributes = [name for name in dir(thing) if not name.startswith("__")]
        except Exception:  # noqa: BLE001 - a class may do anything
            return None
        own = thing.__init__ is not object.__init__ or thing.__new__ is not object.__new__
        return [attributes, signature(thing) if own else None]
    if inspect.isroutine(thing):
        parameters = signature(thing)
        return None if parameters is None else [None, parameters]
    return None


def answered(asked):
    """Of the names that other versions have, those that a module answers for without listing them."""
    found = {}
    for module, names in asked.items():
        try:
            loaded = importlib.import_module(module)
        except BaseException:  # noqa: BLE001, S112 - it needs another system, or a library that is not here
            continue
        found[module] = {name: None for name in names if hasattr(loaded, name)}
    return found


def listed():
    """The names that each module lists."""
    folder = os.path.dirname(os.__file__)
    names = set(modules(folder)) | set(sys.builtin_module_names) - {"__main__"}
    compiled = os.path.join(folder, "lib-dynload")
    if os.path.isdir(compiled):
        names |= set(modules(compiled))
    found = {}
    for name in sorted(names):
        try:
            module = importlib.import_module(name)
        except BaseException:  # noqa: BLE001 - it needs another system, or a library that is not here
            found[name] = None
            continue
        found[name] = {one: described(getattr(module, one, None)) for one in dir(module)}
    return found


warnings.simplefilter("ignore")
_ANSWER = json.dumps(answered(json.load(sys.stdin)) if sys.argv[1:] else listed()).encode("ascii")
while _ANSWER:
    _ANSWER = _ANSWER[os.write(1, _ANSWER) :]
