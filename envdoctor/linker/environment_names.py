"""The names that findings give to what is linked."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envdoctor.linker.standard_library import Standard


class Environment:
    """The names in findings: versions of distributions, the Python, and what the system calls libraries."""

    def __init__(
        self,
        versions: Mapping[str, str | None],
        python: str,
        standard: Standard,
        packages_of: Mapping[str, str] | None = None,
    ) -> None:
        self._versions = versions
        self.packages_of = packages_of or {}
        self.python = python
        self.standard = standard

    def named(self, distribution: str) -> str:
        """A distribution with its version; Python for an empty name."""
        if not distribution:
            return f"Python {self.python}"
        return f"{distribution} {self._versions.get(distribution) or ''}".rstrip()

    def installed(self, names: Iterable[str]) -> list[str]:
        """Those of some consumers and providers that are distributions."""
        return [name for name in names if name in self._versions]

    def version(self, distribution: str) -> str:
        """The version of a distribution."""
        return self._versions.get(distribution) or "unknown"
