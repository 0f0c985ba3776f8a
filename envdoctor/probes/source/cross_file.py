"""Names across the files of a project: what an imported function of the project returns, and what a name is there."""

from __future__ import annotations

import posixpath

from envdoctor.probes.source.abstract_values import OWN, STARS, names_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Argument = dict[str, Any]

#: From file to file no further than this.
MOST_FILES = 4


class Linker:
    """Knows the project's files; ``exports`` returns what the top-level names of one of them resolve to.

    ``program`` returns what one does as a program.
    """

    def __init__(
        self,
        files: Iterable[str],
        exports: Callable[[str], dict[str, Any]],
        program: Callable[[str], dict[str, Any]],
    ) -> None:
        self._files = frozenset(name for name in files if name.endswith(".py"))
        self._exports = exports
        self._program = program
        self._programs: dict[str, dict[str, dict[str, Any]]] = {}
        #: The first segments of the project's own modules.
        self.tops = frozenset(map(_top, self._files))

    def concerns(self, name: str) -> bool:
        """Whether a name may be one of the project's."""
        return name[:1] in {OWN, ".", STARS} or name.partition(".")[0] in self.tops

    def is_own(self, name: str, file: str) -> bool:
        """Whether an absolute import finds a module of the project: beside a script, at the top or in ``src``."""
        folder = posixpath.dirname(file)
        bases = ["", "src", *([] if posixpath.join(folder, "__init__.py") in self._files else [folder])]
        paths = [posixpath.join(base, name.partition(".")[0]) for base in bases]
        return any(f"{path}/__init__.py" in self._files or f"{path}.py" in self._files - {file} for path in paths)

    def defined_in(self, name: str, file: str) -> str | None:
        """The other file of the project in which a name that a file uses may be defined."""
        place = self._locate(name, file) if name[:1] != OWN and self.concerns(name) else None
        return place[0] if place is not None and place[1] else None

    def name(self, name: str, file: str) -> str:
        """A name as it would be written in an absolute import."""
        return self._follow(name, file)[0]

    def is_flag(self, name: str, file: str) -> bool:
        """Whether a name is one by which another file of the project remembers which release is installed."""
        _, export, _ = self._follow(name, file)
        return bool(export and export.get("flag"))

    def argument(self, argument: Argument, file: str, depth: int = 0) -> Argument:
        """An argument with every field, and with what the project's other files define about it."""
        answer: Argument = {"is": set(argument["is"]), "made_by": [], "names": [], "carries": []}
        replaced = self._made_by(argument, file, depth, answer)
        self._names(argument, file, depth, answer)
        self._carries(argument, file, answer, replaced)
        self._lacks(argument, file, answer)
        self._lacks_of_others(argument, file, answer)
        answer["is"] = sorted(answer["is"]) or ["unknown"]
        answer["made_by"] = sorted(set(answer["made_by"]))
        answer["names"] = sorted(set(answer["names"]))
        answer["carries"] = list(_there(answer["carries"], argument))
        for field in ("text", "form", "value", "values", "begins", "open", "maker", "itself", "provided"):
            if field in argument:
                answer[field] = argument[field]
        if "parameter" in argument:
            answer["parameter"] = {**argument["parameter"], "of": self.name(argument["parameter"]["of"], file)}
        if "entries" in argument:
            answer["entries"] = {key: self.argument(one, file, depth) for key, one in argument["entries"].items()}
        return answer

    def _made_by(self, argument: Argument, file: str, depth: int, answer: Argument) -> set[str]:
        """Add what made the argument; returned are the names of functions that were replaced by what they return."""
        replaced = set()
        before = answer["is"]
        answer["is"] = before - {"instance", "result"}
        for made in argument.get("made_by", ()):
            name, found, there = self._follow(made, file)
            export = found or {}
            inner = _passed(argument) if "passes" in export else None
            if inner is not None and depth < MOST_FILES:
                self._merge(self.argument(inner, file, depth + 1), answer, file)
            elif "returns" in export and depth < MOST_FILES and "result" in before:
                self._merge(self._renamed(export["returns"], name, there, depth), answer, there)
                replaced.add(made)
            else:
                answer["made_by"].append(name)
                answer["is"] |= _kinds(made, before, export)
                if made[:1] != OWN:
                    self._carries(export.get("instance", {}), there, answer)
        return replaced

    def _renamed(self, returns: Argument, name: str, file: str, depth: int) -> Argument:
        """The description of what a function returns; where that is not known, the function is the maker itself."""
        answer = self.argument(returns, file, depth + 1)
        if "unknown" in answer["is"]:
            answer["is"] = [one for one in answer["is"] if one != "unknown"] + ["result"]
            answer["made_by"].append(name)
        return answer

    def _names(self, argument: Argument, file: str, depth: int, answer: Argument) -> None:
        for one in argument.get("names", ()):
            name, export, there = self._follow(one, file)
            if one[:1] == OWN or export is None:
                answer["names"].append(name)
                continue
            answer["is"] -= {"class" if names_class(one) else "function"}
            if depth < MOST_FILES:
                self._merge(self.argument({**export, "names": ()}, there, depth + 1), answer, there)
            if {"function", "class"} & set(export["is"]):
                answer["names"].append(name)

    def _lacks(self, argument: Argument, file: str, answer: Argument) -> None:
        found = [{"file": file, **one, "name": self.name(one["name"], file)} for one in argument.get("lacks", ())]
        if found:
            answer["lacks"] = [*answer.get("lacks", ()), *found]
        if argument.get("results"):
            answer["results"] = [*answer.get("results", ()), *({"file": file, **one} for one in argument["results"])]

    def _lacks_of_others(self, argument: Argument, file: str, answer: Argument) -> None:
        """Add what functions that run in a worker read, and the program sets of a module that they do not lie in."""
        run = [one for one in (*argument.get("runs", ()), *argument.get("names", ())) if self.concerns(one)]
        if not run:
            return
        program = self._set_by_program(file)
        known = {one["name"] for one in answer.get("lacks", ())}
        answer["runs"] = [self.name(one, file) for one in run]
        for one in run if program else ():
            read = self._only_read(one, file)
            found = [program[name] for name in sorted((read - known) & program.keys())]
            if found:
                answer["lacks"] = [*answer.get("lacks", ()), *found]
                known |= read

    def _only_read(self, name: str, file: str) -> set[str]:
        """What a function reads, of its file and of others, and does not set itself."""
        _, export, there = self._follow(name, file)
        if name[:1] == OWN:
            export = self._exports(file).get(name[1:])
        state = export or {}
        read, own = ({self.name(one, there) for one in state.get(word, ())} for word in ("reads", "sets"))
        return read - own

    def _set_by_program(self, file: str) -> dict[str, dict[str, Any]]:
        """What a file sets of others, by name, where it runs as a program: itself, by calls of theirs, by importing."""
        if file not in self._programs:
            found: dict[str, dict[str, Any]] = {}
            for how, name, line in self._program(file).get("does", ()):
                meant, export, there = self._follow(name, file)
                names = [meant]
                if how == "imports":
                    there = self.defined_in(name + ".", file) or there
                    names = [self.name(each, there) for each in self._program(there).get("changes", ())]
                elif how == "calls":
                    names = [self.name(each, there) for each in (export or {}).get("sets", ())]
                for each in names:
                    found.setdefault(each, {"name": each, "file": file, "line": line, "by": name.rpartition(".")[2]})
            self._programs[file] = found
        return self._programs[file]

    def _merge(self, other: Argument, answer: Argument, file: str) -> None:
        answer["is"].update(other["is"])
        answer["made_by"] += other["made_by"]
        answer["names"] += other["names"]
        answer["carries"] += [{"file": file, **one} for one in other["carries"]]
        for field in ("lacks", "results"):
            if other.get(field):
                answer[field] = [*answer.get(field, ()), *other[field]]

    def _carries(self, argument: Argument, file: str, answer: Argument, replaced: Iterable[str] = ()) -> None:
        for one in filter(None, (self._held(each, file) for each in argument.get("carries", ()))):
            if one["name"] in replaced:
                continue
            name, export, there = self._follow(one["name"], file)
            if "imported" not in one:
                known = export if export is not None and one["name"][:1] != OWN else {}
                within = known.get("instance", known.get("returns", {}))
                answer["carries"] += [{**one, "name": name}, *self._carried_within(within, there, one)]
            elif export is not None and not {"function", "class"} & set(export["is"]):
                only = {key: each for key, each in one.items() if key in {"by_value", "kept_by", "after", "via"}}
                for made in _there(export.get("carries", ()), {}):
                    found = {"name": self.name(made["name"], there), "line": made.get("line"), "file": there}
                    answer["carries"].append({**only, **found})

    def _carried_within(self, instance: Argument, file: str, one: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What an object of a class of another file carries, where something carries the object."""
        for made in filter(None, (self._held(each, file) for each in instance.get("carries", ()))):
            both = {**made, **one, "name": self.name(made["name"], file), "at": made["via"]}
            kept = [*one.get("kept_by", ()), *made.get("kept_by", ())]
            yield {**both, "kept_by": kept} if kept else both

    def _held(self, one: dict[str, Any], file: str) -> dict[str, Any] | None:
        """What was given to calls, with those of elsewhere; ``None`` where one of the project does not keep it."""
        kept = []
        for name, export, _ in (self._follow(each, file) for each in one.get("kept_by", ())):
            if export is None and not self.concerns(name):
                kept.append(name)
            elif export is None or not ("instance" in export or "passes" in export) or "reduced" in export:
                return None
        return {**one, "kept_by": kept} if kept else {key: each for key, each in one.items() if key != "kept_by"}

    def _follow(self, name: str, file: str, depth: int = 0) -> tuple[str, dict[str, Any] | None, str]:
        """The absolute name, what its file says about it, and that file."""
        if not self.concerns(name):
            return name, None, file
        if name[:1] == STARS:
            where, rest, full = file, name.split(".")[1:], name
        else:
            place = self._locate(name, file)
            if place is None:
                return self._absolute(name, file), None, file
            where, rest = place
            full = ".".join([*_module(where), *rest])
        if depth >= MOST_FILES or not rest or name[:1] == OWN:
            return full, None, where
        export = self._exports(where).get(rest[0]) if name[:1] != STARS else None
        if export is None:
            starred = self._by_star(".".join(rest), where, depth)
            return self._follow(starred, where, depth + 1) if starred else (full, None, where)
        meant = self._meant(export, rest)
        if meant:
            return self._follow(meant, where, depth + 1)
        return full, export if len(rest) == 1 else _method(export, rest[1:]), where

    def _meant(self, export: dict[str, Any], rest: list[str]) -> str:
        """The name by which something of what a file exports is known elsewhere; empty for what is its own."""
        meant = export.get("ref", "").rstrip(".")
        if len(rest) > 1 and not meant:
            meant = self._only_maker(export) or self._only_maker(export.get("returns", {})) or _base_of(export, rest[1])
        if not meant and len(rest) > 2:  # noqa: PLR2004 - a class, its method, and an attribute of what that returns
            meant, rest = self._only_maker(export.get("methods", {}).get(rest[1], {})), rest[1:]
        return ".".join([meant, *rest[1:]]) if meant else ""

    def _only_maker(self, export: dict[str, Any]) -> str:
        """What is of elsewhere and made all that an object may be: an attribute of it is one of what made it."""
        made = export.get("made_by", ())
        kinds = [one for one in export.get("is", ()) if one != "constant" or export.get("values") != [None]]
        is_made = len(made) == 1 and kinds in (["instance"], ["result"]) and "form" not in export
        return made[0] if is_made and not self.concerns(made[0]) else ""

    def _by_star(self, rest: str, file: str, depth: int) -> str | None:
        """The name of what a star import brings: of the last file of the project that has it, else of elsewhere."""
        elsewhere: list[str] = []
        modules: list[str] = self._exports(file).get(STARS, {}).get("modules", [])
        for module in modules[::-1] if rest[:1] != "_" and depth < MOST_FILES else ():
            place = self._locate(module, file) if self.concerns(module) else None
            if place is None or place[1]:
                elsewhere.append(module)
            elif rest.partition(".")[0] in self._exports(place[0]) or self._by_star(rest, place[0], depth + 1):
                return module + ("" if module.endswith(".") else ".") + rest
        return f"{elsewhere[0]}.{rest}" if len(elsewhere) == 1 else None

    def _absolute(self, name: str, file: str) -> str:
        plain = name.lstrip(".")
        if plain == name:
            return name
        return ".".join([*_module(_package(file, len(name) - len(plain)) + "/__init__.py"), plain])

    def _locate(self, name: str, file: str) -> tuple[str, list[str]] | None:
        """The file that a name is defined in, and what remains of the name within it."""
        if name[:1] == OWN:
            return file, name[1:].split(".")
        plain = name.lstrip(".")
        segments = plain.split(".")
        folder = posixpath.dirname(file)
        bases = [_package(file, len(name) - len(plain))] if plain != name else [folder, "", "src"]
        for base in dict.fromkeys(bases):
            for length in range(len(segments), -1 if plain != name else 0, -1):
                path = posixpath.join(base, *segments[:length])
                for candidate in (f"{path}.py", posixpath.join(path, "__init__.py")):
                    if candidate in self._files:
                        return candidate, segments[length:]
        return None


def _base_of(export: dict[str, Any], name: str) -> str:
    """The class of elsewhere that an exported class has an attribute of, where that is certain."""
    is_own = name in export.get("instead", ())
    return "" if is_own else export.get("inherits", "")


def _method(export: dict[str, Any], rest: list[str]) -> dict[str, Any] | None:
    """What a file says about a method of what it exports, or about the call of what a function returns."""
    returned = export.get("methods", {}).get(rest[0]) if len(rest) == 1 else None
    if rest == ["__call__"] and returned is None:
        returned = export.get("returns", {}).get("returns")
    return {"is": ["function"], "returns": returned} if returned else None


def _kinds(made: str, before: set[str], export: dict[str, Any]) -> set[str]:
    """The kind of what a name makes, by what its file exports; none where the argument is not something made."""
    if before.isdisjoint(("instance", "result")):
        return set()
    if export.get("instance", {}).get("is") == ["factory"]:
        return {"factory"}
    return {"instance" if names_class(made) or "result" not in before or "instance" in export else "result"}


def _passed(argument: Argument) -> Argument | None:
    """What made the first argument of the call that made an argument, as that is described."""
    given = argument.get("maker", {}).get("arguments", ())
    name = given[0].get("maker", {}).get("name") if given else None
    return {"is": ["instance" if names_class(name) else "result"], "made_by": [name]} if name else None


def _there(carried: Iterable[dict[str, Any]], argument: Argument) -> Iterator[dict[str, Any]]:
    """What an object holds when it is given: not what a method would have to make first, nor what was deleted."""
    gone = {f"self.{attr}" for attr in argument.get("dropped", ())}
    for one in carried:
        if one.get("after", "") in {"", *argument.get("called", ())} and one.get("at", one.get("via")) not in gone:
            yield {key: each for key, each in one.items() if key not in {"after", "at"}}


def _package(file: str, level: int) -> str:
    folder = posixpath.dirname(file)
    for _ in range(level - 1):
        folder = posixpath.dirname(folder)
    return folder


def _module(file: str) -> list[str]:
    segments = posixpath.splitext(file)[0].split("/")
    if segments[-1] == "__init__":
        segments.pop()
    return segments[1:] if segments[:1] == ["src"] else [one for one in segments if one]


def _top(file: str) -> str:
    return (_module(file) or [""])[0]
