"""A directory with one rule and ``envdoctor rules`` in it, which installs from nothing but the files given to it."""

import atexit
import base64
import functools
import glob
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile

from conftest import environment, new_cache, run_envdoctor

PYTHON = "{}.{}".format(*sys.version_info[:2])


def wheel(folder, name, version, text, *requires):
    """A wheel with one module, as the specification of wheels asks."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {line}\n" for line in requires)
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(content)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,"]) + "\n")


def laboratory(tmp_path, links, rule, cache=None, **variables):
    """A function that runs ``envdoctor rules`` with some words; its attributes are the files that it is about.

    A ``cache`` that tests share remembers what trials showed: each is run once.
    """
    cache = cache or tmp_path / "cache"
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "vocabulary.yaml").write_text("families: {}\n")
    told = environment(
        UV_FIND_LINKS=str(links),
        UV_OFFLINE="1",
        ENVDOCTOR_PYTHONS=sys.executable,
        PYENV_ROOT=str(tmp_path / "no-pyenv"),
        UV_PYTHON_INSTALL_DIR=str(tmp_path / "no-uv"),
        PATH=_path(),
        XDG_CACHE_HOME=new_cache(cache),
        **variables,
    )

    def command(*words, **changes):
        return run_envdoctor("rules", *words, cwd=tmp_path, env={**told, **changes})

    command.variables = told
    command.directory = tmp_path
    command.rule = tmp_path / "rules" / f"{rule}.yaml"
    command.proof = tmp_path / "rules" / f"{rule}.proof.json"
    command.cache = cache / "envdoctor"
    return command


@functools.cache
def _path():
    """A PATH without any other Python, which trials would be run with besides; what is beside one stays."""
    folders = []
    for folder in os.environ["PATH"].split(os.pathsep):
        others = {os.path.basename(path) for path in glob.glob(f"{folder}/python3.*[0-9]")} - {f"python{PYTHON}"}
        if others and not folder.endswith("shims"):
            copy = tempfile.mkdtemp()
            atexit.register(shutil.rmtree, copy, ignore_errors=True)
            for name in set(os.listdir(folder)) - others:
                os.symlink(os.path.join(folder, name), os.path.join(copy, name))
            folders.append(copy)
        elif not folder.endswith("shims"):
            folders.append(folder)
    return os.pathsep.join(folders)
