"""What a derived finding says and which cures follow, by family and by who is concerned: a table. Pure.

A key is a family, or ``family/variant``, of which the exact one counts before the family. The words in braces:
``asker`` (who asked) and ``asked`` (who should have it) with their versions, ``consumer`` and ``provider`` without,
``thing`` (what is missing), ``said`` (of the text), ``python`` (the version), ``since`` (a version of Python), ``object``,
``library``, ``requirement``, ``name``.
"""

# ruff: noqa: E501 - a sentence is one row

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Words(NamedTuple):
    """One row: the rule's id, the impact, title and reason with braces, the kinds of fact, and the cures."""

    rule: str
    impact: str
    title: str
    why: str
    facts: Sequence[str]
    cures: Sequence[str]


_PAIR = ("required", "upgrade-asker", "pin-asked", "upgrade-asked")
_PYTHON = ("upgrade-asker", "stand-in", "older-python")
_MISSING = ("packages",)

WORDS: Mapping[str, Words] = {
    "missing": Words(
        "derived-missing-name", "crash", "{asked} has no {thing}, which {asker} asks for",
        "The text names what is missing, and the frames name who asked. Either {asked} removed it and {asker} is too "
        "old for it, or it came later than {asked}.", _MISSING, _PAIR,
    ),
    "missing/own": Words(
        "derived-missing-name", "crash", "{asked} has no {thing}, which {asker} asks for",
        "No installed distribution asks for it: the frames end in your own code, which was written for another release "
        "of {provider}.", ("packages", "source"), ("change-code", "required", "pin-asked", "upgrade-asked"),
    ),
    "missing/there": Words(
        "derived-not-found-though-there", "crash", "{thing} is in {asked} as installed, but {asker} did not find it",
        "The file of the installed release contains the name. So another file of that name was imported first, the "
        "import is circular, or the text is from another environment.", ("packages", "module", "source"),
        ("look-for-shadow", "reinstall-asked"),
    ),
    "missing/submodule": Words(
        "derived-submodule-not-imported", "crash", "{asker} uses {thing}, a module that nobody has imported",
        "{thing} is a module of {asked}, and a module is an attribute of its package only once something has imported "
        "it. Older releases imported it themselves.", ("packages", "source"),
        ("import-it", "upgrade-asker", "pin-asked"),
    ),
    "missing/python-without": Words(
        "derived-missing-in-build", "crash", "{python} was built or packaged without {thing}, which {asker} asks for",
        "Every release of Python has it. A system may keep it in a package of its own, and an interpreter that was "
        "compiled where the headers of a library were missing is without what needs that library.",
        ("python", "packages", "system"), ("install-part",),
    ),
    "missing/python-removed": Words(
        "derived-removed-from-python", "crash", "Python {since} removed {thing}, which {asker} asks for",
        "From Python {since} on the standard library is without it: this release of {consumer} was written for an "
        "older Python.", ("packages", "python"), _PYTHON,
    ),
    "missing/python-added": Words(
        "derived-not-yet-in-python", "crash", "{thing} came with Python {since}: {asker} asks {python} for it",
        "This release of {consumer} was written for a newer Python.", ("packages", "python"),
        ("older-asker", "stand-in", "newer-python"),
    ),
    "missing/python": Words(
        "derived-missing-in-python", "crash", "the standard library of {python} has no {thing}, which {asker} asks for",
        "The standard library changes with every minor version of Python, and {asker} was written for another one.",
        ("packages", "python", "module"), ("upgrade-asker", "older-python"),
    ),
    "missing/absent": Words(
        "derived-not-installed", "crash", "{thing} is not installed, and {asker} asks for it",
        "No distribution of the environment provides it. Its import name suggests {provider}.", _MISSING,
        ("required", "install-asked", "upgrade-asker"),
    ),
    "missing/inside": Words(
        "derived-broken-inside", "crash", "{asked} does not find its own {thing}",
        "Nobody but {asked} itself asked for it. So this release does not work on {python}, files of several "
        "releases are mixed, or its installation is incomplete.", ("packages", "python", "module"),
        ("upgrade-asked", "reinstall-asked", "older-python"),
    ),
    "missing/loading": Words(
        "derived-saved-elsewhere", "crash", "a saved file refers to {thing}, which {asked} does not have",
        "The frames read a saved file. It was written with another release of {provider}, where the name was there.",
        ("packages", "artifact"), ("required", "upgrade-asked", "pin-asked"),
    ),
    "missing/unknown": Words(
        "derived-missing-name", "crash", "{asker} asks for {thing}, which is not there",
        "The text does not say whose it is. It may be of a distribution that {asker} uses, in another release than the "
        "one that {asker} was written for.", ("packages", "source", "python"), ("upgrade-asker", "older-asker"),
    ),
    "missing/made": Words(
        "derived-missing-name", "crash", "{asked} gives {asker} an object that has no {thing}",
        "That class does not seem to have had it: {provider} took its objects from elsewhere before.", _MISSING, _PAIR,
    ),
    "missing-file": Words(
        "derived-missing-file", "crash", "{asked} has no file {thing}, which {asker} reads",
        "The path in the message is inside what {provider} installs: it brought that file in another release, in another "
        "form or in another place.", _MISSING, (*_PAIR, "reinstall-asked"),
    ),
    "read-only": Words(
        "derived-read-only", "crash", "{asked} does not let {thing} be set, as {asker} does",
        "It is a property without a setter: where {asker} was written for a release in which it was a plain attribute, "
        "that is another one.", _MISSING, _PAIR,
    ),
    "bases": Words(
        "derived-base-class", "crash", "a class of {asker} is derived from {thing} of {asked} in an order that is not possible",
        "What a class is derived from decides in which order others may be derived from it: it may have changed between "
        "releases of {provider}.", _MISSING, _PAIR,
    ),
    "super": Words(
        "derived-base-class", "crash", "{asked} asks {thing} of the classes beside its own, and those of {asker} end without it",
        "A class of {consumer} is derived from one of {provider}, which calls the next class in order for something that "
        "none has.", _MISSING, _PAIR,
    ),
    "signature": Words(
        "derived-signature", "crash", "{asker} calls {thing} of {asked} with arguments that it does not take",
        "Its parameters differ from those that {asker} was written for: they changed between releases of {provider}.",
        _MISSING, _PAIR,
    ),
    "signature/unknown": Words(
        "derived-signature", "crash", "{asker} calls {thing} with arguments that it does not take",
        "The text does not say whose function it is: one of a distribution that {asker} uses, in another release than "
        "the one that {asker} was written for.", ("packages", "source"), ("upgrade-asker", "older-asker"),
    ),
    "hook": Words(
        "derived-hook", "crash", "{asker} implements the hook {thing}, which {asked} does not have in this form",
        "A plugin's functions must take arguments that the hook has in the installed release: {provider} renamed or removed it.",
        _MISSING, _PAIR,
    ),
    "unmet": Words(
        "derived-unmet-requirement", "crash", "{asker} requires {requirement}, which is not met",
        "The text says so itself: the requirement is in the metadata or in the code of {asker}.",
        ("packages", "installed"), ("require-it", "upgrade-asker"),
    ),
    "stated": Words(
        "derived-stated-by-text", "crash", "{asker} and {asked} do not go together, as the text says: {said}",
        "The failing code checks a version itself and says what it wants.", ("packages", "system"),
        ("upgrade-asked", "upgrade-asker", "pin-asked"),
    ),
    "announced": Words(
        "derived-announced-change", "crash", "{asked} changed what {asker} relies on, as the text says: {said}",
        "The message announces what was removed, moved or split off.", ("packages", "source"),
        ("require-it", "upgrade-asker", "pin-asked"),
    ),
    "voice": Words(
        "derived-own-check", "crash", "{asked} does not take what {asker} gives it: {said}",
        "These are words of {provider} itself, which checks what it is given: what it takes changes between its releases.",
        ("packages", "config", "source"), ("require-it", "pin-asked", "upgrade-asker"),
    ),
    "settings": Words(
        "derived-settings", "crash", "the settings that {asker} reads are not what it takes: {said}",
        "Names and forms of settings change between releases of what reads them: an older file, or one for a newer "
        "release, is refused.", ("config", "packages", "env"), ("upgrade-asker", "older-asker"),
    ),
    "locale": Words(
        "derived-locale", "crash", "the language settings of the machine are not what {asker} expects: {said}",
        "Without a UTF-8 locale, Python before 3.7 reads and writes text as ASCII, and terminal programs refuse to start.",
        ("system", "env", "packages", "python"), ("set-locale",),
    ),
    "abi": Words(
        "derived-binary-interface", "crash", "{asker} was compiled for another release of {provider}",
        "Compiled extensions hold to the binary interface of the release that they were compiled against.",
        _MISSING, ("upgrade-asker", "pin-asked", "reinstall-asker", "upgrade-asked"),
    ),
    "symbol": Words(
        "derived-binary-interface", "crash", "a shared library of {asker} asks for the symbol {thing}, which {asked} does not have",
        "The extension was built for another release of {provider}, or another build of it.", ("packages", "library"),
        ("upgrade-asker", "pin-asked", "reinstall-asker", "upgrade-asked"),
    ),
    "libc": Words(
        "derived-system-too-old", "crash", "{asker} was built for {thing}, which is newer than the C libraries of this machine",
        "The dynamic loader found an older library than the one that the wheel was linked against.",
        ("packages", "system", "library"), ("older-asker", "newer-system"),
    ),
    "library": Words(
        "derived-system-library", "crash", "{asker} needs the shared library {library}, which could not be loaded",
        "The library belongs to the system, or to another distribution, and no wheel of {consumer} brings it.",
        ("packages", "system", "library", "module"), ("install-library", "reinstall-asker"),
    ),
    "program": Words(
        "derived-missing-program", "crash", "{asker} runs the program {library}, which was not found",
        "The program belongs to the operating system, and no wheel of {consumer} brings it. A program is found in the "
        "directories of PATH only.", ("packages", "program"), ("install-program",),
    ),
    "data": Words(
        "derived-missing-data", "crash", "{asker} needs the data {library}, which were not downloaded",
        "Models, corpora and browsers come in no wheel: what installs them is a command of its own, which an image or "
        "another machine has to run too.", ("packages", "file", "env"), ("download",),
    ),
    "part": Words(
        "derived-missing-in-build", "crash", "{python} was built or packaged without a part of it: {said}",
        "A system may keep it in a package of its own, and an interpreter that was compiled where the headers of a "
        "library were missing is without what needs that library.", ("python", "system"), ("install-part",),
    ),
    "python-home": Words(
        "derived-python-home", "crash", "the interpreter does not find its own library: {said}",
        "PYTHONHOME or PYTHONPATH names the files of another Python, or what the environment was made from has been "
        "moved or removed.", ("env", "python", "module"), ("unset-home", "new-environment"),
    ),
    "moved-environment": Words(
        "derived-moved-environment", "crash", "a script begins with the path of an interpreter that is not there: {said}",
        "The scripts of an environment name its interpreter by its full path: who moves or copies the environment, or "
        "removes the Python that it was made from, breaks them.", ("python", "file", "env"), ("new-environment",),
    ),
    "managed": Words(
        "derived-managed-by-system", "install-failure", "the operating system manages this Python, and pip leaves it alone",
        "Since PEP 668 a system may mark its Python, so that nothing but its own packages changes it.",
        ("python", "system", "packages"), ("own-environment",),
    ),
    "permission": Words(
        "derived-permission", "crash", "{asker} may not write or read what it needs: {said}",
        "The files belong to another user: an environment of the system's or root's, a volume, or a container that "
        "runs as another user than the one that installed.", ("system", "env", "packages"), ("own-environment", "own-user"),
    ),
    "certificates": Words(
        "derived-certificates", "crash", "{asker} does not trust the certificate of a server: {said}",
        "Certificates come from certifi, from the system or from the file that a variable names. An old image, a proxy "
        "that signs anew, or a path that is of another machine lacks the right one.",
        ("env", "system", "packages"), ("trust",),
    ),
    "network": Words(
        "derived-network", "crash", "a server was not reached: {said}",
        "The name was not resolved, nobody answered, or a proxy is needed. It is no matter of releases.",
        ("env", "system"), ("reach",),
    ),
    "daemonic": Words(
        "derived-start-method", "crash", "{asker} starts processes from a worker that may have none of its own",
        "The workers of multiprocessing.Pool are daemons, which cannot have children.",
        ("start_method", "source", "packages"), ("not-daemons",),
    ),
    "script": Words(
        "derived-run-as-script", "crash", "a file of a package was run as a script: {said}",
        "A file that is run by its path belongs to no package, so that its relative imports lead nowhere.",
        ("source", "module"), ("run-as-module",),
    ),
    "processor": Words(
        "derived-processor", "crash", "a compiled module of {asker} uses instructions that this processor does not have: {said}",
        "Wheels may be built for newer processors (AVX, AVX2) than that of the machine, or that an emulator shows.",
        ("system", "platform", "packages"), ("plain-build", "older-asker"),
    ),
    "program/unknown": Words(
        "derived-missing-program", "crash", "the program {library} was not found",
        "A program is found in the directories of PATH only.", ("packages", "program"), ("install-program",),
    ),
    "architecture": Words(
        "derived-architecture", "crash", "{asker} was built for another processor than this interpreter",
        "The wheel and the interpreter are of different architectures.", ("packages", "platform", "tags", "system"),
        ("reinstall-asker",),
    ),
    "pickle": Words(
        "derived-not-picklable", "crash", "{object} cannot be pickled, which {asker} needs to send or to save it",
        "What goes to another process or into a file must be pickled: a lambda, a local function, a lock, a handle or "
        "an open file cannot be. With the start methods spawn and forkserver (the default on Windows and macOS, and "
        "on Linux from Python 3.14 on) this concerns whatever a process is started with.",
        ("start_method", "source", "packages", "platform", "python"), ("top-level", "fork"),
    ),
    "start-method": Words(
        "derived-start-method", "crash", "{asker} starts processes in a way that does not go together with what runs: {said}",
        "How a child process is started (fork, spawn, forkserver) decides what it inherits: threads, devices and open "
        "handles do not survive a fork, and a module that starts processes must not do so when it is imported.",
        ("start_method", "source", "packages", "platform"), ("main-guard", "spawn"),
    ),
    "resources": Words(
        "derived-resources", "crash", "the machine or its limits ran out of something that {asker} needs: {said}",
        "Open files, shared memory and memory are limited for each process and for each container.",
        ("system", "packages", "env"), ("raise-limit",),
    ),
    "device": Words(
        "derived-device", "crash", "the build of {asker} and the device or its driver do not fit: {said}",
        "Wheels are built for certain devices and drivers, and others of the same release for others.",
        ("system", "packages", "env", "platform"), ("other-build", "upgrade-asker"),
    ),
    "display": Words(
        "derived-display", "crash", "{asker} needs a display or a graphics library that is not there: {said}",
        "On a machine without a screen, a build without windows or an off-screen mode is needed.",
        ("system", "env", "config", "packages"), ("off-screen",),
    ),
    "saved": Words(
        "derived-saved-elsewhere", "crash", "a saved file does not fit {asked}: {said}",
        "It was written by another release, or where other names were defined.", ("artifact", "packages", "source"),
        ("save-again", "pin-asked", "upgrade-asked"),
    ),
    "descriptor": Words(
        "derived-python-internals", "crash", "{asker} relies on something that {python} does differently",
        "The message is of Python's own machinery (classes, code objects, annotations), which changes with its minor "
        "versions.", ("packages", "python"), ("upgrade-asker", "older-python"),
    ),
    "syntax": Words(
        "derived-syntax", "crash", "{asker} is not written in the grammar of {python}",
        "An installed file that does not compile was written for another version: for Python 2, for one in which "
        "a later keyword was still a name, or for a newer one.", ("packages", "python", "source"),
        ("upgrade-asker", "older-asker"),
    ),
    "newer-python": Words(
        "derived-not-yet-in-python", "crash", "{asker} was written for a newer Python: {said}",
        "Built-in types and the grammar of types grew with Python 3.9, 3.10 and later.", ("packages", "python", "source"),
        ("older-asker", "newer-python"),
    ),
    "python2": Words(
        "derived-python-2", "crash", "{asker} was written for Python 2: {said}",
        "Python 3 has no such name, and never had.", ("packages", "python", "source"), ("upgrade-asker",),
    ),
    "shadowed": Words(
        "derived-shadowed", "crash", "a file of yours hides the module that {asker} asks for: {said}",
        "Python imports from the directory of the program first.", ("module", "source", "packages"), ("look-for-shadow",),
    ),
    "circular": Words(
        "derived-shadowed", "crash", "{thing} was used before its import had ended",
        "Two modules import each other, or a file of yours has the name of a module and is imported in its place.",
        ("module", "source", "packages", "python"), ("look-for-shadow", "upgrade-asker"),
    ),
    "requires-python": Words(
        "derived-no-release-fits", "install-failure", "this release of {provider} does not support {python}",
        "Its metadata says which versions it supports.", ("packages", "python"), ("other-release-asked", "fitting-python"),
    ),
    "no-wheel": Words(
        "derived-no-release-fits", "install-failure", "no release of {provider} that was asked for fits this Python and machine",
        "The index has no file for this version of Python, platform and C library, or the version or name does not "
        "exist there.", ("packages", "python", "platform", "system", "marker", "tags"),
        ("other-release-asked", "older-python"),
    ),
    "build": Words(
        "derived-build-failed", "install-failure", "{asker} could not be built from source on {python}",
        "There was no wheel that fits, so that the installer built it. {also}", ("packages", "python", "system", "platform"),
        ("newer-wheel", "pin-tool", "older-python"),
    ),
    "setup": Words(
        "derived-build-failed", "install-failure", "the setup of {asker} is not valid for the installed {asked}: {said}",
        "Newer build tools no longer take what old setup files contain.", ("packages", "python", "config"),
        ("newer-wheel", "pin-tool"),
    ),
    "compile": Words(
        "derived-build-failed", "install-failure", "{asker} could not be compiled: {said}",
        "What the source asks for is not in the headers that it was compiled with: those of {python}, of a "
        "dependency or of the system.", ("packages", "python", "system"), ("newer-wheel", "older-python", "install-headers"),
    ),
    "compiler": Words(
        "derived-no-compiler", "install-failure", "{asker} could not be compiled, as the machine lacks a tool: {said}",
        "There was no wheel that fits, so that the installer built it from source.",
        ("packages", "python", "system", "platform"), ("newer-wheel", "older-python", "install-compiler"),
    ),
    "warning": Words(
        "derived-warning", "crash", "a warning in {asker} was raised as an error: {said}",
        "Warnings become errors where `-W error` or a test runner's `filterwarnings` says so. {also}",
        ("packages", "config", "python"), ("upgrade-caller", "pin-raiser", "filter-warning"),
    ),
    "crash": Words(
        "derived-crash", "crash", "the process was ended by a signal in {asker}: {said}",
        "Compiled code failed, or the machine ended the process: another processor than the wheel was built for, two "
        "copies of a library, or too little memory.", ("packages", "system", "platform"),
        ("reinstall-asker", "upgrade-asker"),
    ),
    "frames/unknown": Words(
        "derived-raised-in", "crash", "the failure was raised in {asker}: {said}",
        "No family of messages knows it, and no other distribution is in sight: it may as well be of how {consumer} was called.",
        ("packages", "source"), (),
    ),
    "frames/python": Words(
        "derived-raised-in", "crash", "the failure was raised in the standard library of {python}, which {asker} calls: {said}",
        "What it takes changes with the minor versions of Python; it may as well be of what it was given.",
        ("python", "source"), (),
    ),
    "frames": Words(
        "derived-raised-in", "crash", "the failure was raised in {asker}: {said}",
        "No family of messages knows it. The innermost frames are of what is named here. {also}",
        ("packages", "source"), ("upgrade-caller", "pin-raiser", "upgrade-asker"),
    ),
}  # fmt: skip
