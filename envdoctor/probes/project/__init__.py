"""A project's files: what there is, its configuration, and which of its modules hide others. Nothing of it is run."""

from __future__ import annotations

from envdoctor.probes.project.file_facts import Project

__all__ = ["Project"]
