"""Nothing of a pack is ever imported: its rules are data."""

raise RuntimeError("envdoctor executed code of a pack")
