"""Simulated player at a question: no language model, but a reader with habits, some of them bad.

It sees the question, the pages that it has opened and its notes from earlier attempts, all of them text in the prompt.
In its first thought it says how it is going to play this time. That thought is the only place where the habits of an
attempt are kept: every later turn reads them back from the transcript, as anyone else can. What its notes say decides
which bad habits it still has, where it goes at once, and which answers it does not give again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reflex_bench.models.simulated.questions_asked import Asked, read_question
from reflex_bench.models.simulated.questions_forms import UNKNOWN, Finding, guess, work_out
from reflex_bench.models.simulated.questions_notes import Notes
from reflex_bench.models.simulated.questions_relations import values
from reflex_bench.models.simulated.questions_trail import Habits
from reflex_bench.models.simulated.questions_view import View, unread
from reflex_bench.models.simulated.questions_words import fold, without_parenthesis

HABITS = {
    "hasty": "The first page will tell me enough.",
    "whole": "I search for the question as it stands.",
    "first_date": "The first date or number that I meet is the one I take.",
    "wordy": "I answer in a full sentence.",
    "unread": "I go by how a page begins.",
    "namesake": "Any page of the right name will do.",
    "reversed": "I do not check which way the two have to be compared.",
    "early": "If something is not found at once I stop.",
}
"""The habits that lose questions, by the sentence in which the player admits to each."""

HEEDED = "This time I go by my notes."
"""How it says that it follows what it wrote down; otherwise it only keeps from answers that were wrong."""

_PATIENCE = 9
"""Turns after which it guesses even if nothing has told it that turns are few."""
_STOP = 2
"""Turns after which a player who stops early has had enough."""
_WEAK_TASKS, _WEAKNESS, _LAPSE, _HEED = 0.9, 0.9, 0.5, 0.25
"""Share of questions with a weak spot; how often it shows there; how often a passing lapse shows anywhere; how often
notes are heeded. Set so that a little under half of the first attempts succeed."""
_UNTIDY = 0.08


@dataclass(frozen=True)
class _Turn:
    thought: str
    verb: str
    argument: str


def turn(view: View, notes: Notes, rng: Random, aloud: bool = True, alone: bool = False) -> str:
    """Return the next turn: a thought and an action.

    Args:
        view: the attempt so far.
        notes: what the memory in the prompt says.
        rng: decides how an attempt is played; only the first turn uses it, or all where nothing is said aloud.
        aloud: whether thoughts are wanted.
        alone: there is no encyclopedia; the answer has to be given now.
    """
    asked = read_question(view.question)
    first = not view.turns
    if view.first_thought:
        habits, heeds = _habits_of(view), HEEDED in view.first_thought
    else:
        habits, heeds = _choose(view, asked, rng), notes != Notes() and rng.random() < _HEED
    notes, habits = (notes, habits - notes.cured) if heeds else (Notes(wrong=notes.wrong), habits)
    step = _answer_now(asked, view, notes, habits) if alone else _next(asked, view, notes, habits)
    thought = f"{_plan(asked, notes, habits, heeds)} {step.thought}" if first else step.thought
    return _written(thought if aloud else "", f"{step.verb}[{step.argument}]", rng)


def _possible(asked: Asked) -> list[str]:
    compares = asked.form in ("choice", "same")
    dated = asked.form == "chain" and asked.kind != "name"
    fitting = {"reversed": asked.form == "choice", "first_date": dated, "namesake": not compares}
    return [habit for habit in HABITS if fitting.get(habit, True)]


def _weak_spot(view: View, asked: Asked) -> str:
    """Return the habit that keeps coming back at this question, "" where there is none; decided by its text."""
    dice = Random(view.question)
    return dice.choice(_possible(asked)) if dice.random() < _WEAK_TASKS else ""


def _choose(view: View, asked: Asked, rng: Random) -> frozenset[str]:
    habits = set()
    if rng.random() < _WEAKNESS:
        habits.add(_weak_spot(view, asked))
    if rng.random() < _LAPSE:
        habits.add(rng.choice(_possible(asked)))
    return frozenset(habits - {""})


def _habits_of(view: View) -> frozenset[str]:
    """Return the habits of an attempt under way, read back from the player's first thought."""
    return frozenset(habit for habit, sentence in HABITS.items() if sentence in view.first_thought)


def _plan(asked: Asked, notes: Notes, habits: frozenset[str], heeds: bool) -> str:
    names = [thing.name for thing in asked.subjects] or ["what the question names"]
    if asked.form == "chain":
        steps = ", then the ".join(relation.name for relation in asked.path)
        parts = [f"I have to find the {steps}, from {names[0]} onwards."]
    elif asked.path and len(names) > 1:
        parts = [f"I have to find the {asked.path[0].name} for {names[0]} and for {names[1]}."]
    else:
        parts = [f"I have to find out about {' and '.join(names[:2])}."]
    parts.extend(HABITS[habit] for habit in HABITS if habit in habits)
    if notes.wrong:
        parts.append(f"My notes rule out {' and '.join(notes.wrong)}.")
    if heeds:
        parts.append(HEEDED)
    return " ".join(parts)


