import json
import threading
import time
from contextlib import closing

import pytest

from reflex_bench.core.errors import ModelError, RunStopped, UsageError
from reflex_bench.core.jsonl import AppendFile, Syncer, cut_torn_line, read_lines
from reflex_bench.harness.storage.journal import Call, Journal
from reflex_bench.models.base import Reply, Usage

CALL = Call("a1", 1, "react", "task-1", 1, 1, "actor")


def refuse():
    raise AssertionError("the model was called although its answer is written down")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


def ask(path, request, make, tasks=None):
    with closing(Syncer()) as syncer, closing(Journal(path, syncer, tasks)) as journal:
        return journal.reply(CALL, request, 40, make)


def test_an_answered_call_is_answered_from_the_file_and_never_made_again(path):
    reply = Reply("look", Usage(10, 2, 4), "stop", 0.25, 1.5, "m-2026", "fp")
    assert ask(path, "h1", lambda: reply) == reply
    assert ask(path, "h1", refuse, tasks={"task-1"}) == reply


def test_an_empty_answer_is_paid_for_and_never_given_again(path):
    empty = Reply("", Usage(10, 4), "stop", 0.5, reasoning="Hm.")

    def fails():
        failure = ModelError("empty", "empty")
        failure.lost = (empty, empty)
        raise failure

    with pytest.raises(ModelError):
        ask(path, "h1", fails)
    with closing(Journal(path, None, {"task-1"})) as journal:
        assert (journal.taken.tokens, journal.taken.cost) == (28, 1.0)
    # Asked once more by another process, it is answered after one further empty answer.
    reply = Reply("look", Usage(10, 2), "stop", 0.25, lost=(empty,))
    assert ask(path, "h1", lambda: reply, tasks={"task-1"}) == reply
    assert ask(path, "h1", refuse, tasks={"task-1"}) == reply, "its own empty answer goes along, no other"


def test_reasoning_stands_in_the_file_and_comes_back(path):
    usage = Usage(10, 20, None, 15, True)
    reply = Reply("look", usage, reasoning="Hm.", reasoning_form="content", reasoning_data="[]")
    assert ask(path, "h1", lambda: reply) == reply
    assert ask(path, "h1", refuse, tasks={"task-1"}) == reply
    [row] = read_lines(path)
    assert (row["reply"]["reasoning"], row["usage"]["reasoning_tokens"]) == ("Hm.", 15)


def test_a_recorded_answer_to_another_request_is_not_used(path):
    ask(path, "h1", lambda: Reply("look"))
    assert ask(path, "h2", lambda: Reply("other"), tasks={"task-1"}).text == "other"


def test_the_answer_is_in_the_file_before_the_caller_has_it(path):
    ask(path, "h1", lambda: Reply("look"))
    [row] = read_lines(path)
    assert (row["attempt"], row["call"], row["reply"]["text"], row["cost"]) == ("a1", 1, "look", None)


@pytest.mark.parametrize("torn", [b'{"half', b"{", b"12", b"\xff\xfe\x00"])
def test_a_torn_last_line_is_cut_off_and_the_lines_before_it_stay(tmp_path, torn):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}\n' + torn)
    cut_torn_line(path)
    assert [row["n"] for row in read_lines(path)] == [1, 2]


def test_a_last_line_that_lacks_its_end_alone_is_whole(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}')
    assert [row["n"] for row in read_lines(path)] == [1, 2]
    cut_torn_line(path)
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"x" * 200_000)
    cut_torn_line(path)
    assert path.read_bytes() == b""


def test_a_torn_line_longer_than_a_block_is_cut_where_it_begins(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n":1}\n' + b"y" * 200_000)
    cut_torn_line(path)
    assert path.read_bytes() == b'{"n":1}\n'


def test_a_line_that_other_hands_broke_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"n":1}\nnonsense\n{"n":3}\n')
    with pytest.raises(UsageError, match=r"line 2"):
        list(read_lines(path))


def test_many_threads_write_whole_lines(tmp_path):
    file = AppendFile(tmp_path / "x.jsonl")
    threads = [
        threading.Thread(
            target=lambda n=n: [file.append({"n": n, "i": i, "pad": "z" * 3000}) for i in range(50)]
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert sorted((row["n"], row["i"]) for row in rows) == [(n, i) for n in range(8) for i in range(50)]


def test_text_that_is_no_valid_unicode_survives(tmp_path):
    file = AppendFile(tmp_path / "x.jsonl")
    file.append({"text": "a\ud800b\u2028c\x00"})
    file.close()
    assert next(read_lines(tmp_path / "x.jsonl"))["text"] == "a\ud800b\u2028c\x00"


def test_a_full_disk_stops_the_run_and_leaves_whole_lines(tmp_path):
    import resource
    import signal

    file = AppendFile(tmp_path / "x.jsonl")
    file.append({"n": 1})
    # The kernel's own limit on file sizes refuses the write, as a full disk does.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        with pytest.raises(RunStopped, match="cannot write"):
            file.append({"n": "x" * 500})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
        file.close()
    assert (tmp_path / "x.jsonl").read_text() == '{"n":1}\n'


def test_a_disk_that_fails_to_sync_stops_the_run_at_the_next_line(tmp_path):
    with closing(Syncer()) as syncer, closing(AppendFile(tmp_path / "x.jsonl", syncer)) as file:
        file.append({"n": 1})
        syncer.add(10_000)  # a file that is not open: its sync fails as that of a broken disk does
        deadline = time.monotonic() + 10
        while syncer.failure is None and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(RunStopped, match=r"cannot write .*x\.jsonl: "):
            file.append({"n": 2})


def test_files_are_synced_while_others_are_written_and_closed(tmp_path):
    with closing(Syncer()) as syncer:
        for n in range(30):
            with closing(AppendFile(tmp_path / f"{n}.jsonl", syncer)) as file:
                file.append({"n": n})
                time.sleep(0.002)
        assert syncer.failure is None, "no file was closed while it was due"
    assert [list(read_lines(tmp_path / f"{n}.jsonl")) for n in range(30)] == [[{"n": n}] for n in range(30)]


def test_attempts_that_timed_out_count_with_the_prompt_that_each_had_sent(tmp_path):
    journal = Journal(tmp_path / "calls.jsonl")
    late = Reply("late", Usage(100, 10), timeouts=2)
    journal.reply(CALL, "r", 400, lambda: late)
    taken = journal.taken
    assert (taken.tokens, taken.timeouts, taken.lost) == (310, 2, 200)
    journal.close()
    again = Journal(tmp_path / "calls.jsonl", tasks={CALL.task})
    assert (again.taken.timeouts, again.taken.lost) == (2, 200)
    assert again.reply(CALL, "r", 400, lambda: Reply("not asked")) == late
    again.close()
