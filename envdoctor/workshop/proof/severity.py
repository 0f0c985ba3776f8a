"""Measures how much breaks: a plain import of what a rule is about, its commands, and the one call that it is for."""

from __future__ import annotations

from typing import Any

from envdoctor.rulebase.when_tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.trials import StatedTrial, Trial

#: The facts that an environment alone decides: a rule about others shows in the examined project what it breaks.
OF_ENVIRONMENT = frozenset({"packages", "python", "marker", "module"})
#: What precedes the failure of a command, and of a first use, in the output.
COMMAND, FIRST_USE = "the command ", "the first use "
_SCRIPT = """\
import glob, importlib, os, re, subprocess, sys, sysconfig
wanted, stated = {wanted}, {modules}
modules, commands = [], []
for place in {{sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}}:
    for info in glob.glob(os.path.join(place, "*.dist-info")):
        name = re.sub(r"[-_.]+", "-", os.path.basename(info).split("-")[0]).lower()
        if name not in wanted:
            continue
        files = []
        if os.path.exists(os.path.join(info, "RECORD")):
            with open(os.path.join(info, "RECORD")) as record:
                files = [line.split(",")[0] for line in record]
        tops = {{one.split("/")[0] for one in files if one.endswith("/__init__.py") and one.count("/") == 1}}
        tops |= {{one[:-3] for one in files if one.endswith(".py") and "/" not in one}}
        like = [one for one in tops if re.sub(r"[-_.]+", "-", one).lower() in (name, "python-" + name)]
        fine = [one for one in tops if one.isidentifier() and not one.startswith("_") and one not in ("test", "tests")]
        modules += [stated[name]] if name in stated else like or sorted(fine)[:3]
        if os.path.exists(os.path.join(info, "entry_points.txt")):
            with open(os.path.join(info, "entry_points.txt")) as points:
                text = points.read()
            told = re.search(r"\\[console_scripts\\]([^\\[]*)", text)
            commands += re.findall(r"^[ \\t]*([\\w.-]+) *=", told.group(1), re.M)[:2] if told else []
            groups = re.findall(r"^[ \\t]*\\[([\\w-]+)", text, re.M)  # a plugin starts with its host: pytest11
            commands += [one for group in groups for one in (group, group.rstrip("0123456789"))]
for module in modules:
    importlib.import_module(module)
for command in commands:
    path = os.path.join(os.path.dirname(sys.executable), command)
    if os.path.exists(path):
        done = subprocess.run([path, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            print(done.stdout.decode("utf-8", "replace"), flush=True)
            print("\\n" + {command!r} + command + " does not start", file=sys.stderr)
            sys.exit(1)
"""
_USE = """\
done = subprocess.run([sys.executable, "-c", {text!r}], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
if done.returncode:
    text = done.stdout.decode("utf-8", "replace")
    print(text[:3000] + text[3000:][-3000:], flush=True)  # there may be thousands of notes
    print({said!r}, file=sys.stderr)
    sys.exit(1)
"""


def by_environment(rule: Rule) -> bool:
    """Whether the environment alone decides a rule, and more than its installation is tried."""
    is_tried = "installs" not in rule.proof or bool(rule.proof["script"])
    return is_tried and {leaf.fact for leaf in leaves(rule.when, ())} <= OF_ENVIRONMENT


def plan(
    rule: Rule, bad: Sequence[StatedTrial], compiled: Mapping[str, Any], words: Mapping[str, Any]
) -> Iterator[Trial]:
    """One trial for each consumer, or one of the rule, in the environment of its first bad cell.

    ``words`` is the vocabulary, of which ``first_use`` has the packages that are there for one call.
    """
    seen = set()
    for base in bad if by_environment(rule) else ():
        consumer = base.trial.consumer
        if consumer not in seen:
            seen.add(consumer)
            names = [consumer] if consumer else [*rule.consumers] or list(compiled["packages"])
            modules = {name: line["module"] for name, line in rule.consumers.items() if line.get("module")}
            alone = f"{base.trial.name}, imported alone"
            text = script(names, modules, words.get("first_use", {}))
            yield base.trial.replace(name=alone, kind="severity", script=text)


def script(names: Sequence[str], modules: Mapping[str, str], uses: Mapping[str, Mapping[str, str]]) -> str:
    """What imports distributions alone, starts their commands, and those that they are plugins of, and uses them.

    ``modules`` are the import names of some, ``uses`` the first uses.
    """
    text = _SCRIPT.format(wanted=sorted(names), modules=modules, command=COMMAND)
    used = [name for name in sorted(names) if name in uses]
    return text + "".join(_USE.format(text=uses[one]["script"], said=f"\n{FIRST_USE}of {one} fails") for one in used)


def breaks(result: Mapping[str, Any]) -> str:
    """What broke in a trial that showed the symptom: the ``import``, a ``command``, or the ``first use``."""
    last = result["output"].rstrip().rpartition("\n")[2]
    return "first use" if last.startswith(FIRST_USE) else "command" if last.startswith(COMMAND) else "import"
