"""Fixed texts of prompts, by which the simulated model also recognises what it is asked.

Agents write them, `reflex_bench.models.simulated` looks for them; neither needs to know the other's code. Each is part
of a prompt: a change to one is a change of prompts, and gives runs another prompt hash.
"""

from __future__ import annotations

TASK_HEADER = "Here is your task."
"""Stands before the first observation of the trial, and before an attempt that is told as text."""
MEMORY_HEADER = "This is what you wrote down after earlier, failed attempts, oldest first:"
"""Stands before the reflections that an agent is shown."""
DIRECTIVE_HEADER = "Directives that follow from earlier, failed attempts, oldest first:"
"""Stands before the reflections at the head of the system message (`memory.place: system`)."""
FAILED, REQUIRED = "This failed:", "Required now:"
"""With what the lines of such a directive begin."""
EARLIER_REFLECTIONS = "What you wrote down after still earlier attempts at this task:"
"""Stands before the reflections that a reflector is shown, behind the attempt."""
HISTORY_HEADER = "Earlier failures of the same kind:"
"""Stands before the summaries of other failed trials that a reflector is shown."""

REFLECTION_REQUEST = "Reflection:"
"""Ends a request for a free reflection."""
DIAGNOSIS_REQUEST = "Diagnosis:"
"""Ends a request for a reflection as a form to fill in."""
JUDGE_REQUEST = "Verdict:"
"""Ends a request for a verdict on a finished attempt."""
STEP_REQUEST = "Assessment:"
"""Ends a request for an assessment of an attempt that is under way."""
