"""The rules about GPUs: side by side with env-doctor on ten trees, and on the real software where there is a GPU.

    python benchmarks/gpu.py compare [--write docs/compared-gpu.md]
    python benchmarks/gpu.py prove

``compare`` lays out the trees of ``tests/gpu_trees.py`` and runs both. env-doctor imports the frameworks and asks
``nvidia-smi``: it is given modules that answer as the tree's wheel would, and a program that answers as its driver would.
What it asks of fixed paths of the machine cannot be laid out so, and is said in the page. ``prove`` installs, on a
machine with an NVIDIA GPU, what each rule calls bad, and the good neighbour of it, and runs both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import tool

from envdoctor import collector

sys.path.insert(0, os.path.join(tool.CHECKOUT, "tests"))
from gpu_trees import HOPPER, SITE, TREES, WSL, laid_out
from interpreters import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OTHER = "env-doctor==0.3.5"
PAGE = """\
# Compared on machines with GPUs

Ten trees, each the files of a machine with an NVIDIA GPU (`tests/gpu_trees.py`): in five something is wrong, five are
healthy. Both tools look at each, {other} through modules and an `nvidia-smi` that answer as the tree's do, since it
imports the frameworks and asks the driver. Made by `python benchmarks/gpu.py compare --write docs/compared-gpu.md`.

| tree | what is wrong | envdoctor | {other} |
|---|---|---|---|
{rows}

envdoctor: {right} of {bad} found, {false} of {healthy} healthy ones flagged. {other}: {other_right} of {other_bad} that it
can be run on found, {other_false} of {other_healthy} healthy ones flagged. What it found rightly and envdoctor did not: {missed}.

- *Not run*: of WSL it looks at `/proc/version`, `/usr/lib/wsl` and `/usr/lib/x86_64-linux-gnu/libnvidia-ml.so` of the
  machine that it runs on. Its source takes a tree with that last file for wrong, and one without `nvidia-smi` on the path.
- It takes a build for a CUDA newer than the one that a driver came with for a conflict, which minor-version compatibility
  is there for, and no package of the vendor changes that; and any torch on Python 3.13.
