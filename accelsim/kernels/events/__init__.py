"""The event loop, compiled: the rules of the run over one flat array of integers."""
