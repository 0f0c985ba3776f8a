"""Requirements for what is installed: the member of a family that a rule's name means, with its companions."""

from __future__ import annotations

from envdoctor.engine.installed_requirements import canonical, normalise, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


def fitted(
    stated: Mapping[str, Sequence[str]], kin: Mapping[str, Mapping[str, Sequence[str]]], installed: Iterable[str]
) -> dict[str, list[str]]:
    """The ``requirements`` and ``packages`` of a remedy as they are for what is installed.

    ``kin`` has ``families``, the members by the name of the family, and ``companions``, the distributions
    whose minor release must be that of a family.
    """
    present = set(installed)
    families = kin["families"]

    def member(name: str) -> str:
        found = [one for one in families.get(normalise(name), ()) if one in present]
        return name if normalise(name) in present or not found else found[0]

    requirements: list[str] = []
    companions: list[str] = []
    for text in stated["requirements"]:
        found = parts(text)
        if found is None:
            requirements.append(text)
            continue
        requirements.append(canonical((member(found[0]), *found[1:])))
        if not found[3]:
            beside = present.intersection(kin["companions"].get(normalise(found[0]), ()))
            companions += [name + ",".join(_minor(found[2])) for name in sorted(beside)]
    named = {normalise(found[0]) for found in map(parts, requirements) if found}
    requirements += [text for text in companions if (parts(text) or ("",))[0] not in named]
    return {"requirements": requirements, "packages": list(map(member, stated["packages"]))}


def _minor(specifier: str) -> Iterator[str]:
    """The clauses that a companion's release has to meet, which has the same minor number and any patch number."""
    for clause in filter(None, specifier.split(",")):
        version = clause.lstrip("<>=!~")
        operator = clause[: len(clause) - len(version)]
        major, dot, rest = version.partition(".")
        minor, _, patch = rest.partition(".")
        if not dot or not (major + minor).isdigit():
            yield clause
        elif operator == "==" or (operator == "~=" and patch):
            yield f"=={major}.{minor}.*"
        elif operator == "<=" or (operator == "<" and patch.strip("0.")):
            yield f"<{major}.{int(minor) + 1}"
        elif operator != "!=":
            yield f"{'>=' if operator == '>' else operator}{major}.{minor}"
