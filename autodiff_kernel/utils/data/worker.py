"""The workers of a DataLoader: threads, each with its own part of the batches and its own random numbers.

PyTorch has processes.  Threads need nothing that can be pickled (a class from a notebook's cell works) and copy no
data; NumPy and reading files release Python's lock, so they overlap.
"""

import copy
import queue
import threading
import traceback
from collections.abc import Callable
from typing import Any

from ...core import generator as generators
from ...core.errors import explain


class WorkerInfo:
    """What `get_worker_info()` says in a worker: its number `id`, `num_workers`, its `seed`, its copy of `dataset`."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id, self.num_workers, self.seed, self.dataset = id, num_workers, seed, dataset

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in ("id", "num_workers", "seed", "dataset")]
        return f"WorkerInfo({', '.join(parts)})"


_here = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """In a DataLoader's worker: who it is, see WorkerInfo; elsewhere None."""
    return getattr(_here, "info", None)


class Failure:
    """An error on its way from a worker to whoever reads the batches."""

    def __init__(self, error: BaseException, worker: int) -> None:
        self.error, self.worker = error, worker

    def arise(self) -> None:
        """Raise an error of the same type that tells where it comes from."""
        kind = type(self.error)
        notes = " ".join(getattr(self.error, "__notes__", []))
        told = "".join(traceback.format_exception(self.error))
        phrase = f"Caught {kind.__name__} in DataLoader worker process {self.worker}."
        text = "\n".join(part for part in (phrase, notes, f"Original {told}") if part)
        try:
            new = kind(text)
        except Exception:  # a type that wants other arguments
            new = RuntimeError(text)
        raise new from self.error


class Workers:
    """Threads that make batches; `send` gives one of them work, `receive` its next result.

    Each has a queue of its own in both directions, so results come in the order of the work.
    """

    def __init__(
        self,
        count: int,
        dataset: Any,
        make_fetcher: Callable[[Any], Any],
        init: Any,
        seed: int,
        timeout: float,
    ) -> None:
        self.timeout = timeout
        self.work: list[queue.Queue[Any]] = [queue.Queue() for _ in range(count)]
        self.results: list[queue.Queue[Any]] = [queue.Queue() for _ in range(count)]
        self.threads = []
        for i in range(count):
            info = WorkerInfo(i, count, seed + i, replica(dataset))
            thread = threading.Thread(
                target=run, args=(info, make_fetcher, init, self.work[i], self.results[i]), daemon=True
            )
            thread.start()
            self.threads.append(thread)

    def send(self, worker: int, index: Any) -> None:
        self.work[worker].put(("fetch", index))

    def restart(self) -> None:
        """Let every worker begin its dataset anew."""
        for work in self.work:
            work.put(("restart", None))

    def receive(self, worker: int) -> Any:
        """The next result of a worker; RuntimeError after `timeout` seconds (0: wait as long as it takes)."""
        left = self.timeout or float("inf")
        while True:
            try:
                return self.results[worker].get(
                    timeout=min(left, 0.5)
                )  # an interrupt comes between two waits
            except queue.Empty:
                left -= 0.5
                if left <= 0:
                    raise explain(
                        RuntimeError,
                        f"DataLoader timed out after {self.timeout} seconds",
                        cure="give the DataLoader a larger timeout, or see what its dataset waits for.",
                    ) from None

    def stop(self) -> None:
        for work in self.work:
            work.put(None)


def replica(dataset: Any) -> Any:
    """A worker's own dataset: its attributes can be changed without the other workers' noticing; the data are shared."""
    try:
        return copy.copy(dataset)
    except Exception:
        return dataset


def run(info: WorkerInfo, make_fetcher: Callable[[Any], Any], init: Any, work: Any, results: Any) -> None:
    """A worker's life: wait for work, do it, hand over the result."""
    me = threading.get_ident()
    _here.info = info
    generators.of_threads[me] = generators.Generator().manual_seed(info.seed)
    fetcher: Any = None
    failure = None
    try:
        if init is not None:
            init(info.id)
    except BaseException as error:
        failure = error
    try:
        while (task := work.get()) is not None:
            what, index = task
            if what == "restart":
                fetcher = None
                continue
            try:
                if failure is not None:
                    raise failure
                if fetcher is None:
                    fetcher = make_fetcher(info.dataset)
                result = fetcher.fetch(index)
            except BaseException as error:
                result = Failure(error, info.id)
            results.put(result)
            del result
    finally:
        generators.of_threads.pop(me, None)
