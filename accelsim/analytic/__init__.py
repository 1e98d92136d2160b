"""The closed form: traffic, bounds and cycles of a case, without walking the nest. Sees only `spec`."""
