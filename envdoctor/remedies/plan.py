"""The values of a plan, for who carries it out."""

from __future__ import annotations

from envdoctor.plans import Edit as Edit  # noqa: PLC0414
from envdoctor.plans import Move as Move  # noqa: PLC0414
from envdoctor.plans import Plan as Plan  # noqa: PLC0414
