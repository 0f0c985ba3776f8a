"""An environment of conda, by conda itself: a plan's line is carried out, and what it did is undone."""

import io
import json
import os
import shutil
import sys
import tarfile

import pytest
from conftest import environment, run, run_envdoctor
from wheel_index import serving, wheel

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(os.name == "nt", reason="runs the lines of a POSIX shell"),
    pytest.mark.skipif(not shutil.which("conda"), reason="no conda on PATH"),
]

RELEASES = {"core": ["1.9", "2.0"], "shop": ["1.0"]}
RULE = {
    "id": "shop-core2", "title": "shop fails", "severity": "error", "impact": "crash", "why": "So.",
    "when": {"packages": {"core": ">=2", "shop": ">=1"}}, "remedies": [{"downgrade": "core<2"}],
    "references": ["https://example.org/1"], "proof": {"script": "import shop", "bad": [], "good": []},
}  # fmt: skip
SITE = "lib/python{}.{}/site-packages".format(*sys.version_info)


def sources(name, version, *, installer=()):
    """The files of a release, as ``installer`` leaves them."""
    info = f"{name}-{version}.dist-info"
    return {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
        **{f"{info}/INSTALLER": one for one in installer},
    }


def channel(folder):
    """A channel of conda with the releases."""
    found = {}
    (folder / "noarch").mkdir(parents=True)
    for name, versions in RELEASES.items():
        for version in versions:
            about = {
                "name": name, "version": version, "build": "0", "build_number": 0, "depends": [], "noarch": "generic",
                "subdir": "noarch",
            }  # fmt: skip
            files = {f"{SITE}/{path}": text for path, text in sources(name, version, installer=["conda"]).items()}
            files |= {"info/files": "".join(f"{path}\n" for path in files), "info/index.json": json.dumps(about)}
            path = folder / "noarch" / f"{name}-{version}-0.tar.bz2"
            with tarfile.open(path, "w:bz2") as archive:
                for member, text in files.items():
                    entry = tarfile.TarInfo(member)
                    entry.size = len(text.encode())
                    archive.addfile(entry, io.BytesIO(text.encode()))
            found[path.name] = {**about, "size": path.stat().st_size}
    for subdir in ("noarch", "linux-64"):
        (folder / subdir).mkdir(exist_ok=True)
        data = {"info": {"subdir": subdir}, "packages": found if subdir == "noarch" else {}, "packages.conda": {}}
        (folder / subdir / "repodata.json").write_text(json.dumps(data))
    return folder


def test_the_line_for_conda_is_carried_out_and_undone(tmp_path, monkeypatch):
    """The environment is one of ``venv`` that is registered with conda, for a channel with Python in it is large."""
    variables = environment(
        CONDA_CHANNELS=channel(tmp_path / "channel").as_uri(), CONDA_OVERRIDE_CHANNELS_ENABLED="true",
        CONDA_PKGS_DIRS=str(tmp_path / "pkgs"), CONDA_SOLVER="classic", CONDARC=os.devnull, HOME=str(tmp_path),
    )  # fmt: skip
    folder = tmp_path / "env"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    (folder / "conda-meta").mkdir()
    (folder / "conda-meta" / "history").touch()
    done = run("conda", "install", "--yes", "--prefix", folder, "core==2.0", "shop", env=variables)
    assert done.returncode == 0, done.stderr
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "shop-core2.yaml").write_text(json.dumps(RULE))
    core = folder / SITE / "core.py"
    files = {
        f"{name}-{version}-py3-none-any.whl": wheel(sources(name, version), name, version)
        for name, versions in RELEASES.items()
        for version in versions
    }
    words = ("--python", folder, "--rules", tmp_path / "rules", "-f", "json")
    with serving(monkeypatch, tmp_path / "cache", files) as server:
        variables["UV_DEFAULT_INDEX"] = f"http://127.0.0.1:{server.server_port}/simple/"
        fixed = run_envdoctor("fix", *words, "--apply", cwd=tmp_path, env=variables)
        plan = json.loads(fixed.stdout)["plan"]

    assert plan["command"] == f"conda install --prefix {folder} core==1.9"
    assert (fixed.returncode, core.read_text()) == (0, "version = '1.9'\n"), fixed.stderr
    assert json.loads(run_envdoctor("check", *words, cwd=tmp_path).stdout)["findings"] == []
    assert run_envdoctor("undo", "--python", folder).returncode == 0
    assert core.read_text() == "version = '2.0'\n"
    listed = json.loads(run("conda", "list", "--json", "--prefix", folder, env=variables).stdout)
    assert {one["name"]: one["version"] for one in listed} == {"core": "2.0", "shop": "1.0"}
