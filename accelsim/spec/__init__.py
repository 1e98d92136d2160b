"""What the user declares: chip, operators, workload, mapping."""
