"""What authors of rules use: linter, trials, skeleton, catalogue, import, packing. Not on the plain path."""
