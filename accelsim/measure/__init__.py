"""From a timeline to numbers: report, stall tree, cross-check, advice. Sees no machine."""
