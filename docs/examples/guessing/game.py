"""An environment: a number is to be guessed, and every answer says where it lies."""

from pydantic import BaseModel

from reflex_bench.envs.base import Action, Split, StepResult, Task
from reflex_bench.envs.metrics import Metric
from reflex_bench.envs.prompts import parse

TEXTS = """
instruction: Guess the number. Write one number and nothing else.
examples: {"": []}
thought_form: "{}"
action_form: "{}"
thought_observation: ""
invalid_observation: A number is wanted.
verbs: [guess]
reflection_instruction: Say what you know about the number.
reflection_examples: []
"""


class Guessing:
    """Numbers from 1 to `largest`, a task each. See `reflex_bench.envs.base.Environment`."""

    class Options(BaseModel, extra="forbid"):
        largest: int = 16

    name, max_steps, feedback, prompts = "guessing", 5, "environment", parse(TEXTS)

    def __init__(self, options):
        self.largest = options.largest

    def load(self, count=None, seed=0):
        text = f"from 1 to {self.largest}"
        tasks = [Task(f"n{n:03}", "number", text, f"{n:064x}", n) for n in range(1, self.largest + 1)]
        return Split(f"largest={self.largest}", tuple(tasks[:count]))

    def start(self, task):
        return Game(task.data, self.largest)

    def read_action(self, completion, policy):
        word = completion.strip()
        return Action(command=word) if word.isdecimal() else Action(error="no_action")

    def tools(self):
        return ()

    def without_feedback(self):
        return self

    def settings(self):
        return {"largest": self.largest}

    def metrics(self):
        of = {"value": "result.left", "better": "lower", "format": "count"}
        left = Metric(key="left", label="Numbers left", definition="numbers still possible at the end", **of)
        return (left,)

    def close(self):
        pass


class Game:
    """One trial. See `reflex_bench.envs.base.Episode`."""

    def __init__(self, number, largest):
        self.number, self.low, self.high = number, 1, largest

    def reset(self):
        return f"It is from {self.low} to {self.high}."

    def step(self, command):
        guess = int(command)
        if guess == self.number:
            return StepResult("Right.", won=True, done=True)
        self.low = max(self.low, guess + 1) if guess < self.number else self.low
        self.high = min(self.high, guess - 1) if guess > self.number else self.high
        return StepResult(f"No, it is from {self.low} to {self.high}.")

    def result(self):
        return {"left": self.high - self.low + 1}

    def close(self):
        pass
