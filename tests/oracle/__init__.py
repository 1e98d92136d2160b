"""An independent, naive reading of the rules of the run, kept to check the product against; never imported by it."""
