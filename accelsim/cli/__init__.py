"""The command line: arguments to calls. The only room that prints or exits."""
