"""The official engine in processes of its own: the same text from any thread, and failures that are never text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflex_bench.core.errors import EnvironmentFailure
from reflex_bench.envs.alfworld.engine.game import Game
from reflex_bench.envs.alfworld.generator import GAME_FILE, write
from reflex_bench.envs.alfworld.official.workers import WorkerPool

pytestmark = pytest.mark.official


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small games: an examine task and a put task."""
    folder = tmp_path_factory.mktemp("games")
    entries = sorted(write(0, 5, folder), key=lambda entry: (folder / entry.id / GAME_FILE).stat().st_size)
    return [folder / entry.id / GAME_FILE for entry in entries[:2]]


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=2)
    yield pool
    pool.close()


OTHERS: set[int] = set()
"""Processes that tests of other files have started, and that still run."""


@pytest.fixture(scope="module", autouse=True)
def others() -> None:
    OTHERS.update(children())


def children() -> set[int]:
    """Processes that a test of this file started and that still run."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(entry.parent.name))
    return found - OTHERS


def gone(pid: int, within: float = 20.0) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def test_two_threads_play_two_games_at_once_to_the_letter(
    games: list[Path], pool: WorkerPool, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TW_PDDL_DEBUG", "1")  # the engine then prints a great deal

    def play(path: Path) -> None:
        expected = Game.load(path)
        remote = pool.open(path)
        assert remote.reset().observation == expected.reset().observation
        for command in ("examine desk 99", *json.loads(path.read_bytes())["walkthrough"]):
            answer, wanted = remote.step(command), expected.step(command)
            assert (answer.observation, answer.won, answer.admissible) == wanted[:3]
        assert answer.won
        remote.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(play, games))
    assert capfd.readouterr().out == ""


def test_a_game_that_cannot_be_loaded_is_a_failure_and_its_seat_is_free_again(
    tmp_path: Path, games: list[Path]
) -> None:
    pool = WorkerPool(size=1)
    broken = pool.open(tmp_path / "missing.tw-pddl")
    with pytest.raises(EnvironmentFailure, match=r"FileNotFoundError.*missing\.tw-pddl"):
        broken.reset()
    with pytest.raises(EnvironmentFailure, match="has ended"):
        broken.step("look")
    broken.close()
    broken.close()
    with pytest.raises(EnvironmentFailure, match="closed"):
        broken.step("look")
    whole = pool.open(games[0])
    assert "You are in the middle of a room" in whole.reset().observation
    whole.close()
    pool.close()


@needs_proc
def test_a_worker_that_dies_or_hangs_is_a_failure(games: list[Path]) -> None:
    pool = WorkerPool(size=1, timeout=30)
    game = pool.open(games[0])
    game.reset()
    (worker,) = children()
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(EnvironmentFailure, match="process ended"):
        game.step("look")
    game.close()
    pool.close()
    hasty = WorkerPool(size=1, timeout=0.05)
    game = hasty.open(games[0])
    with pytest.raises(EnvironmentFailure, match=r"no answer in 0\.05 s"):
        game.reset()
    game.close()
    assert children() == set()
    hasty.close()


@needs_proc
def test_workers_are_used_again_and_replaced_after_their_games(games: list[Path]) -> None:
    pool = WorkerPool(size=1, games_per_worker=2)
    seen = []
    for _ in range(3):
        game = pool.open(games[0])
        game.reset()
        seen.append(children())
        game.close()
    assert seen[0] == seen[1]
    assert seen[1] != seen[2]
    pool.close()
    assert children() == set()
    with pytest.raises(EnvironmentFailure, match="closed"):
        pool.open(games[0])


@needs_proc
def test_workers_end_with_a_killed_parent_even_while_they_load(games: list[Path]) -> None:
    program = (
        "import sys, threading, time; from pathlib import Path\n"
        "from reflex_bench.envs.alfworld.official.workers import WorkerPool\n"
        "pool = WorkerPool(2)\n"
        "pool.open(Path(sys.argv[1])).reset()\n"
        "threading.Thread(target=pool.open(Path(sys.argv[1])).reset).start()\n"
        "print('ready', flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(games[0])], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    workers = [
        int(entry.parent.name)
        for entry in Path("/proc").glob("[0-9]*/stat")
        if entry.read_text().rsplit(")", 1)[1].split()[1] == str(parent.pid)
    ]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert len(workers) == 2
    assert all(gone(worker) for worker in workers)
