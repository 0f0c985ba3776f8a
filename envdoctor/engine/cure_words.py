"""The cures of derived findings, by the names that their rows give: a table. Pure.

The words in braces are those of :mod:`~envdoctor.engine.derived_words`.
"""

# ruff: noqa: E501 - a sentence is one row

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Each cure: the kind of remedy, the party that it acts on, a bound for its version, and what it costs or depends on
#: (for ``change``, what to do).
CURES: Mapping[str, tuple[str, str, str, str]] = {
    "upgrade-asker": ("upgrade", "asker", "above", "if a newer release of {name} no longer needs this"),
    "older-asker": ("downgrade", "asker", "below", "if an older release of {name} does not need this yet"),
    "pin-asked": ("pin", "asked", "below-major", "without what newer releases of {name} bring"),
    "upgrade-asked": ("upgrade", "asked", "above", "if a newer release of {name} has what is asked for"),
    "upgrade-caller": ("upgrade", "asked", "above", "if a newer release of {name} calls it as it is now"),
    "pin-raiser": ("pin", "asker", "below-major", "without what newer releases of {name} bring"),
    "install-asked": ("install", "asked", "", "if {name} is what is meant by this import name"),
    "other-release-asked": ("install", "asked", "", "another release may fit: without a version, the newest that does is taken"),
    "reinstall-asked": ("reinstall", "asked", "", "if its files are damaged or mixed"),
    "reinstall-asker": ("reinstall", "asker", "", "if it was built for something else than what is installed"),
    "newer-wheel": ("upgrade", "asker", "above", "if a newer release of {name} has a wheel, or builds"),
    "pin-tool": ("pin", "asked", "tool", "for the build alone"),
    "older-python": ("downgrade", "python", "below", "in a new environment"),
    "newer-python": ("upgrade", "python", "above", "in a new environment"),
    "change-code": ("change", "", "", "in your code, replace {thing} by what this release of {asked} offers"),
    "import-it": ("change", "", "", "import {thing} where it is used"),
    "look-for-shadow": ("change", "", "", "look at the `__file__` of the module that was imported: rename a file or directory of yours that has its name; of two modules that import each other, import one inside the function that uses it"),
    "newer-system": ("change", "", "", "use a newer distribution of the operating system, or its image"),
    "install-library": ("change", "", "", "install the package of the operating system that contains {library}"),
    "install-program": ("change", "", "", "install the package of the operating system that contains {library}, or add its directory to PATH"),
    "install-part": ("change", "", "", "install the package of the operating system that has it (Debian: python3-tk, python3-venv), or build Python again with the headers there (libffi, SQLite, bzip2, OpenSSL, Tk)"),
    "download": ("change", "", "", "run the command that downloads {library} where the environment is made (python -m spacy download, python -m nltk.downloader, playwright install)"),
    "unset-home": ("change", "", "", "unset PYTHONHOME and PYTHONPATH"),
    "new-environment": ("change", "", "", "make the environment anew, with its packages, at the place where it is used"),
    "own-environment": ("change", "", "", "make a virtual environment and install there (python3 -m venv .venv); for programs, pipx or uv tool"),
    "own-user": ("change", "", "", "give the files to the user that runs the program (COPY --chown and USER in a Dockerfile)"),
    "trust": ("change", "", "", "install or upgrade ca-certificates of the system and certifi, and let SSL_CERT_FILE, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE name a file that is there, with the proxy's certificate in it"),
    "reach": ("change", "", "", "check the name, the port and HTTPS_PROXY; a build without network needs its wheels beforehand"),
    "not-daemons": ("change", "", "", "start the workers by concurrent.futures.ProcessPoolExecutor, whose workers may have children, or start no processes in them"),
    "run-as-module": ("change", "", "", "run it from the directory above as `python -m package.module`, or import absolutely"),
    "plain-build": ("change", "", "", "use the build for older processors where there is one (such as polars-lts-cpu), build it from source, or run it on another machine"),
    "install-headers": ("change", "", "", "install the development package of the operating system that contains the header"),
    "install-compiler": ("change", "", "", "install the compiler or tool that the text names"),
    "top-level": ("change", "", "", "define what is sent at the top of a module, and create locks, handles and clients in the worker"),
    "fork": ("change", "", "", "where the platform has it, ask for the start method fork: multiprocessing.set_start_method('fork')"),
    "main-guard": ("change", "", "", "start processes below `if __name__ == '__main__':` only"),
    "spawn": ("change", "", "", "choose the start method spawn where the parent has threads or uses a device: multiprocessing.set_start_method('spawn')"),
    "raise-limit": ("change", "", "", "raise the limit (`ulimit -n`, the container's memory or its --shm-size), or use fewer workers"),
    "other-build": ("change", "", "", "install the build of {consumer} that is made for this device and driver"),
    "set-locale": ("change", "", "", "set LANG or LC_ALL to a UTF-8 locale such as C.UTF-8, and PYTHONUTF8=1"),
    "off-screen": ("change", "", "", "use the build without windows or the off-screen mode of {consumer}, or start a virtual display"),
    "save-again": ("change", "", "", "write the file again with the installed releases, or read it with those that wrote it"),
    "filter-warning": ("change", "", "", "take the warning out of what is raised: an `ignore` line in filterwarnings"),
}  # fmt: skip
