"""Version of the package, and of its results: the second changes whenever a simulated number does."""

VERSION = "0.1.0"
RESULTS_VERSION = 4
SCHEMA_VERSION = 1
