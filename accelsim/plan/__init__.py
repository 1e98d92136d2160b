"""The nest walked: tiles, traffic and array steps as the mapping states them; no time here."""
