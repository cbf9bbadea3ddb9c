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

    def work() -> None:
        try:
            modes.put_state(state)
            running.follow(outer)
            answer.append(walk(*args))
        except BaseException as error:
            failure.append(error)
        finally:
            modes.put_grad(True)

    thread = threading.Thread(target=work, name="autodiff_kernel: a walk inside others", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)  # (on some systems Ctrl-C is looked at only between two waits)
    except BaseException as error:  # Ctrl-C reaches the main thread, which only waits: tell the others to end
        outer.stop[0] = error
        thread.join()
        raise
    if failure:
        raise failure[0]
    return answer[0]
