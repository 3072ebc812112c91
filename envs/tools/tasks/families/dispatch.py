"""Give a work order to somebody: certificates that are lacking, that have run out, and people who are busy."""

from __future__ import annotations

from reflex_bench.envs.tools.tasks.drafts import Draft, Family, changed, hand_over, respond, rows, step
from reflex_bench.envs.tools.tasks.scene import DAY, SKILLS, Person, Scene
from reflex_bench.envs.tools.tasks.wording import from_colleague

ANYBODY = (
    "please give {order} to somebody who may do it, and tell me the number of the worker.",
    "{order} needs a worker. Who gets it? I need the worker's number.",
    "find somebody for {order} and hand it out. Which worker is it?",
)
WISHED = (
    "please give {order} to {wished}, or if that is not possible to somebody who may do it. Tell "
    "me the worker's number.",
    "I would like {wished} ({id}) to do {order}. If the rules do not allow that, take another "
    "one, and tell me whom.",
    "{order} is for {wished} if there is no reason against it, otherwise for somebody else. I "
    "need the worker's number.",
)


def _hall(scene: Scene, *, fits: bool) -> tuple[str, str, Person, Person]:
    """Make a work order and workers, one of whom fits at most.

    Returns:
        Work order, skill, one whose certificate runs out before the work is due, and the one who fits.
    """
    rng = scene.rng
    skills = rng.shuffled(SKILLS)
    skill, due = skills[0], rng.between(3, 12) * DAY
    order = scene.id("WO")
    scene.add("work_orders", work_order_id=order, skill=skill, due=due, status="open", worker_id="")
    scene.add(
        "work_orders", work_order_id=scene.id("WO"), skill=skills[1], due=due, status="open", worker_id=""
    )
    makers = rng.shuffled(("run_out", "too_short", "busy", "other", *(("fits",) if fits else ())))
    valid, found = due + rng.between(20, 300) * DAY, {}
    certificates = {
        "run_out": {skill: -rng.between(3, 90) * DAY, skills[1]: valid},
        "too_short": {skill: due - 2 * DAY},
        "busy": {skill: valid},
        "other": {skills[1]: valid, skills[2]: valid},
        "fits": {skill: valid, skills[3]: valid},
    }
    for name in makers:
        found[name] = scene.worker(certificates[name], busy=name == "busy")
    return order, skill, found["too_short"], found.get("fits", found["busy"])


def _given(scene: Scene, order: str, skill: str, worker: Person, message: str) -> Draft:
    return Draft(
        message=message,
        plan=(
            step("tool_work_orders_v1", work_order_id=order),
            step("tool_policies_v1", query="work order certificate"),
            step("tool_workers_v1", skill=skill),
            step("tool_dispatch_v2", "tool_work_orders_v1", work_order_id=order, worker_id=worker.id),
            respond("It is given out.", worker_id=worker.id),
        ),
        facts={"worker_id": worker.id},
        required=rows(
            changed("work_orders", {"work_order_id": order}, status="dispatched", worker_id=worker.id)
        ),
    )


def anybody(scene: Scene) -> Draft:
    """Exactly one worker fits."""
    order, skill, _, worker = _hall(scene, fits=True)
    return _given(scene, order, skill, worker, from_colleague(scene.rng, scene.name(), ANYBODY, order=order))


def wished(scene: Scene) -> Draft:
    """The one who is asked for has a certificate that runs out too early."""
    order, skill, short, worker = _hall(scene, fits=True)
    values = {"order": order, "wished": short.name, "id": short.id}
    return _given(scene, order, skill, worker, from_colleague(scene.rng, scene.name(), WISHED, **values))


def nobody(scene: Scene) -> Draft:
    """Nobody fits: the shift lead decides."""
    order, skill, _, _ = _hall(scene, fits=False)
    return Draft(
        message=from_colleague(scene.rng, scene.name(), ANYBODY, order=order),
        plan=(
            step("tool_work_orders_v1", work_order_id=order),
            step("tool_policies_v1", query="work order certificate nobody"),
            step("tool_workers_v1", skill=skill),
            hand_over(
                f"No worker with a valid certificate is free for {order}; by PRD-2 the shift lead decides."
            ),
        ),
        should_hand_over=True,
    )


DISPATCH = Family(name="dispatch", role="planner", variants=(anybody, wished, anybody, wished, nobody))
