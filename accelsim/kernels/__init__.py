"""Numbers in, numbers out, compiled: the only room that knows numba. It imports nothing of the other rooms."""
