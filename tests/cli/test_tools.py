"""Native tool calls through the chat API, on the loopback server."""

from loopback import MODEL, chat
from reading import rows


def test_hotpotqa_is_played_with_native_tool_calls_and_replayed_from_the_journal(reflex, loopback, tmp_path):
    turns = []

    def call_tools(call):
        turns.append(call.body)
        named, argument = ("Search", "entity") if len(turns) % 2 else ("Finish", "answer")
        native = [
            {
                "id": "1",
                "type": "function",
                "function": {"name": named, "arguments": f'{{"{argument}": "Velm"}}'},
            },
            {"id": "2", "type": "function", "function": {"name": "Lookup", "arguments": '{"keyword": "x"}'}},
        ]
        return chat(None, finish="tool_calls", tool_calls=native)

    loopback.answer = call_tools
    command = (
        "bench",
        "hotpotqa",
        "--tasks",
        2,
        "--trials",
        1,
        "--arms",
        "react",
        "--actions",
        "tools",
        "-q",
        "--max-workers",
        1,
    )
    done = reflex(
        *command,
        "--model",
        f"openai/{MODEL}",
        "--base-url",
        loopback.base_url,
        "--run-id",
        "a",
        "--results",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert {tool["function"]["name"] for tool in turns[0]["tools"]} == {"Search", "Lookup", "Finish"}
    [*recorded] = rows(tmp_path / "a" / "trajectories" / "react.trial-1.jsonl")
    assert [step["action"] for step in recorded[0]["trajectory"]] == ["Search[Velm]", "Finish[Velm]"]
    assert recorded[0]["repair_kinds"] == {"extra_actions": 2}
    again = reflex(*command, "--model", "replay:a", "--run-id", "b", "--results", tmp_path)
    assert again.returncode == 0, again.stderr
    replayed = rows(tmp_path / "b" / "trajectories" / "react.trial-1.jsonl")
    assert [row["trajectory"] for row in replayed] == [row["trajectory"] for row in recorded]


def test_an_environment_without_tools_is_refused_before_anything_is_run(reflex, tmp_path):
    done = reflex("bench", "alfworld", "--actions", "tools", "--results", tmp_path)
    assert done.returncode == 2
    assert "has no native tools" in done.stderr