def _next(asked: Asked, view: View, notes: Notes, habits: frozenset[str]) -> _Turn:
    whole = _whole(view) if "whole" in habits else None
    if whole:
        return whole
    finding = work_out(asked, view, notes.hints, _reading(habits))
    answers = _allowed(asked, finding, notes, habits)
    alias = _other_name(asked, view, finding, notes)
    if alias:
        return alias
    if answers:
        return _finish(asked, answers[0], habits, finding.why)
    met = guess(asked, view, notes.hints) if "first_date" in habits and asked.form == "chain" else UNKNOWN
    if met != UNKNOWN:
        return _finish(asked, met, habits, "Here is one")
    if "hasty" in habits and view.pages:
        return _finish(asked, _first_thing(asked, view, notes), habits, "This page tells me enough")
    if "early" in habits and (_trouble(view) or len(view.turns) >= _STOP):
        return _Turn("I have not found it, so I stop here.", "Finish", UNKNOWN)
    limit = min(_PATIENCE, notes.deadline or _PATIENCE) - 1
    if finding.move and len(view.turns) < limit:
        return _Turn(_intention(view, finding), finding.move.verb, finding.move.argument)
    return _finish(asked, guess(asked, view, notes.hints), habits, "I do not find it, so I have to guess")


def _reading(habits: frozenset[str]) -> Habits:
    return Habits("unread" not in habits, "first_date" in habits, "namesake" in habits)


def _whole(view: View) -> _Turn | None:
    """Return the turns of a player who searches for the question.

    Three times in vain, then a title that was offered.
    """
    words = view.question.rstrip("? ").split()
    queries = {
        "I search for all of it.": words,
        "Perhaps without its first words.": words[2:],
        "Perhaps the last part of it is enough.": words[len(words) // 2 :],
    }
    if view.pages:
        return None
    for thought, query in queries.items():
        if query and fold(" ".join(query)) not in view.missed:
            return _Turn(thought, "Search", " ".join(query))
    offered = unread(view, view.missed[fold(view.misses[-1])]) if view.misses else ()
    return _Turn("I take the first title of these.", "Search", offered[0]) if offered else None


def _allowed(asked: Asked, finding: Finding, notes: Notes, habits: frozenset[str]) -> list[str]:
    """Return the answers, turned round by a player who compares the wrong way, without those that notes rule out."""
    answers = list(finding.answers)
    if "reversed" in habits and asked.form == "choice":
        answers.reverse()
    return [answer for answer in answers if fold(answer) not in notes.hints.wrong] or answers


def _other_name(asked: Asked, view: View, finding: Finding, notes: Notes) -> _Turn | None:
    """Return what the page of a name that was no answer calls the thing: the name may be an alias."""
    refuted = [name for trail in finding.trails for name in trail.refuted]
    if asked.form != "chain" or asked.kind != "name" or not refuted or not finding.trails[0].ends:
        return None
    pages = view.named(refuted[0])
    if not pages:
        missed = fold(refuted[0]) in view.missed
        return None if missed else _Turn(f"Perhaps {refuted[0]} has another name.", "Search", refuted[0])
    title = without_parenthesis(pages[0].title)
    if fold(title) in notes.hints.wrong:
        return None
    return _Turn(f"The page of {refuted[0]} is called {title}.", "Finish", title)


def _first_thing(asked: Asked, view: View, notes: Notes) -> str:
    """Return what a hasty player makes of the one page that was read."""
    page = next(iter(view.pages.values()))
    for relation in (asked.path[-1:] if asked.kind != "name" else ()) + asked.path[:1]:
        for thing in values(relation, page.text, page.title):
            if asked.form == "chain" and fold(thing.name) not in notes.hints.wrong:
                return thing.name
    return guess(asked, view, notes.hints)


def _trouble(view: View) -> bool:
    return bool(view.misses) or any(
        total == 0 for page in view.pages.values() for _, total in page.lookups.values()
    )


def _answer_now(asked: Asked, view: View, notes: Notes, habits: frozenset[str]) -> _Turn:
    """Return the answer of a player who cannot search."""
    finding = work_out(asked, view, notes.hints, _reading(habits))
    answers = _allowed(asked, finding, notes, habits)
    answer = answers[0] if answers else guess(asked, view, notes.hints)
    return _finish(asked, answer, habits, finding.why or "I cannot look it up, so I have to guess")


def _intention(view: View, finding: Finding) -> str:
    """Return the thought before a step that is to bring something new."""
    move = finding.move
    if move is None:
        return ""
    wanted = f"the {move.relation.name}" if move.relation and move.relation.cues else "what is asked"
    if move.verb == "Lookup":
        return f"What I have read of {move.about} does not tell {wanted}. I look for the word further down."
    if fold(move.argument) in view.pages:
        return f"I go back to {move.argument}."
    known = finding.why and f"I know that {finding.why}. "
    if fold(move.argument) != fold(move.about):
        return f"{known}There is no single page {move.about}, so I take {move.argument}."
    return f"{known}I need the page {move.argument} for {wanted}."


def _finish(asked: Asked, answer: str, habits: frozenset[str], why: str) -> _Turn:
    thought = f"{why[:1].upper()}{why[1:]}."
    if "wordy" in habits and answer != UNKNOWN:
        answer = _sentence(asked, answer)
    return _Turn(thought, "Finish", answer)


def _sentence(asked: Asked, answer: str) -> str:
    if asked.form == "same":
        return f"{answer.capitalize()}, as far as I can see from the two pages"
    if asked.form == "choice":
        return f"Of the two it is {answer}"
    relation = f"The {asked.path[-1].name}" if asked.path else "The answer to the question"
    return f"{relation} is {answer}"


def _written(thought: str, action: str, rng: Random) -> str:
    """Return the turn as text; now and then as untidily as real models write."""
    said = f"Thought: {thought}\n" if thought else ""
    if rng.random() >= _UNTIDY:
        return f"{said}Action: {action}"
    return said + rng.choice(
        (
            f"**Action:** {action}",
            f"Action 1: {action}",
            action,
            f"Action: {action}.",
            f"Action: {action}\nObservation: That is what I was looking for.",
            f"Action: {action[:1].lower()}{action[1:]}",
            f"```\nAction: {action}\n```",
        )
    )
