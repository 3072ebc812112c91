"""The eight families of requests."""

from reflex_bench.envs.tools.tasks.drafts import Family
from reflex_bench.envs.tools.tasks.families.change import CHANGE
from reflex_bench.envs.tools.tasks.families.dispatch import DISPATCH
from reflex_bench.envs.tools.tasks.families.expense import EXPENSE
from reflex_bench.envs.tools.tasks.families.reconcile import RECONCILE
from reflex_bench.envs.tools.tasks.families.refund import REFUND
from reflex_bench.envs.tools.tasks.families.refuse import REFUSE
from reflex_bench.envs.tools.tasks.families.status import STATUS
from reflex_bench.envs.tools.tasks.families.transfer import TRANSFER

FAMILIES: tuple[Family, ...] = (STATUS, REFUND, CHANGE, TRANSFER, DISPATCH, EXPENSE, RECONCILE, REFUSE)

__all__ = ["FAMILIES"]
