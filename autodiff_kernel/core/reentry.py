"""Walks inside walks, however deep: a hook or a Function's `backward` may call `backward` itself.

Each takes some frames of Python's stack, of which a thread has about a thousand; so every so many walks the next one
goes on a new thread, while the one that called waits for it.  PyTorch does the same.
"""

import threading
from typing import Any

from . import modes, running

DEEPEST = 30  # walks on one thread, one inside the other
used = running.entered


def run(walk: Any, *args: Any) -> Any:
    """walk(*args), on this thread or on a new one."""
    outer = running.current()
    if outer is None or outer.depth % DEEPEST:
        return walk(*args)
    return elsewhere(outer, walk, args)


def elsewhere(outer: running.Task, walk: Any, args: Any) -> Any:
    """walk(*args) on a new thread, in the modes of this one."""
    state = modes.state()
    answer: list[Any] = []
    failure: list[BaseException] = []
    under_way = threading.Lock()
    under_way.acquire()

    def work() -> None:
        try:
            modes.put_state(state)
            running.follow(outer)
            answer.append(walk(*args))
        except BaseException as error:
            failure.append(error)
        finally:
            modes.put_grad(True)
            under_way.release()

    thread = threading.Thread(target=work, name="autodiff_kernel: a walk inside others", daemon=True)
    thread.start()
    try:
        wait(under_way)
    except BaseException as error:  # Ctrl-C reaches the main thread, which only waits: tell the others to end
        outer.stop[0] = error
        wait(under_way)
        raise
    thread.join()
    if failure:
        raise failure.pop()
    return answer[0]


def wait(under_way: Any) -> None:
    """Wait for a lock.  (On some systems Ctrl-C is looked at only between two waits; and `Thread.join`, once it is
    interrupted, may take a thread for ended that is not.)"""
    while not under_way.acquire(timeout=0.1):
        pass
