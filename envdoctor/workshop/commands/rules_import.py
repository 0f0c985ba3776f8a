"""``envdoctor rules import``: leads from elsewhere, written down as candidates."""

from __future__ import annotations

import collections
import os
import subprocess

from envdoctor.commands.options import Parser
from envdoctor.commands.output import say, write
from envdoctor.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from envdoctor.workshop.candidates import Candidate
    from envdoctor.workshop.repodata import Dropped, Lead, Patch

#: Where each source is published; its name is what is written on the command line.
SOURCES = {"conda-forge": "https://github.com/conda-forge/conda-forge-repodata-patches-feedstock"}
_KEPT = "kept"


def parser() -> Parser:
    """The options of ``envdoctor rules import``."""
    made = Parser(
        prog="envdoctor rules import",
        description="Write candidates from the repodata patches of a checkout: those that narrow what one Python "
        "distribution takes of another, or of Python, and that the wheel's own metadata does not say already, which "
        "the index is asked about, distribution by distribution. Nothing is overwritten. A candidate is a lead: it is "
        "silent without --candidates until its author has verified it, measured it and removed the line `status`.",
        epilog="examples:\n  git clone --depth 1 " + SOURCES["conda-forge"] + " patches\n"
        "  envdoctor rules import conda-forge patches -o candidates --offline\n"
        "  envdoctor rules import conda-forge patches -o candidates --only DISTRIBUTION\n"
        "  envdoctor rules verify candidates; envdoctor check --rules candidates --candidates\n",
    )
    made.add_argument("source", choices=SOURCES, help="whose format it is")
    made.add_argument("directory", metavar="DIR", help="a checkout of it")
    made.add_argument("-o", "--output", metavar="OUT", default="candidates", help="default: candidates")
    made.add_argument("--only", metavar="NAME", action="append", default=[], help="only leads about this distribution")
    made.add_argument("--offline", action="store_true", help="do not ask the index; then all that could be is kept")
    return made


def run(options: argparse.Namespace) -> int:
    """Run ``envdoctor rules import``."""
    from envdoctor.engine.installed_requirements import normalise
    from envdoctor.rulebase.reader import vocabulary_of
    from envdoctor.workshop import repodata

    names = vocabulary_of(options.output)["distributions"].get(options.source, {})
    patches, unread = repodata.patches_below(options.directory)
    wanted = set(map(normalise, options.only))
    counts: collections.Counter[str] = collections.Counter()
    leads: dict[str, Lead] = {}
    for found in (found for patch in patches for found in repodata.leads(patch, names)):
        if wanted and wanted.isdisjoint(_about(found, names)):
            continue
        if isinstance(found, repodata.Dropped):
            counts[found.reason] += 1
        elif found.id() in leads:
            counts["it says the same as another"] += 1
        else:
            leads[found.id()] = found
    commit = _commit(options.directory)
    for lead in leads.values():
        made = _candidate(lead, offline=options.offline)
        counts[_KEPT if not isinstance(made, str) and _write(made, options, commit) else _why_not(made)] += 1
    _report(patches, unread, counts, options)
    return 0


def _about(found: Lead | Dropped, names: Mapping[str, str | None]) -> set[str | None]:
    """The distributions that a lead is about, or that one which was dropped would have been."""
    from envdoctor.workshop import repodata

    if isinstance(found, repodata.Lead):
        return {found.name, found.other}
    return {repodata.mapped(name, names) for name in repodata.named(found.patch)}


def _why_not(made: Candidate | str) -> str:
    return made if isinstance(made, str) else "its file is there already"


def _candidate(lead: Lead, *, offline: bool) -> Candidate | str:
    from envdoctor.probes import published
    from envdoctor.workshop import candidates

    if offline:
        return candidates.unconfirmed(lead)
    made = candidates.confirmed(lead, published.wheels, published.requirements)
    if made is None:
        raise UsageError(f"no index answers for {lead.name} and {lead.other}: ask again with the network, or --offline")
    return made


def _write(made: Candidate, options: argparse.Namespace, commit: str | None) -> bool:
    """Write a candidate; false where its file is there already."""
    from envdoctor.workshop import candidates

    patch = made.lead.patch
    address = f"{SOURCES[options.source]}/blob/{commit or 'main'}/recipe/patch_yaml/{patch.file}"
    source = f"{options.source}: recipe/patch_yaml/{patch.file}, document {patch.number}"
    source += f", commit {commit}" if commit else ", commit unknown"
    os.makedirs(options.output, exist_ok=True)
    try:
        with open(os.path.join(options.output, made.lead.id() + ".yaml"), "x", encoding="utf-8") as file:
            file.write(candidates.text(made, source, address))
    except FileExistsError:
        return False
    except OSError as error:
        raise UsageError(f"{options.output} could not be written to: {error.strerror}; give another -o OUT") from error
    return True


def _commit(directory: str) -> str | None:
    """The commit of a checkout, where git tells it."""
    try:
        done = subprocess.run(  # noqa: S603 - git itself, which only reads
            ["git", "-C", directory, "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _report(
    patches: Sequence[Patch], unread: Sequence[str], counts: collections.Counter[str], options: argparse.Namespace
) -> None:
    for line in unread:
        say(f"{line}")
    summary = f"{len(patches)} patches read, {len(unread)} files could not be"
    write(f"{summary}; {counts[_KEPT]} candidates written to {options.output}\n")
    for reason, count in counts.most_common():
        if reason != _KEPT:
            write(f"  {count:>5} dropped: {reason}\n")
    if options.only and not counts:
        write(f"No patch is about {' or '.join(options.only)}.\n")
    if options.offline:
        write("The index was not asked: what wheels say themselves, and which names it knows, was not looked up.\n")
    if counts[_KEPT]:
        first = "write each a proof (the index was not asked for releases to try), then " if options.offline else ""
        write(f"Next: {first}envdoctor rules verify {options.output}\n")
