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
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            run(size)
            best = min(best, time.process_time() - started)
        return best

    return seconds(8 * length) < 30 * seconds(length) + 0.05
