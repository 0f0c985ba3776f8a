"""The rules that are asked: those that came with envdoctor, compiled; packs of others; directories of YAML."""
