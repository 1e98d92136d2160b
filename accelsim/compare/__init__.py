"""Do others say the same? Published figures and other simulators' results beside ours, a module for each kind of source."""
