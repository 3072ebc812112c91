"""Reads the action out of what a model wrote for ALFWorld.

A turn is one line: a command of the game, or `think: …`, which the game answers with "OK." and which costs a
step (as in ReAct's ALFWorld code, Yao et al., 2023). `give up` is a command that the agent loop knows, not
the game. Which grammar a game speaks (`put … in/on …` or `move … to …`) is not decided here.

`strict` takes the first line that is not empty, if it has exactly that form; it uses only the repairs
`empty_first_line`, `extra_lines` (a line after the first, cut; once for every line) and `cut_invented_observation`.
`repair` also takes the untidy replies of real models and names every liberty; see `reflex_bench.envs.completions` for
the names. Neither guesses: a command consists of words that the model wrote, and what is no command is an error.
`admissible` reads what `repair` reads, and beyond that a near miss that means exactly one of the commands that the game
would accept now.

Errors: `empty`, `no_action` (prose), `unknown_action` (meant as an action, but of no known form), `placeholder` (the
instruction's own `go to RECEPTACLE`), `unclosed_reasoning` (`<think>` never ends: the reply was cut off). Text in
reasoning marks is no thought of the turn: it is not shown to the model again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflex_bench.core.reasoning_marks import REASONING_CLOSES, REASONING_OPENS
from reflex_bench.envs.alfworld.parsing.commands import (
    ACTION_LABEL,
    COMMAND,
    GIVE_UP,
    MAX_LENGTH,
    command_in,
    command_of_call,
    is_placeholder,
    undress,
)
from reflex_bench.envs.alfworld.parsing.grammar import Grammar
from reflex_bench.envs.alfworld.parsing.near_misses import near_miss
from reflex_bench.envs.alfworld.parsing.scan import (
    FENCE,
    OBSERVATION,
    THINK,
    Reading,
    filled_lines,
    in_lines,
    near,
    thoughts_before,
)
from reflex_bench.envs.base import Action, ParsePolicy
from reflex_bench.envs.completions import Cleaned, clean, first_text_call
from reflex_bench.envs.completions.characters import narrow

__all__ = ["GIVE_UP", "ParsePolicy", "read_action"]

_REASONING = re.compile(rf"\s*(?:{REASONING_OPENS})", re.IGNORECASE)
_REASONING_END = re.compile(REASONING_CLOSES, re.IGNORECASE)
_EXACT_THOUGHT = re.compile(r"think: [^\n\r<>\[{`*_:：\\|]+\Z")
# An action in an envelope of its own, wherever it stands.
_ENVELOPE = re.compile(
    r"<[|｜]?(action|act|command|next_action|answer|final_answer|begin_of_solution|response|output)(?:\s[^<>\n]{0,80})?[|｜]?>"
    r"([^<>]{1,400})|\\boxed\{(?:\\text\{)?([^{}\n]{1,200})\}",
    re.IGNORECASE,
)


def read_action(completion: str, policy: ParsePolicy, admissible: Sequence[str] = ()) -> Action:
    """Finds the thought and the command in a completion. Never raises; takes time linear in its length.

    Args:
        completion: what the model wrote.
        policy: see the module.
        admissible: the commands that the game would accept now; only `admissible` looks at them.
    """
    if policy == "strict":
        return _strict(completion)
    if len(completion) <= MAX_LENGTH and completion.isascii():
        if COMMAND.fullmatch(completion) and not admissible:
            command, repairs = command_in(completion)
            if command == completion and not is_placeholder(command):
                return Action("", command, None, tuple(repairs))
        elif _EXACT_THOUGHT.match(completion) and completion[len(THINK) :].strip():
            return Action(completion[len(THINK) :].strip())
    action = _repaired(completion, ())
    if policy != "admissible" or not admissible:
        return action
    if action.command is not None and _accepted(action.command, admissible):
        return action
    if action.command is not None:
        meant = near_miss(action.command, admissible)
        return (
            action if meant is None else Action(action.thought, meant, None, (*action.repairs, "near_miss"))
        )
    second = _repaired(completion, admissible)
    return action if second.command is None else second


def _accepted(command: str, admissible: Sequence[str]) -> bool:
    """Return whether a command can be executed now, in either grammar."""
    spellings = (command, *(Grammar(puts).to_game(command)[0] for puts in (False, True)))
    return command == GIVE_UP or any(spelling in admissible for spelling in spellings)


def _strict(completion: str) -> Action:
    if _REASONING.match(completion) and not _REASONING_END.search(completion):
        return Action(error="unclosed_reasoning")
    lines = [line.strip() for line in completion.splitlines()]
    filled = [line for line in lines if line]
    if not filled:
        return Action(error="empty")
    reading = Reading(repairs=[] if lines[0] else ["empty_first_line"])
    for line in filled[1:]:
        if not FENCE.match(line):
            invented = OBSERVATION.match(line.lstrip("> "))
            reading.repairs.append("cut_invented_observation" if invented else "extra_lines")
    if filled[0].startswith(THINK):
        reading.labelled = True
        reading.thoughts.append(filled[0][len(THINK) :].strip())
        return reading.action(None)
    reading.meant_to_act = True
    return reading.action(
        filled[0] if len(filled[0]) <= MAX_LENGTH and COMMAND.fullmatch(filled[0]) else None
    )


def _repaired(completion: str, near: Sequence[str]) -> Action:
    reply = clean(completion)
    reading = Reading(repairs=reply.repairs, near=near)
    if not any(map(str.isalnum, reply.text)):
        if reply.reasoning.strip():
            return _in_reasoning(reply)
        if not reply.text.strip():
            return Action(
                error="unclosed_reasoning" if reply.unclosed else "empty", repairs=tuple(reply.repairs)
            )
    action = (
        _in_envelope(reply.text, reading) or _in_call(reply.text, reading) or in_lines(reply.text, reading)
    )
    if not reply.unclosed:
        return action
    if action.command is None:
        return Action(error="unclosed_reasoning", repairs=action.repairs)
    return Action(action.thought, action.command, None, (*action.repairs, "trailing_text"))


def _in_reasoning(reply: Cleaned) -> Action:
    """Return the action of a turn that was written inside reasoning marks, with nothing after them.

    Only behind a label.
    """
    lines = [line.strip() for line in reply.reasoning.splitlines() if line.strip()]
    error = "unclosed_reasoning" if reply.unclosed else "empty"
    after_label = False
    for number, line in enumerate(lines):
        plain = narrow(line)
        marked = "action_label" in undress(plain)[1] or "<action" in plain
        command, repairs = command_in(line) if marked or after_label else (None, [])
        last = number == len(lines) - 1
        if (
            command is not None
            and not {"trailing_text", "extra_actions"} & {*repairs}
            and (last or not reply.unclosed)
        ):
            reading = Reading(repairs=[*reply.repairs, "action_in_reasoning", *repairs])
            reading.cut(lines[number + 1 :])
            return reading.action(command)
        label = ACTION_LABEL.match(plain, undress(plain)[0] if not marked else 0)
        after_label = (label is not None and label.end() == len(plain)) or plain.lower() == "<action>"
    return Action(error=error, repairs=tuple(reply.repairs))


def _in_envelope(text: str, reading: Reading) -> Action | None:
    """Return the action in `<action>…</action>`, the like of it, or `\\boxed{…}`."""
    for attempt, envelope in enumerate(_ENVELOPE.finditer(text) if "<" in text or "\\boxed" in text else ()):
        inside = [line.strip() for line in (envelope[2] or envelope[3] or "").splitlines() if line.strip()]
        if attempt >= 8 or not inside:
            continue
        command, repairs = command_in(inside[0])
        if command is None and reading.near and (command := near(inside[0], reading, False)):
            repairs = ["near_miss"]
        if command is not None:
            thoughts_before(text[: envelope.start()], reading)
            reading.repairs.extend(("tag", *(name for name in repairs if name != "tag")))
            reading.cut(
                [
                    *inside[1:],
                    *filled_lines(re.sub(r"</?[|｜]?\w{1,30}[|｜]?>|[}$]", "\n", text[envelope.end() :])),
                ]
            )
            return reading.action(command)
    return None


def _in_call(text: str, reading: Reading) -> Action | None:
    """Return the action in a tool call or a JSON object that was written as text, where no command stands before it."""
    call = first_text_call(text)
    if call is None or (ahead := in_lines(text[: call.start], Reading())).command is not None:
        return None
    command = command_of_call(call.name, call.arguments)
    if command is None and reading.near:
        values = (
            [call.arguments] if isinstance(call.arguments, str) else [str(v) for v in call.arguments.values()]
        )
        spellings = (call.name, *values, " ".join((call.name.replace("_", " "), *values)))
        command = next((meant for one in spellings if (meant := near_miss(one, reading.near))), None)
        reading.repairs.extend(["near_miss"] * (command is not None))
    if command is None:
        reading.meant_to_act = True
        return reading.action(None) if not ahead.command and not call.rest.strip() else None
    thoughts_before(text[: call.start], reading)
    reading.thoughts.append(call.thought.strip())
    reading.repairs.extend(("tool_call", *["extra_actions"] * call.more))
    reading.cut([line for line in filled_lines(call.rest) if not line.startswith(("<", "]"))])
    return reading.action(command)
