"""A plan is carried out as a whole, or not at all; and it can be undone, byte by byte, wherever it was stopped."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
import small_environments as small
from conftest import run
from known_facts import facts_of

from envdoctor import doctor
from envdoctor.errors import TargetError
from envdoctor.plans import Edit, Plan
from envdoctor.remedies import journal
from envdoctor.remedies.apply import apply, undo

pytestmark = [
    pytest.mark.trials,
    pytest.mark.skipif(os.name == "nt", reason="builds environments in the layout of POSIX"),
]

#: The number of a user who owns nothing.
NOBODY = 65534


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return small.index(tmp_path_factory.mktemp("wheels") / "index")


@pytest.fixture(params=["uv", "pip"])
def either(request, tmp_path, wheels):
    return small.Patient(tmp_path, wheels, installer=request.param)


@pytest.fixture
def patient(tmp_path, wheels):
    return small.Patient(tmp_path, wheels)


def carry_out(patient, plan, wrong=list, **more):
    said = []
    apply(plan, patient.snapshot(), wrong, said.append, **more)
    return said


def version(patient):
    return run(patient.folder / "bin" / "left").stdout.strip()


def test_it_is_applied_and_undone_byte_by_byte(either, tmp_path):
    (tmp_path / "requirements.txt").write_bytes(b"left==1.0  # mine\r\n")
    edit = Edit(path=str(tmp_path / "requirements.txt"), before="left==1.0  # mine\r\n", after="left==2.0  # mine\r\n")
    before = either.files()

    carry_out(either, either.plan(edits=[edit]))

    assert version(either) == "2.0"
    assert (tmp_path / "requirements.txt").read_bytes() == b"left==2.0  # mine\r\n"
    assert undo(str(either.folder), print) == "All is as it was before"
    assert either.files() == before
    assert (tmp_path / "requirements.txt").read_bytes() == b"left==1.0  # mine\r\n"
    with pytest.raises(TargetError, match="nothing can be undone"):
        undo(str(either.folder), print)


@pytest.mark.parametrize(
    ("line", "wrong", "said"),
    [
        ("{line} && exit 3", [], "ended with status 3"),
        ("{line}", ["flask is not what was planned"], "flask is not what was planned"),
        ("rm -r {site}; echo gone > {site}", [], "ended with status"),
        ("echo more >> {site}/mine.pth; mkdir {folder}/share/more; rm {folder}/bin/python; exit 1", [], "ended with"),
    ],
)
def test_what_fails_is_put_back_at_once(patient, line, wrong, said):
    before = patient.files()
    line = line.format(line=patient.line("left==2.0"), site=patient.site, folder=patient.folder)
    if "rm -r" in line:
        line += "; exit 1"

    with pytest.raises(TargetError, match=f"{said}.*[.] All is as it was before"):
        carry_out(patient, patient.plan(line=line), lambda: wrong)

    assert patient.files() == before


#: Stops this process for good at the n-th of what it does to files, or at its end.
KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
import small_environments as small
from envdoctor.remedies.apply import apply, undo
patient = small.Patient.__new__(small.Patient)
patient.__dict__.update({patient!r})
left = {after}
def count(event, _):
    global left
    left -= event in {{"os.link", "os.rename", "os.remove"}}
    if not left:
        left = -1
        os.kill(os.getpid(), signal.SIGKILL)
if {undo}:
    sys.addaudithook(count)
    undo(str(patient.folder), print)
else:
    plan, snapshot = patient.plan(line={line!r}), patient.snapshot()
    sys.addaudithook(count)
    apply(plan, snapshot, list, print)
"""


def program(patient, after=-1, line=None, *, undo=False):
    text = KILLED.format(path=sys.path, patient=vars(patient), after=after, line=line, undo=undo)
    return text.replace("PosixPath(", "__import__('pathlib').Path(").replace(
        "print)", "lambda text: print(text, flush=True))"
    )