- No GPU has run these rules yet: they are *reported*. `python benchmarks/gpu.py prove` runs them where there is one.
"""
#: What env-doctor says besides of everything: that something is not there.
ABSENT = (
    "LD_LIBRARY_PATH is unset",
    "NOT installed",
    "not installed",
    "NOT found",
    "not found",
    "No NVIDIA",
    "cannot install",
    "nvcc",
)
_TORCH = """\
from .version import __version__, cuda
from . import version
class backends: pass
class cuda_: pass
import types, sys
sys.modules[__name__ + ".cuda"] = module = types.ModuleType("cuda")
module.get_arch_list = lambda: {kernels}
module.is_available = lambda: True
cuda = module
"""
_SMI = """\
#!/bin/sh
case "$*" in
*query-gpu*) echo "0, {model}, 24576 MiB, {capability}" ;;
*) echo "| NVIDIA-SMI {driver}    Driver Version: {driver}    CUDA Version: 12.0 |" ;;
esac
"""


class Seen(NamedTuple):
    """A tree: its name, what is wrong in it, what envdoctor says, and what the other tool does, if it was run."""

    name: str
    holds: set[str]
    own: set[str]
    other: list[str] | None


def compare(write: str | None) -> None:
    """Both tools on every tree, as a page."""
    with tempfile.TemporaryDirectory() as scratch:
        seen = [Seen(name, tree["holds"], _own(scratch, name), _other(scratch, name)) for name, tree in TREES.items()]
    figures = {**_own_figures(seen), **_other_figures([one for one in seen if one.other is not None])}
    rows = "\n".join(map(_row, seen))
    tool.put(PAGE.format(other=OTHER.replace("==", " "), rows=rows, **figures), write)


def _own_figures(seen: Sequence[Seen]) -> dict[str, int]:
    """How many trees envdoctor is right about, of those with something wrong and of the healthy ones."""
    bad, healthy = _by_state(seen)
    return {
        "right": sum(one.holds == one.own for one in bad),
        "bad": len(bad),
        "false": sum(bool(one.own) for one in healthy),
        "healthy": len(healthy),
    }


def _other_figures(ran: Sequence[Seen]) -> dict[str, int | str]:
    """The same of env-doctor, for the trees that it ran on; and what envdoctor alone missed."""
    bad, healthy = _by_state(ran)
    return {
        "other_right": sum(bool(one.other) for one in bad),
        "other_bad": len(bad),
        "other_false": sum(bool(one.other) for one in healthy),
        "other_healthy": len(healthy),
        "missed": ", ".join(one.name for one in bad if one.other and not one.own) or "nothing",
    }


def _by_state(seen: Sequence[Seen]) -> tuple[list[Seen], list[Seen]]:
    """The trees that hold something wrong, and the healthy ones."""
    return [one for one in seen if one.holds], [one for one in seen if not one.holds]


def _row(one: Seen) -> str:
    said = "not run" if one.other is None else "<br>".join(one.other) or "nothing"
    return f"| {one.name} | {len(one.holds) or 'nothing'} | {'<br>'.join(sorted(one.own)) or 'nothing'} | {said} |"


def _own(scratch: str, name: str) -> set[str]:
    """The rules that envdoctor says hold in a tree, but for those that are for information."""
    root = Path(scratch, str(len(os.listdir(scratch))))
    command = [
        sys.executable,
        "-m",
        "envdoctor",
        "--root",
        str(laid_out(root, name)),
        "--python",
        "/opt/venv/bin/python",
    ]
    done = subprocess.run([*command, "-f", "json"], capture_output=True, text=True, check=False)
    return {one["rule"] for one in json.loads(done.stdout)["findings"] if one["severity"] != "info"}


def _other(scratch: str, name: str) -> list[str] | None:
    """The complaints of env-doctor about a tree; ``None`` where it looks at fixed paths of the machine for it."""
    tree = TREES[name]
    if WSL.items() <= tree["machine"].items():
        return None
    root = Path(scratch, f"other{len(os.listdir(scratch))}")
    minor = ".".join(tree["python"].split(".")[:2])
    site = root / SITE.format(minor).lstrip("/")
    laid_out(root, name)
    library = tree["files"].get("torch/lib/libtorch_python.so", HOPPER.encode())
    listed = re.findall(r"(?:sm|compute)_\d+", library.decode("ascii", "replace"))
    if (site / "torch").exists():
        (site / "torch" / "__init__.py").write_text(_TORCH.format(kernels=listed))
    for other in {"jax", "tensorflow"} & tree["packages"].keys():
        (site / other).mkdir(exist_ok=True)
        (site / other / "__init__.py").write_text(f"__version__ = {tree['packages'][other]!r}\n")
    _smi(root, tree)
    return _complaints(_environment(scratch, minor), site, root / "bin")


def _smi(root: Path, tree: Mapping[str, Mapping[str, str]]) -> None:
    """An ``nvidia-smi`` that answers with the tree's driver and GPU."""
    machine = tree["machine"]
    driver = machine["/proc/driver/nvidia/version"].split()[7]
    model = machine["/proc/driver/nvidia/gpus/0000:01:00.0/information"].splitlines()[0].partition(":")[2].strip()
    program = root / "bin" / "nvidia-smi"
    program.parent.mkdir(exist_ok=True)
    program.write_text(_SMI.format(driver=driver, model=model, capability=tree["capability"]))
    program.chmod(0o755)


def _environment(scratch: str, minor: str) -> str:
    """An environment of a Python with env-doctor in it; its interpreter."""
    prefix = os.path.join(tempfile.gettempdir(), f"env-doctor-{minor}")
    if not os.path.exists(prefix):
        subprocess.run([tool.uv(), "venv", "--quiet", "--python", find(minor) or minor, prefix], check=True)
        subprocess.run([tool.uv(), "pip", "install", "--quiet", "--python", prefix, OTHER], check=True)
    return os.path.join(prefix, "bin", "python")


