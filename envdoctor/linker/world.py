"""An environment for the linker: its modules, their summaries, and what they offer."""

from __future__ import annotations

from envdoctor.linker.reach import starting
from envdoctor.linker.resolve import Resolver
from envdoctor.linker.standard_library import Standard
from envdoctor.linker.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.linker.branches import Target
    from envdoctor.linker.module_files import Layout


class World:
    """A layout with everything that answers about it for one target; ``makes`` are makings that no source contains."""

    def __init__(self, layout: Layout, target: Target, makes: Mapping[str, str] = {}) -> None:
        layout.list_modules()
        self.layout = layout
        self.target = target
        self.makes = makes
        self.standard = Standard(target.minor)
        self.store = Store(layout, target, self.standard.matters)
        self.resolver = Resolver(layout, self.store, self.standard)
        self.resolver.starting = starting(layout)
