"""The side of rules: from YAML to what the engine looks into, the linter, the skeleton. Not on the plain path."""
