"""What a project's source calls, refers to and imports, by qualified name. Nothing is imported or run.

The stdlib's ``ast`` with our own name resolution, rather than a structural-search library: a pattern search sees
``P(2, env)``, while a rule asks what ``P`` and ``env`` are after aliases, assignments and calls of the project's own
functions.

``uses`` answers with ``found``, a list of::

    {"kind": "import" | "name" | "call", "name": "lib.envs.Parallel", "file": "train.py", "line": 12,
     "guarded": False, "text": "Parallel(2, env)", "arguments": [Arg], "keywords": {"name": Arg}, "open": False}

``open`` says that ``*args`` or ``**kwargs`` may add arguments, ``guarded`` that importing the file does not get there.
In a notebook ``line`` is ``None``, ``cell`` the number of the code cell and ``row`` the line in it. An Arg is::

    {"is": ["instance"], "made_by": ["train.MyEnv"], "names": [], "text": "env",
     "carries": [{"name": "socket.socket", "line": 3, "via": "self.socket"}]}

with ``value`` where it is one literal constant, and, for a dictionary, its ``entries`` as Args by key and ``open``
where there may be more. What the code itself provides for is left out: imports in a ``try`` that catches
``ImportError``, references in one that catches ``AttributeError``, both under an ``if`` that asks for a version,
``hasattr`` or ``TYPE_CHECKING`` and after an import that failed, and whatever is used through a name that was bound in
such a place: unless the pattern means something else (``lib`` may be missing, ``lib.save`` is used where it is
not), and of every alternative.
"""

from __future__ import annotations

from envdoctor.probes.source.query import ProjectSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.probes.project.tree import Files
    from envdoctor.probes.source.query import Answer


def uses(project: Files, pattern: str) -> Answer:
    """Every use of a name that matches a dotted glob; ``*`` stays in one segment, ``**`` is any number of them."""
    return _of(project).uses(pattern)


def expect(project: Files, patterns: Sequence[str]) -> None:
    """Scan the files for several patterns at once, before :func:`uses` is called for each."""
    _of(project).expect(patterns)


def _of(project: Files) -> ProjectSource:
    """The scan of a project, kept with it: they refer to each other, and are freed together."""
    scanned: ProjectSource = vars(project).setdefault("_scanned", None) or ProjectSource(project)
    vars(project)["_scanned"] = scanned
    return scanned