def _complaints(python: str, site: Path, programs: Path) -> list[str]:
    variables = {**os.environ, "PYTHONPATH": str(site), "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}
    words = [python, "-c", "from env_doctor.cli import check_command; check_command()"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=variables, cwd=site)
    lines = [line.strip() for line in done.stdout.splitlines() if "❌" in line or "⚠️" in line]
    return [line.lstrip("❌⚠️ ") for line in lines if not any(word in line for word in ABSENT)]


# --- on a machine that has one ----------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """What to install, with what it requires, and over that what a rule calls bad, and its good neighbour.

    These come with what they require where they are the ``whole``, and else without, as nothing would install them so.
    ``older`` is a wheel whose libraries stand for those of a system toolkit that ``LD_LIBRARY_PATH`` names. ``needs``
    says of the driver and the compute capability whether they can show it.
    """

    rule: str
    base: Sequence[str]
    bad: Sequence[str]
    good: Sequence[str]
    script: str
    whole: bool = False
    older: str = ""
    needs: Callable[[tuple[int, ...], tuple[int, ...]], bool] = lambda _driver, _gpu: True


_CUDA = "import torch; torch.zeros(1).cuda() + 1"
_CONVOLVE = "import torch; torch.nn.Conv2d(1, 1, 3).cuda()(torch.ones(1, 1, 9, 9).cuda())"
_FLASH = "flash-attn @ https://github.com/Dao-AILab/flash-attention/releases/download/v2.7.4.post1/"
_FLASH += "flash_attn-2.7.4.post1+cu12torch2.6cxx11abi{}-cp311-cp311-linux_x86_64.whl"
_JAX = "import warnings; warnings.simplefilter('error', RuntimeWarning); import jax; jax.numpy.zeros(1) + 1"
_TF = "import tensorflow as tf; tf.nn.conv2d(tf.ones((1, 9, 9, 1)), tf.ones((2, 2, 1, 1)), 1, 'SAME')"
_TORCH26 = ["torch==2.6.0+cu124", "numpy"]
TRIALS = (
    Trial("cpu-build-beside-gpu", ["numpy"], ["torch==2.6.0+cpu"], _TORCH26, _CUDA, whole=True),
    Trial(
        "nvidia-driver-older-than-cuda", ["numpy"], ["torch==2.9.1+cu130"], ["torch==2.9.1+cu126"], _CUDA,
        whole=True, needs=lambda driver, _: driver < (580,),
    ),
    Trial(
        "wheel-lacks-kernels-for-gpu", ["numpy"], ["torch==2.9.1+cu130"], ["torch==2.9.1+cu126"], _CUDA,
        whole=True, needs=lambda driver, gpu: gpu < (7, 5) and driver >= (580,),
    ),
    Trial(
        "wheel-lacks-kernels-for-gpu", ["numpy<2"], ["torch==2.0.1+cu117"], ["torch==2.1.2+cu121"], _CUDA,
        whole=True, needs=lambda _, gpu: gpu[0] == 9,
    ),
    Trial(
        "triton-too-old-for-blackwell-gpu", ["numpy"], ["torch==2.7.1+cu128", "triton==3.2.0"],
        ["torch==2.7.1+cu128", "triton==3.3.1"], "import torch; torch.compile(torch.sin)(torch.ones(9).cuda())",
        whole=True, needs=lambda _, gpu: gpu[0] == 12,
    ),
    Trial(
        "torch-companion-for-other-cuda", _TORCH26, ["torchvision==0.21.0+cu118"], ["torchvision==0.21.0+cu124"],
        "import torchvision",
    ),
    Trial(
        "extension-built-for-other-torch", _TORCH26, ["xformers==0.0.28.post3"], ["xformers==0.0.29.post3"],
        "import torch, xformers.ops as x; x.memory_efficient_attention(*[torch.ones(1, 8, 1, 8).half().cuda()] * 3)",
    ),
    Trial(
        "extension-of-other-torch-abi", [*_TORCH26, "einops"], [_FLASH.format("TRUE")], [_FLASH.format("FALSE")],
        "import torch, flash_attn",
    ),
    Trial(
        "bitsandbytes-without-binary-for-cuda", ["torch==2.8.0+cu129", "numpy"], ["bitsandbytes==0.46.0"],
        ["bitsandbytes==0.48.1"], "import torch, bitsandbytes as b; b.functional.quantize_4bit(torch.ones(64).cuda())",
    ),
    Trial("cuda-libraries-of-two-generations", _TORCH26, ["nvidia-cudnn-cu11==8.9.5.29"], [], _CONVOLVE),
    Trial(
        "jax-plugin-of-other-release", ["jax[cuda12]==0.6.2"], ["jax-cuda12-plugin==0.6.0"],
        ["jax-cuda12-plugin==0.6.2"], _JAX,
    ),
    Trial(
        "tensorflow-built-for-other-cudnn", ["tensorflow[and-cuda]==2.17.1"], ["nvidia-cudnn-cu12==9.1.0.70"],
        ["nvidia-cudnn-cu12==8.9.7.29"], _TF,
    ),
    Trial(
        "older-system-nvjitlink-before-wheel", _TORCH26, [], [], "import torch", older="nvidia-nvjitlink-cu12==12.1.105"
    ),
    Trial(
        "older-system-cudnn-before-wheel", ["tensorflow[and-cuda]==2.17.1"], [], [], _TF,
        older="nvidia-cudnn-cu12==8.5.0.96",
    ),
)  # fmt: skip
_INDEXES = [f"https://download.pytorch.org/whl/{one}" for one in ("cpu", "cu117", "cu118", "cu121", "cu124", "cu126")]
_INDEXES += [f"https://download.pytorch.org/whl/{one}" for one in ("cu128", "cu129", "cu130")]


def prove(only: str | None) -> int:
    """Both sides of each trial that this machine can show; how many were otherwise than its rule says."""
    driver = collector.nvidia_driver()
    if driver is None:
        print("skipped: this machine has no NVIDIA driver, so nothing here runs on a GPU")
        return 0
    words = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    capability = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    machine = tuple(map(int, driver.split("."))), tuple(map(int, capability.split(".")))
    wrong = 0
    for trial in TRIALS:
        if only not in (None, trial.rule):
            continue
        if not trial.needs(*machine):
            print(f"{trial.rule}: skipped, as driver {driver} and compute capability {capability} cannot show it")
            continue
        for is_bad in (True, False):
            failed, found = _tried(trial, is_bad=is_bad)
            wrong += (failed, found) != (is_bad, is_bad)
            print(f"{trial.rule}, {'bad' if is_bad else 'good'}: failed {failed}, found {found}")
    print("not tried: linux-driver-inside-wsl and container-without-nvidia-driver, which are about the whole machine")
    return wrong


def _tried(trial: Trial, *, is_bad: bool) -> tuple[bool, bool]:
    """Whether the script of a trial failed, and whether envdoctor found its rule."""
    with tempfile.TemporaryDirectory() as scratch:
        python = os.path.join(scratch, "venv", "bin", "python")
        subprocess.run(
            [tool.uv(), "venv", "--quiet", "--python", find("3.11") or "3.11", f"{scratch}/venv"], check=True
        )
        extra = [word for one in _INDEXES for word in ("--extra-index-url", one)]
        install = [tool.uv(), "pip", "install", "--quiet", "--index-strategy", "unsafe-best-match", *extra]
        subprocess.run([*install, "--python", python, *trial.base], check=True)
        own = [*(() if trial.whole else ["--no-deps"]), *(trial.bad if is_bad else trial.good)]
        if trial.bad and own[-1:] != ["--no-deps"]:
            subprocess.run([*install, "--python", python, *own], check=True)
        variables = {**os.environ, "LD_LIBRARY_PATH": ""}
        if trial.older and is_bad:
            subprocess.run(
                [*install, "--python", python, "--target", f"{scratch}/older", "--no-deps", trial.older], check=True
            )
            variables["LD_LIBRARY_PATH"] = _toolkit(Path(scratch), trial.older.rpartition("==")[2])
        done = subprocess.run([python, "-c", trial.script], env=variables, check=False, capture_output=True)
        words = [sys.executable, "-m", "envdoctor", "--python", python, "-f", "json"]
        said = subprocess.run(words, env=variables, check=False, capture_output=True, text=True).stdout
        return done.returncode != 0, trial.rule in {one["rule"] for one in json.loads(said)["findings"]}


def _toolkit(scratch: Path, release: str) -> str:
    """The libraries of a wheel, named with the whole release as a toolkit names them, in one directory."""
    folder = scratch / "cuda" / "lib64"
    folder.mkdir(parents=True)
    for path in scratch.glob("older/nvidia/*/lib/*.so.*"):
        name = path.name.partition(".so.")[0]
        whole = f"{name}.so.{'.'.join(release.split('.')[:3])}"
        path.rename(folder / whole)
        (folder / path.name).symlink_to(whole)
    return str(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compare", "prove"))
    parser.add_argument("--write", help="the page to write the comparison to")
    parser.add_argument("--only", help="the rule to prove")
    given = parser.parse_args()
    sys.exit(prove(given.only) if given.what == "prove" else compare(given.write))
