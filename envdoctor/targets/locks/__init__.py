"""Lock files, one file per format. Each has ``read(source, stated) -> Contents``."""
