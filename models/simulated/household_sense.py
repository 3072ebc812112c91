"""Beliefs of the simulated player about households: where things are, and what is taken for what."""

from __future__ import annotations

_FOOD = ("fridge", "countertop", "diningtable", "microwave", "sinkbasin", "stoveburner", "garbagecan")
_DISHES = (
    "countertop",
    "cabinet",
    "diningtable",
    "sinkbasin",
    "shelf",
    "coffeemachine",
    "microwave",
    "fridge",
    "stoveburner",
)
_CUTLERY = ("countertop", "drawer", "diningtable", "sinkbasin", "sidetable")
_STATIONERY = (
    "desk",
    "sidetable",
    "drawer",
    "dresser",
    "shelf",
    "bed",
    "diningtable",
    "coffeetable",
    "sofa",
    "armchair",
)
_BATH = (
    "toilet",
    "countertop",
    "sinkbasin",
    "bathtubbasin",
    "cabinet",
    "shelf",
    "garbagecan",
    "drawer",
    "handtowelholder",
)
_LAMPS = ("desk", "sidetable", "dresser", "shelf", "coffeetable", "diningtable")
_ANY = (
    "countertop",
    "diningtable",
    "desk",
    "sidetable",
    "coffeetable",
    "dresser",
    "shelf",
    "sofa",
    "bed",
    "drawer",
    "cabinet",
)

_LIKELY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("apple", "bread", "egg", "lettuce", "potato", "tomato"), _FOOD),
    **dict.fromkeys(
        ("bowl", "cup", "glassbottle", "kettle", "mug", "pan", "plate", "pot", "winebottle"), _DISHES
    ),
    **dict.fromkeys(("butterknife", "fork", "knife", "ladle", "spatula", "spoon"), _CUTLERY),
    **dict.fromkeys(
        ("alarmclock", "book", "cd", "cellphone", "creditcard", "keychain", "laptop"), _STATIONERY
    ),
    **dict.fromkeys(("pen", "pencil", "remotecontrol", "watch", "newspaper"), _STATIONERY),
    **dict.fromkeys(("cloth", "handtowel", "plunger", "scrubbrush", "soapbar", "soapbottle"), _BATH),
    **dict.fromkeys(("spraybottle", "candle", "tissuebox", "toiletpaper", "toiletpaperroll", "towel"), _BATH),
    **dict.fromkeys(("desklamp", "floorlamp"), _LAMPS),
}

_PAIRS = (
    *(
        "mug cup",
        "knife butterknife",
        "fork spoon",
        "pen pencil",
        "pan pot",
        "bowl plate",
        "saltshaker peppershaker",
    ),
    *("apple tomato", "soapbar soapbottle", "cloth handtowel", "winebottle glassbottle", "spatula ladle"),
    *("cellphone remotecontrol", "keychain creditcard", "vase statue", "newspaper book", "egg potato"),
    *("alarmclock watch", "toiletpaper tissuebox"),
)
LOOKALIKE = {one: other for pair in map(str.split, _PAIRS) for one, other in (pair, reversed(pair))}
"""What a careless player takes for the object asked for."""


def likelihood(object_type: str, place_type: str) -> int:
    """Return the rank of a kind of place in the search for a kind of object; 0 is the likeliest."""
    order = _LIKELY.get(object_type, _ANY)
    return order.index(place_type) if place_type in order else len(order)
