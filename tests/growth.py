"""How the time of a function grows with its input: a ratio within one run, never seconds."""

import time
from collections.abc import Callable


def grows_linearly(run: Callable[[int], object], length: int) -> bool:
    """Whether eight times the input takes about eight times the CPU time; 64 times would be quadratic.

    Args:
        run: takes the length of the input.
        length: of the shorter one.
    """

    def seconds(size: int) -> float:
        started = time.process_time()
        run(size)
        return time.process_time() - started

    # A busy machine only ever adds time: the quickest of three counts, and one that is quick enough will do.
    bound = 30 * min(seconds(length) for _ in range(3)) + 0.05
    return any(seconds(8 * length) < bound for _ in range(3))
