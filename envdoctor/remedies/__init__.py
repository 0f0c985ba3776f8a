"""Kinds of cure: what to type in the examined environment, and what it would change."""
