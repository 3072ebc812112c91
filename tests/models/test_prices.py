"""Costs worked out by hand, and unknown wherever anything is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reflex_bench.models.base import Usage
from reflex_bench.models.prices import Prices, price_list


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(1_000_000, 0), 3.0),
        (Usage(0, 1_000_000), 15.0),
        (Usage(1_000_000, 1_000_000, 1_000_000), 15.3),
        (Usage(1000, 100, 250), (750 * 3.0 + 250 * 0.3 + 100 * 15.0) / 1e6),
        (Usage(10, 0, 99), 10 * 0.3 / 1e6),  # a server that counts more cached tokens than there are
        (Usage(0, 0), 0.0),
        (Usage(None, 5), None),
        (Usage(5, None), None),
    ],
)
def test_costs_are_per_million_tokens(usage: Usage, dollars: float | None) -> None:
    cost = Prices(3.0, 15.0, 0.3).cost(usage)
    assert cost == (None if dollars is None else pytest.approx(dollars))


def test_cached_tokens_cost_the_full_price_where_no_other_is_given() -> None:
    assert Prices(2.0, 0.0).cost(Usage(1_000_000, 0, 900_000)) == pytest.approx(2.0)


def test_no_price_is_known_for_a_local_server_or_a_name_that_nobody_sells() -> None:
    assert price_list("gpt-4o-mini", "http://127.0.0.1:8080/v1") is None
    assert price_list("nonesuch-9", "https://api.openai.com/v1") is None


def test_without_the_package_every_price_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "genai_prices.py").write_text("raise ImportError('not here')")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from reflex_bench.models.prices import price_list\n"
        "print(price_list('gpt-4o-mini', 'https://api.openai.com/v1'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "None"


def test_the_published_list_prices_a_sold_model() -> None:
    # OpenAI's price list for gpt-4o-mini: 0.15, 0.60 and, cached, 0.075 dollars per million tokens.
    price = price_list("gpt-4o-mini", "https://api.openai.com/v1")
    assert price is not None
    assert price(Usage(1_000_000, 1_000_000, 0)) == pytest.approx(0.75)
    assert price(Usage(1_000_000, 0, 1_000_000)) == pytest.approx(0.075)
    assert price(Usage(None, 3)) is None


def test_a_model_listed_without_both_prices_is_unknown_and_not_free() -> None:
    assert price_list("text-embedding-3-small", "https://api.openai.com/v1") is None
