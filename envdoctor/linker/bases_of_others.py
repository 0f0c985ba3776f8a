"""Whether the classes of a module are derived from others, of which this module alone does not say what they have."""

from __future__ import annotations

from envdoctor.linker.standard_library import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.linker.module_record import ModuleRecord


def is_foreign(reader: ModuleRecord, number: int) -> bool:
    """Whether a class is derived from one of another distribution."""
    own = reader.module.partition(".")[0]
    bases = (
        base[0].partition(".")[0] for base in map(reader.base, reader.classes[number][0]) if isinstance(base, list)
    )
    return any(top not in {own, "builtins"} and top not in modules() for top in bases)


def is_changed(reader: ModuleRecord, number: int, name: str) -> bool:
    """Whether a class is derived from one of the standard library that has an attribute in other versions only."""
    for base in map(reader.base, reader.classes[number][0]):
        if isinstance(base, int) and base < number and is_changed(reader, base, name):
            return True
        standard = isinstance(base, list) and base[0].partition(".")[0] in modules()
        if standard and base[0] != "builtins" and reader.keep(base[0], f"{base[1]}.{name}", None):
            return True
    return False
