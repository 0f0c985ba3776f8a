"""Builds the documentation as a site: the guide, and every rule with what was measured, to be searched in a browser.

python -m envdoctor.workshop.site [DIRECTORY]      (default: build/site; needs pip install 'pyenvdoctor[docs]')

Pages come from the Markdown of the repository; that of a rule from the catalogue, its proof, and ``rules show``.
Nothing is loaded from elsewhere, neither while it is built nor in a browser. A rule is at ``rules/ID.html``.
"""

from __future__ import annotations

import argparse
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import yaml
from packaging.version import Version

from envdoctor.commands.rules_list import document, every
from envdoctor.rulebase.shipped_files import checkout
from envdoctor.workshop import catalogue
from envdoctor.workshop.proof.judge import CONTRADICTS, UNPROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule

#: What is read first, by its title; all other pages are found below "More", and rules by their index and the search.
_NAV = {
    "Start": "index.md", "Guide": "guide.md", "Integrations": "integrations.md", "Rules": "rules/README.md",
    "Configuration": "configuration.md", "Write a rule": "language.md", "Ship your own rules": "packs.md",
    "Contribute": "contributing.md",
}  # fmt: skip
#: Pages whose place in the site is not that in the repository's docs.
_MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "rules/README.md": "language.md"}
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_SIGNS = {"passes": "✓", "fails": "✗", "unknown": "?", "both": "✓✗"}
#: So many different texts that trials have shown are on the page of a rule.
_SEEN = 4
#: A rule comes before other pages that hold the same words.
_BEFORE = "---\nsearch: {boost: 3}\n---\n"
_STYLE = """\
.md-typeset td { overflow-wrap: anywhere; }
.grid td, .grid th { min-width: 0 !important; padding: .2em .6em !important; text-align: center; }
.grid th:first-child { text-align: left; }
.grid td.passes { background: #1a7f37; color: #ffffff; }
.grid td.fails { background: #c81e2b; color: #ffffff; }
.grid td.both { background: #8a5300; color: #ffffff; }
.grid td.unknown { background: #d0d7de; color: #1f2328; }
"""


def build(directory: str) -> None:
    """Build the site into a directory, which is replaced. Raises :class:`subprocess.CalledProcessError`."""
    home = os.path.dirname(str(checkout()))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources(home).items():
            path = os.path.join(folder, "docs", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        settings = os.path.join(folder, "mkdocs.yml")
        with open(settings, "w", encoding="utf-8") as file:
            yaml.safe_dump(_settings(os.path.abspath(directory)), file)
        words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", settings]
        subprocess.run(words, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})  # noqa: S603


def _settings(directory: str) -> dict[str, Any]:
    """The configuration of MkDocs: no font, script or address from elsewhere; what it is strict about are links."""
    schemes = [
        {"media": f"(prefers-color-scheme: {name})", "scheme": scheme, "toggle": {"icon": icon, "name": f"now {name}"}}
        for name, scheme, icon in (
            ("light", "default", "material/weather-sunny"),
            ("dark", "slate", "material/weather-night"),
        )
    ]
    search = {
        "separator": r"[\s\-_,:;'\"`()\[\]{}=/]+|\.(?!\d)|&[lg]t;",
        "fields": {"title": {"boost": 3.0}, "text": {"boost": 1.0}, "tags": {"boost": 1.0}},
    }
    return {
        "site_name": "envdoctor",
        "site_dir": directory,
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False, "palette": schemes, "features": ["search.highlight"]},
        "plugins": [{"search": search}],
        "markdown_extensions": ["tables", "fenced_code", "attr_list", {"toc": {"permalink": True}}],
        "extra_css": ["grid.css"],
        "extra": {"generator": False},
        "nav": [{title: page} for title, page in _NAV.items()],
        "validation": {"nav": {"omitted_files": "ignore"}, "links": {"not_found": "warn", "anchors": "warn"}},
    }


def sources(home: str) -> dict[str, str]:
    """The text of every page of the site by its name, with links between them, from a checkout."""
    docs = os.path.join(home, "docs")
    places = {**_MOVED, **{f"docs/{name}": name for name in os.listdir(docs) if "." in name}}
    texts = {page: _linked(_read(home, name), name, places) for name, page in places.items() if name.endswith(".md")}
    texts |= {page: _read(home, name) for name, page in places.items() if not name.endswith(".md")}
    return {**texts, **{f"rules/{name}": text for name, text in _rules(home).items()}, "grid.css": _STYLE}


def _read(home: str, name: str) -> str:
    with open(os.path.join(home, name), encoding="utf-8") as file:
        return file.read()


