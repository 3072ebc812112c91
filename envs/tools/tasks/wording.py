"""The wording of requests: how they begin and end. What is between is the family's."""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.core.seeded_random import SeededRandom

CUSTOMER_BEGINS = (
    "Hello,",
    "Good morning,",
    "Hi there,",
    "Dear team,",
    "To whom it may concern,",
    "Good day,",
)
CUSTOMER_ENDS = (
    "Thank you!",
    "Thanks in advance.",
    "Kind regards, {name}",
    "{name}",
    "I look forward to your answer.",
)
COLLEAGUE_BEGINS = (
    "Hi,",
    "Hello,",
    "Morning,",
    "One for you:",
    "When you have a minute:",
    "Please take care of this:",
)
COLLEAGUE_ENDS = ("Thanks!", "Thank you.", "Much appreciated.", "Thanks, {name}", "")


def from_customer(rng: SeededRandom, name: str, texts: Sequence[str], **values: object) -> str:
    """Return a customer's message: one of some texts, with a beginning and an end.

    Args:
        rng: that choose.
        name: of the customer.
        texts: of which one is taken, with `{field}` where a value belongs.
        values: of the fields.
    """
    return _message(rng, name, CUSTOMER_BEGINS, CUSTOMER_ENDS, texts, values)


def from_colleague(rng: SeededRandom, name: str, texts: Sequence[str], **values: object) -> str:
    """Return a colleague's message; see `from_customer`."""
    return _message(rng, name, COLLEAGUE_BEGINS, COLLEAGUE_ENDS, texts, values)


def _message(
    rng: SeededRandom,
    name: str,
    begins: Sequence[str],
    ends: Sequence[str],
    texts: Sequence[str],
    values: dict[str, object],
) -> str:
    begin, text, end = rng.pick(begins), rng.pick(texts), rng.pick(ends)
    return f"{begin} {text.format(**values)} {end.format(name=name)}".strip()
