"""Facts read from outside the interpreter: files of an environment, of a root file system, and texts of errors."""
