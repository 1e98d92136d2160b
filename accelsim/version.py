"""Version of the package, and of its results: the second changes whenever a simulated number does."""

__all__ = ["RESULTS_VERSION", "SCHEMA_VERSION", "VERSION"]

try:
    from accelsim._version import VERSION
except ImportError:  # sources that nothing was installed from
    VERSION = "0+sources"

RESULTS_VERSION = 5
SCHEMA_VERSION = 1
