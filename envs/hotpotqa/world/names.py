"""Names for everything in the invented world, each used once unless it is meant to be shared."""

from __future__ import annotations

from dataclasses import dataclass, field

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.world.world import table

VOWELS = "aeiou"
ENDINGS = "aeio"
TITLE_PATTERNS = (
    "The {adjective} {noun}",
    "The {adjective} {noun}",
    "The {adjective} {noun}",
    "The {trade}'s {kin}",
    "The {trade}'s {kin}",
    "{noun} of {plural}",
    "{a_noun} in {time}",
    "{number} {adjective} {plural}",
    "{opening} the {adjective} {noun}",
    "Letters from {place}",
    "The {trade} of {place}",
    "Elegy for {place}",
    "{place} in {time}",
)


def variant(word: str, rng: SeededRandom) -> str:
    """Return the same word with its last inner or final vowel changed: Ilsa and Ilse, Varden and Vardin."""
    places = [at for at, letter in enumerate(word) if letter in VOWELS]
    if not places:
        return word + "e"
    at = places[-1]
    return word[:at] + rng.pick([vowel for vowel in ENDINGS if vowel != word[at]]) + word[at + 1 :]


def an(phrase: str) -> str:
    """Return the phrase with "a" or "an" before it, as it is spoken: an 1871 novel, a university."""
    first = phrase.split(" ")[0].lower()
    digits = first.replace(",", "")
    if digits.isdigit():
        vowel = digits.startswith("8") or (len(digits) in (2, 5) and digits[:2] in ("11", "18"))
        vowel = vowel or (len(digits) == 4 and digits.startswith("18") and "," not in first)
    else:
        vowel = first[:1] in VOWELS and not first.startswith(("uni", "eu", "use", "one", "uti"))
    return f"{'an' if vowel else 'a'} {phrase}"


@dataclass
class Names:
    """Gives out names. `taken` holds every name and alias that has been given."""

    taken: set[str] = field(default_factory=set)

    def claim(self, name: str) -> bool:
        """Reserves a name; False where it is in use already."""
        if name in self.taken:
            return False
        self.taken.add(name)
        return True

    def coin(self, style: int, part: str, rng: SeededRandom, frame: str = "{}") -> str:
        """Return a new name from the morphemes of a style, set into a frame such as `Lake {}`."""
        starts, middles, ends = table("world")["styles"][style][part]
        for attempt in range(10_000):
            middle = "".join(rng.pick(middles) for _ in range(attempt // 25))
            name = frame.format(join(rng.pick(starts), middle, rng.pick(ends)))
            if self.claim(name):
                return name
        raise AssertionError(f"no name left for {part} of style {style}")

    def river(self, style: int, rng: SeededRandom) -> str:
        """Return a new river, such as `River Vaske`."""
        words = table("world")["styles"][style]["river"]
        for attempt in range(30):
            word = rng.pick(words)
            name = f"River {word if attempt < 10 else variant(word, rng)}"
            if self.claim(name):
                return name
        return self.coin(style, "town", rng, "River {}")

    def choose(self, patterns: list[str], rng: SeededRandom, **parts: str) -> str | None:
        """Return a new name by one of `patterns`, or None where all that were tried are in use."""
        words = table("world")["titles"]
        for pattern in rng.shuffled(patterns) * 3:
            name = pattern.format(
                adjective=rng.pick(words["adjective"]), noun=rng.pick(words["noun"]), **parts
            )
            if self.claim(name):
                return name
        return None

    def work(self, kind: str, place: str, rng: SeededRandom) -> str:
        """Return a title that no other work of this kind has. Works of other kinds may have it."""
        words = table("world")["titles"]
        for attempt in range(10_000):
            picked = {name: rng.pick(choices) for name, choices in words.items()}
            title = rng.pick(TITLE_PATTERNS).format(
                place=place, a_noun="A" + an(picked["noun"])[1:], **picked
            )
            if attempt > 50:
                title += f" {roman(attempt // 50)}"
            if self.claim(f"{kind}: {title}"):
                return title
        raise AssertionError(f"no title left for a {kind}")


def roman(number: int) -> str:
    """Roman numerals from 2 upwards, for second parts: 1 gives II."""
    result, rest = "", number + 1
    for value, sign in ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        result += sign * (rest // value)
        rest %= value
    return result


def join(*parts: str) -> str:
    """Morphemes put together so that no letter stands three times in a row."""
    word = ""
    for part in parts:
        if len(word) > 1 and word[-1] == word[-2] and part.startswith(word[-1]):
            word = word[:-1]
        word += part
    return word