def killed(patient, after=-1, line=None, *, undo=False):
    done = run(sys.executable, "-c", program(patient, after, line, undo=undo))
    return done.returncode == -signal.SIGKILL


def test_of_two_at_once_the_second_says_so_and_waits(patient, tmp_path):
    """The plan goes on only when the second program has said that it waits: one that does not would never say so."""
    before, told = patient.files(), tmp_path / "told"
    os.mkfifo(told)
    held = os.open(told, os.O_RDWR)
    line = f"cat {told} && {patient.line('left==2.0')}"

    with started("-c", program(patient, line=line)) as first:
        next(said for said in first.stdout if said.startswith("cat"))
        with started("-m", "envdoctor", "undo", "--python", patient.folder) as second:
            try:
                assert f"waiting for another envdoctor, or an installer that it started, in {patient.folder}" in next(
                    second.stdout
                )
            finally:
                os.close(held)
            assert "All is as it was before" in second.stdout.read()

    assert (first.returncode, second.returncode) == (0, 0)
    assert patient.files() == before, "undone after it was applied, not before, nor at the same time"


def started(*words):
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *words], stdout=pipe, stderr=subprocess.STDOUT, text=True, bufsize=1)


@pytest.mark.parametrize("moved", [0, 1])
def test_a_plan_is_not_carried_out_where_another_one_was_meanwhile(patient, moved):
    """As a second run does that has waited for the first: what that has kept is what undo brings back."""
    before, plan, snapshot = patient.files(), patient.plan(), patient.snapshot()
    carry_out(patient, plan)
    applied = patient.files()

    with pytest.raises(TargetError, match=f"{plan.moves[moved].package} is not what it was when the plan was made"):
        apply(plan.replace(moves=plan.moves[moved:]), snapshot, list, print)

    assert patient.files() == applied
    undo(str(patient.folder), print)
    assert patient.files() == before


@pytest.mark.parametrize("line", ["kill -9 $PPID; {line}", "{line}; kill -9 $PPID", "rm -r {site}; kill -9 $PPID"])
def test_a_killed_run_is_undone_and_its_installer_waited_for(patient, line):
    before = patient.files()

    assert killed(patient, line=line.format(line=patient.line("left==2.0"), site=patient.site))

    if "rm" not in line:
        with pytest.raises(TargetError, match="was interrupted: envdoctor undo"):
            carry_out(patient, patient.plan())
    assert undo(str(patient.folder), print) == "All is as it was before"
    assert patient.files() == before


def test_a_run_that_is_killed_while_it_keeps_things_has_changed_nothing(patient):
    before = patient.files()
    carry_out(patient, patient.plan())
    applied = patient.files()

    assert killed(patient, after=10)

    assert patient.files() == applied
    with pytest.raises(TargetError, match="ended before it changed anything; the same command again"):
        undo(str(patient.folder), print)
    undo(str(patient.folder), print)
    assert patient.files() == before


def test_undo_may_be_killed_too(patient):
    before = patient.files()
    carry_out(patient, patient.plan())

    assert [killed(patient, after=after, undo=True) for after in (3, 5, 8)] == [True] * 3

    undo(str(patient.folder), print)
    assert patient.files() == before


def test_what_came_since_is_not_taken_back_silently(patient):
    before = patient.files()
    carry_out(patient, patient.plan(version="1.0", line="true"))
    patient.install("added==1.0")

    with pytest.raises(TargetError, match=r"other things changed there \(added-1.0.dist-info\)"):
        undo(str(patient.folder), print)
    undo(str(patient.folder), print, consent=True)
    assert patient.files() == before


def test_what_was_written_into_in_place_is_said(patient):
    path = patient.site / "left" / "__init__.py"

    carry_out(patient, patient.plan(line=f"echo more >> {path}"))

    assert f"but {path}, which was written into" in undo(str(patient.folder), print)


