"""What a report looks like: one file a format, one table of formats."""
