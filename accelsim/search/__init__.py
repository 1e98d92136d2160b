"""Runs that choose the next run: many mappings estimated at once."""