def test_a_program_that_runs_there_is_named(patient):
    with subprocess.Popen([patient.python, "-c", "input()"], stdin=subprocess.PIPE) as program:
        with pytest.raises(TargetError, match=rf"\({program.pid}\) runs in .*--yes-really"):
            carry_out(patient, patient.plan())
        carry_out(patient, patient.plan(), consent=True)
        program.stdin.close()


def test_an_environment_in_a_project_keeps_the_projects_files(tmp_path, wheels):
    patient = small.Patient(tmp_path, wheels)
    (patient.folder / "src").mkdir()
    carry_out(patient, Plan(line="true"))
    (patient.folder / "lib" / "mine.txt").write_text("mine")

    undo(str(patient.folder), print)

    assert (patient.folder / "lib" / "mine.txt").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda patient: patient.site.chmod(0o555), "cannot be written to"),
        (lambda patient: (patient.site / "left-1.0.dist-info" / "RECORD").write_text("../../../../odd.txt,,\n"), "odd.txt, which undo"),
        (lambda patient: (patient.folder.parent / "requirements.txt").write_text("other"), "is not what it was when the plan"),
    ],
)  # fmt: skip
def test_what_could_not_be_undone_is_not_begun(patient, spoil, said):
    spoil(patient)
    if said == "cannot be written to" and os.access(patient.site, os.W_OK):
        pytest.skip("root may write everywhere")
    edit = Edit(path=str(patient.folder.parent / "requirements.txt"), before=None, after="left")
    before = patient.files()

    with pytest.raises(TargetError, match=f"nothing was changed: .*{said}"):
        carry_out(patient, patient.plan(edits=[edit]))

    assert patient.files() == before
    assert journal.last(str(patient.folder)) is None


def as_nobody(function, *arguments):
    """What a function has to say against its arguments where a user who owns nothing calls it."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            function(*arguments)
        except BaseException as error:  # noqa: BLE001 - nothing may go back into the tests from here
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, encoding="utf-8") as said:
        return said.read()


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (".", "{folder} cannot be changed: .*Permission denied; nothing was begun"),
        ("lib/python3.*/site-packages", "nothing was changed: {site} cannot be written to"),
        ("lib/python3.*/site-packages/left", "nothing was changed: {site}/left cannot be written to"),
    ],
)
def test_what_somebody_else_owns_is_not_begun(theirs, said, wheels):
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")  # others cannot start one in a home directory
    if os.geteuid() or not python:
        pytest.skip("only root can become somebody else, who needs a Python")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        patient = small.Patient(pathlib.Path(folder), wheels, python)
        snapshot, plan = patient.snapshot(), patient.plan()
        for top, _, names in os.walk(patient.folder):
            for path in (top, *(os.path.join(top, name) for name in names)):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        (kept,) = patient.folder.glob(theirs) if theirs != "." else [patient.folder]
        os.chown(kept, 0, 0)
        before = patient.files()

        told = as_nobody(apply, plan, snapshot, list, list)

        assert re.match(said.format(folder=patient.folder, site=patient.site), told), told
        assert patient.files() == before
        assert journal.last(str(patient.folder)) is None


def test_a_plan_without_a_command_is_not_begun(patient):
    with pytest.raises(TargetError, match="no installer of this environment is known"):
        carry_out(patient, patient.plan().replace(line=None))


def test_only_an_environment_of_this_machine_can_be_changed(tmp_path):
    (tmp_path / "requirements.txt").write_text("left==1.0\n")
    snapshot = doctor.examine("requirements", str(tmp_path / "requirements.txt"), python_version="3.11")

    with pytest.raises(TargetError, match="name one with --python PATH"):
        apply(Plan(line="true"), snapshot, list, print)


def test_the_python_of_the_operating_system_is_left_alone(patient):
    snapshot = patient.snapshot()
    managed = facts_of({("manager", str(patient.folder)): {"tool": "system", "apt": True}}, snapshot.packages)

    with pytest.raises(TargetError, match="the operating system manages"):
        apply(patient.plan(), snapshot.replace(facts=managed), list, print, consent=True)
