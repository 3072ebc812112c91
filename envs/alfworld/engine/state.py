"""State of a household in play; things, receptacles and locations are numbers, as in `household`."""

from __future__ import annotations


class State:
    """Everything that changes in play.

    Attributes:
        place: where the agent is.
        held: the object in its hand, or None; there is never more than one.
        inside: for each receptacle, what is in it, sorted. A thing may be in two receptacles: some games start so.
        lying: for each location, the objects that the game counts as being there, sorted.
        left: (object, receptacle) for every object taken out of that receptacle and not put back into it.
        opened: the receptacles that are open.
        clean, hot, cool, toggled, sliced: the objects that are so.
    """

    __slots__ = (
        "clean",
        "cool",
        "held",
        "hot",
        "inside",
        "left",
        "lying",
        "opened",
        "place",
        "sliced",
        "toggled",
    )

    def __init__(
        self,
        place: int,
        held: int | None,
        inside: list[tuple[int, ...]],
        lying: list[tuple[int, ...]],
        left: set[tuple[int, int]],
        opened: set[int],
        clean: set[int],
        hot: set[int],
        cool: set[int],
        toggled: set[int],
        sliced: set[int],
    ) -> None:
        self.place = place
        self.held = held
        self.inside = inside
        self.lying = lying
        self.left = left
        self.opened = opened
        self.clean = clean
        self.hot = hot
        self.cool = cool
        self.toggled = toggled
        self.sliced = sliced

    def copy(self) -> State:
        return State(
            self.place,
            self.held,
            self.inside.copy(),
            self.lying.copy(),
            self.left.copy(),
            self.opened.copy(),
            self.clean.copy(),
            self.hot.copy(),
            self.cool.copy(),
            self.toggled.copy(),
            self.sliced.copy(),
        )
