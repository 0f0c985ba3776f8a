"""What can go wrong, one base per layer. Each message says what was attempted, on what, and what to do next."""

from __future__ import annotations


class EnvdoctorError(Exception):
    """Anything envdoctor reports to the user in one line instead of a traceback."""

    exit_code = 4


class UsageError(EnvdoctorError):
    """The command line asks for something that does not exist."""

    exit_code = 2


class TargetError(EnvdoctorError):
    """A target could not be examined."""

    exit_code = 3


class ProbeError(EnvdoctorError):
    """A file that holds facts could not be read."""

    exit_code = 3


class RuleError(EnvdoctorError):
    """A rule, or the compiled rule base, is not well formed."""

    exit_code = 2


class EngineError(EnvdoctorError):
    """The compiled rules do not fit this version of the engine."""
