"""Time: who waits for whom, as data (`network`), and the drivers that run it. The only room that knows SimPy."""
