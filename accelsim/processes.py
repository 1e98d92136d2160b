"""Operators simulated one after another, or over several processes: the same timelines either way."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait as wait_for
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelsim.drivers import Running
from accelsim.errors import LimitExceeded
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.timeline import Timeline

MOST_PROCESSES = 61
"""As many as one process can wait for on every system (Windows has this limit)."""

ENDS = (signal.SIGINT, signal.SIGTERM)
"""What asks a process to end."""

POLL_S = 0.2
"""How often the progress of workers is looked at, in seconds."""

Progress = Callable[[str, int, int], None]
"""Told (operator, steps done, steps expected) now and then."""


@dataclass(frozen=True)
class Task:
    """One operator to simulate. ``steps``: as many as its estimate expects; it orders the work and says how far it is."""

    name: str
    case: Case
    steps: int


def simulate_all(tasks: Sequence[Task], record: RecordOptions, running: Running, jobs: int, progress: Progress | None,
                 ) -> list[Timeline]:
    """A timeline for each task, in their order and the same whatever ``jobs`` is.

    ``jobs``: at most so many worker processes, each simulating one operator at a time; 1 simulates here. ``progress``
    is told of each operator in turn here, and of all of them together with workers. Raises what the first task (in
    their order) that failed raised, and LimitExceeded when a worker is killed from outside.
    """
    jobs = min(jobs, len(tasks), MOST_PROCESSES)
    if jobs > 1:
        return _over_processes(tasks, record, running, jobs, progress)
    return [_simulate(task, record, running, None if progress is None else partial(_tell, progress, task)) for task in tasks]


def _simulate(task: Task, record: RecordOptions, running: Running, told: Callable[[int], None] | None) -> Timeline:
    from accelsim.machine.simulate import simulate  # brings the compiler along, which estimates and reports do without
    from accelsim.plan.schedule import Schedule
    return simulate(Schedule(task.case), record, told, running)


def _tell(progress: Progress, task: Task, done: int) -> None:
    progress(task.name, done, task.steps)


def _over_processes(tasks: Sequence[Task], record: RecordOptions, running: Running, jobs: int, progress: Progress | None,
                    ) -> list[Timeline]:
    import accelsim.machine.simulate  # noqa: F401  compiled here once, and loaded by all workers
    largest_first = sorted(range(len(tasks)), key=lambda i: (-tasks[i].steps, i))
    try:
        with scratch_folder() as folder, _workers(jobs) as pool:
            board = None if progress is None else Board.make(folder / "steps", len(tasks))
            with no_interrupts():
                begun = {i: pool.submit(_work, tasks[i], record, running, board, i) for i in largest_first}
            futures = [begun[i] for i in range(len(tasks))]
            if progress is not None and board is not None:
                _follow(futures, tasks, board, partial(progress, f"{len(tasks)} operators, {jobs} at a time"))
            return [future.result() for future in futures]
    except BrokenProcessPool:
        raise LimitExceeded("a worker process ended before its work was done. Was memory short? Then run with fewer --jobs. "
                            "A Python script must ask for jobs under `if __name__ == \"__main__\":`") from None


def _follow(futures: Sequence[Future[Timeline]], tasks: Sequence[Task], board: Board,
            told: Callable[[int, int], None]) -> None:
    """Tell how far all tasks together are until the last is done or one has failed."""
    unfinished, expected = set(futures), sum(task.steps for task in tasks)
    while unfinished:
        finished, unfinished = wait(unfinished, timeout=POLL_S, return_when=FIRST_COMPLETED)
        if any(future.exception() is not None for future in finished):
            return
        told(sum(task.steps if future.done() else min(int(steps), task.steps)
                 for future, task, steps in zip(futures, tasks, board.read(), strict=True)), expected)


@dataclass(frozen=True)
class Board:
    """Where workers write how many steps of each task are done: a file of one number a task, mapped into all of them."""

    path: Path
    tasks: int

    @staticmethod
    def make(path: Path, tasks: int) -> Board:
        """An empty board; the file must not exist."""
        path.write_bytes(bytes(8 * tasks))
        return Board(path, tasks)

    def read(self) -> NDArray[np.int64]:
        """Steps done, for each task."""
        # by Python alone: an interruption inside numpy's own reading of a file would come out as an error of its own
        return np.frombuffer(self.path.read_bytes(), dtype=np.int64, count=self.tasks)

    def writer(self, task: int) -> Callable[[int], None]:
        """What a worker calls with the number of steps of its task that are done."""
        steps: np.memmap[Any, np.dtype[np.int64]] = np.memmap(self.path, dtype=np.int64, mode="r+", shape=(self.tasks,))
        return partial(steps.__setitem__, task)


def _work(task: Task, record: RecordOptions, running: Running, board: Board | None, number: int) -> Timeline:
    return _simulate(task, record, running, None if board is None else board.writer(number))


# -- worker processes -------------------------------------------------------------------------------------------------


class _Context(SpawnContext):
    """Starts fresh interpreters (nothing of this process is copied into them) and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *arguments: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        worker = SpawnProcess(*arguments, **options)
        self.started.append(worker)
        return worker


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that ends with the block; whatever ends the block early kills the workers at once."""
    context = _Context()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_serve)
    try:
        yield pool
    except BaseException:
        for worker in context.started:
            if worker.pid is not None:  # it got as far as to start
                worker.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _serve() -> None:
    """In a worker: Ctrl-C is the parent's to handle, and a worker does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    signal.raise_signal(signal.SIGTERM)


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Processes are started with Ctrl-C and requests to end put off: none is left half started, or dies noisily before it
    can ignore them.

    The mask is what they inherit; here another thread may be given the signal, so its handler waits too.
    """
    caught: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.signal(number, lambda told, _: caught.append(told)) for number in ENDS} if in_main else {}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS) if sys.platform != "win32" else set()
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the block alone, gone after it: made and removed with requests to end put off, so that none is left behind."""
    with no_interrupts():
        made = tempfile.TemporaryDirectory(prefix="accelsim-", ignore_cleanup_errors=True)
    try:
        yield Path(made.name)
    finally:
        with no_interrupts():
            made.cleanup()