def _linked(text: str, name: str, places: Mapping[str, str]) -> str:
    """A page with its links to others of the repository changed for where those are in the site."""

    def link(found: re.Match[str]) -> str:
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2]))
        target = places.get(meant) or (meant.removeprefix("docs/") if meant.startswith("docs/rules/") else found[2])
        return found[1] + target + found[3]

    return _LINK.sub(link, text)


def _rules(home: str) -> dict[str, str]:
    """The page of each rule, by its name, and their index."""
    directory = os.path.join(home, "rules")
    known = catalogue.well_formed(directory)
    pages = catalogue.pages(directory, known)
    shown = {rule["id"]: document(rule) for rule in every(())}
    for rule, proof in known:
        parts = [*_symptoms(rule, proof), *_measured(rule, proof)]
        text = yaml.safe_dump(shown.get(rule.id, {}), sort_keys=False, allow_unicode=True, width=100)
        parts += [
            "## The rule { data-search-exclude }",
            "",
            f"As `envdoctor rules show {rule.id}` prints it:",
            "",
            "```yaml",
            text + "```",
        ]
        pages[f"{rule.id}.md"] = _BEFORE + pages[f"{rule.id}.md"] + "\n" + "\n".join(parts) + "\n"
    return pages


def _symptoms(rule: Rule, proof: Mapping[str, Any] | None) -> Iterator[str]:
    """What a person sees, as it is printed and not as the expression that recognises it, and what was seen in trials.

    It is in the first section of the page, which a search prefers.
    """
    said: dict[str, None] = {}
    for one in rule.symptoms:
        message = re.sub(r"\\([^\w\s])", r"\1", str(one.get("message", "")))
        text = ": ".join(filter(None, (str(one.get("raises", "")), message)))
        said[f"{text} (in {one['in']})" if "in" in one else text] = None
    seen = [one["symptom"] for one in (proof["trials"] if proof else ()) if one["kind"] == "bad" and "symptom" in one]
    said |= dict.fromkeys([*dict.fromkeys(seen)][:_SEEN])
    if said:
        yield from ("**It shows as:**", "", *("- " + catalogue.code(one.replace("`", "'")) for one in said), "")


def _measured(rule: Rule, proof: Mapping[str, Any] | None) -> Iterator[str]:
    """A table of what was built and run: green what passes, red what fails, grey what has no result."""
    squares = grid(catalogue.about(rule), proof["trials"] if proof else ())
    if not squares:
        return
    pythons = sorted({python for _, python in squares}, key=Version)
    yield from ("## Measured { data-search-exclude }", "", '<div class="grid"><table>', "<tr><th></th>")
    yield from (f"<th>Python {python}</th>" for python in pythons)
    yield "</tr>"
    for row in sorted({row for row, _ in squares}, key=lambda row: [(name, Version(of)) for name, of in row]):
        named = ", ".join(" ".join(one) for one in row) or "nothing else"
        cells = (_square(*squares.get((row, python), ("", ""))) for python in pythons)
        yield f"<tr><th>{html.escape(named)}</th>{''.join(cells)}</tr>"
    yield from ("</table></div>", "", "✓ passes, ✗ fails, ? has no result; an empty cell was not tried.", "")


def _square(outcome: str, symptom: str) -> str:
    title = f' title="{html.escape(symptom)}"' if symptom else ""
    return f'<td class="{outcome}"{title}>{_SIGNS[outcome]}</td>' if outcome else "<td></td>"


def grid(
    names: Sequence[str], trials: Sequence[Mapping[str, Any]]
) -> dict[tuple[tuple[tuple[str, str], ...], str], tuple[str, str]]:
    """What was measured: the outcome and the symptom of each set of releases of some distributions on each Python."""
    found: dict[tuple[tuple[tuple[str, str], ...], str], tuple[str, str]] = {}
    for trial in trials:
        if trial["kind"] == "severity" or "installed" not in trial:
            continue
        installed = (tuple(one.split("==", 1)) for one in trial["installed"] if "==" in one)
        row = tuple(sorted((name, version) for name, version in installed if name in names))
        place = row, ".".join(trial["python"].split(".")[:2])
        outcome = _outcome(trial)
        had, said = found.get(place, (outcome, ""))
        known = {had, outcome} - {"unknown"} or {"unknown"}
        found[place] = known.pop() if len(known) == 1 else "both", said or trial.get("symptom") or ""
    return found


def _outcome(trial: Mapping[str, Any]) -> str:
    """What a trial showed: that this set of releases fails, passes, or nothing."""
    if trial["verdict"] == UNPROVEN:
        return "unknown"
    return "fails" if (trial["kind"] == "bad") is (trial["verdict"] != CONTRADICTS) else "passes"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", default=os.path.join("build", "site"))
    options = parser.parse_args(arguments)
    shutil.rmtree(options.directory, ignore_errors=True)
    build(options.directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
