"""A thousand simulated snapshots: time and memory to read, group and judge them.

    python benchmarks/fleet.py [--members 1000]

Each member has 120 distributions with their metadata; one in a hundred has another release, and each reports files of
its own, so that no two documents are the same bytes.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

#: Distributions that rules are about, and as many others as an environment has.
KNOWN = {"flask": "1.1.2", "werkzeug": "2.0.3", "numpy": "1.26.4", "pandas": "2.1.1", "cloudpickle": "2.2.1"}
RUN = "import resource, sys; from envdoctor.cli import main; main(sys.argv[1:]); sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"


def document(number: int) -> str:
    packages = {**KNOWN, **{f"part-{part}": f"1.{part}" for part in range(115)}}
    if number % 100 == 7:
        packages["werkzeug"] = "3.0.1" if number % 200 == 7 else "2.1.0"
    site = f"/opt/node-{number}/lib/python3.11/site-packages"
    places = {
        name: {"location": site, "path": f"{site}/{name}-{version}.dist-info"} for name, version in packages.items()
    }
    requires = {name: [f"part-{part}>=1" for part in range(3)] for name in packages}
    python = {"version": "3.11.7" if number % 250 != 3 else "3.11.8", "implementation": "cpython"}
    return json.dumps(
        {
            "schema": 1, "python": python, "platform": {"system": "linux", "machine": "x86_64"}, "packages": packages,
            "start_method": {"default": "fork"}, "distributions": places, "requirements": requires,
            "tags": {name: ["py3-none-any"] for name in packages}, "system": {"glibc": "2.36", "gpu": None},
        }
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=1000)
    members = parser.parse_args().members
    with tempfile.TemporaryDirectory() as folder:
        for number in range(members):
            with open(os.path.join(folder, f"node-{number:04}.json"), "w", encoding="utf-8") as file:
                file.write(document(number))
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", RUN, "fleet", folder], capture_output=True, text=True, check=True)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print("\n".join(done.stdout.splitlines()[:12]))
    print(f"{members} members: {wall:.1f} s, {processor:.1f} s of processor time, {int(done.stderr) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
