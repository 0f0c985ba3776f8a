"""Proves rules by running them: plans trials, builds their environments, judges what came out, and records it."""
