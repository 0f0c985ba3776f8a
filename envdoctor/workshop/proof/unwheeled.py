"""Distributions that are source archives alone, among those that an installer may not build and cannot do without."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.workshop import every_release

#: What uv says at the end of each distribution that it would have to build.
_WANTED = re.compile(r"Wheels are required for `([\w.-]+)`")
#: What it says of the releases, one after the other: ``left>=1,<=1.2 left==2 have no usable wheels``.
_RANGES = r"((?:(?<![\w.-]){name}(?:\[[^\]]*\])?(?:[<>=!~]\S*)?\s)+)ha(?:s|ve) no usable wheels"


def named(said: str, until: str = "") -> set[str]:
    """The distributions in what uv printed of which no release that it asks for has a wheel, for whatever machine.

    ``until`` is the last day of which it takes releases, where there is one. One that has wheels for others is compiled
    as a rule, and takes long; so may one of which no index tells.
    """
    text = " ".join(said.split())
    return {name for name in _WANTED.findall(text) if _is_source(name, text, until or "9")}


def _is_source(name: str, text: str, until: str) -> bool:
    ranges = [one for found in re.findall(_RANGES.format(name=re.escape(name)), text) for one in found.split()]
    try:
        asked = [SpecifierSet(re.sub(r"^[\w.-]+(?:\[[^\]]*\])?", "", one)) for one in ranges]
    except InvalidSpecifier:
        return False
    releases = [one for one in every_release.everything(name) or () if one.uploaded <= until] if asked else ()
    there = [one for one in releases if any(each.contains(one.version, prereleases=True) for each in asked)]
    return bool(there) and not any(one.wheel for one in there)
