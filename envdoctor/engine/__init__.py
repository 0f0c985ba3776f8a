"""Matches compiled rules against snapshots. Pure: it reads nothing, and knows no YAML and no distribution by name."""
