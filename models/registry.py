"""Opens the model that a person names after `--model`.

Models are registered like all parts (`reflex_bench.core.parts`), those of other packages as entry points of the
group `reflex_bench.models`. Each is a function `create(name: str, options: ModelOptions) -> Model`
(`reflex_bench.models.options`), where `name` is what stands behind the entry point's own name: `gpt-4o-mini` in
`openai/gpt-4o-mini`, a directory in `replay:results/first`, "" in `simulated`. A name that is no entry point may be a
provider's: an endpoint that `configs/providers.yaml` knows.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import cast

from reflex_bench.core import parts
from reflex_bench.core.errors import UsageError
from reflex_bench.models.base import Model
from reflex_bench.models.options import ModelOptions

__all__ = ["UNNAMED", "ModelOptions", "open_model"]

UNNAMED = {"simulated": "simulated", "replay": "replay:<run directory>"}
"""How kinds of model are written that take no model name."""


def open_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return the model that a spec names. Nothing is sent yet: `Model.check` does that.

    Args:
        spec: `simulated`, `<provider>/<name>`, `replay:<run directory>`, or `<entry point>/<name>` of another
            package.
        options: how to reach it.

    Raises:
        UsageError: no such model, or its package does not load.
    """
    kind, *rest = re.split("[/:]", spec.strip(), maxsplit=1)
    name = "".join(rest)
    options = options or ModelOptions()
    known, providers = parts.names("models"), options.all_providers()
    if kind not in known and kind in providers:
        from reflex_bench.models.openai.model import open_at

        return open_at(kind, name, options)
    if kind not in known:
        raise _unknown(spec, {*known, *providers})
    return cast(Model, parts.find("models", kind).call(name, options))


def _unknown(spec: str, kinds: Iterable[str]) -> UsageError:
    """Return the error for a spec of an unknown kind: `gpt-4o-mini` and `Qwen/Qwen3-8B` most likely mean `openai/…`."""
    kind, _, name = spec.strip().partition("/")
    near = difflib.get_close_matches(kind, sorted(kinds), n=1, cutoff=0.7)
    if near:
        meant = f"{near[0]}/{name or '<name>'}" if near[0] not in UNNAMED else UNNAMED[near[0]]
    else:
        meant = f"openai/{spec}"
    return UsageError(f"unknown model {spec!r}; did you mean {meant!r}? `reflex models` lists what there is")
