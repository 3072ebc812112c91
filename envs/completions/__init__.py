"""Parsing of completions that every environment does before it looks for its own actions.

`clean` takes away what is no text of the turn (signs that nobody sees, tokens of a chat template, channels, reasoning),
`first_text_call` finds a tool call that was written as text, `labels` knows the words for thought, action, input,
observation and answer. An environment's own parser then finds its commands. Nothing here raises, and the work is
linear in the length of a reply.

The names of all repairs, the same in every environment (`reflex_bench.agents.conversation` names those of a turn that
took a second call):

============================  ======================================================================================
repair                        what was done
============================  ======================================================================================
`empty_first_line`            the reply began with an empty line
`line_endings`                CRLF, CR or another line break read as LF
`invisible_signs`             zero-width signs, direction marks, byte order marks dropped; unusual blanks read as blanks
`full_width`                  full-width letters, digits or signs read as the ordinary ones
`special_tokens`              tokens of a chat template dropped, and with them what another speaker says after them
`channel_markers`             the final channel of a reply taken, its markers dropped
`reasoning_removed`           text in reasoning marks (`<think>…</think>`) dropped, once per closing mark
`action_in_reasoning`         the reply had nothing but reasoning; an action with a label was taken from there
`cut_invented_observation`    text that only the environment may say, cut
`code_fence`                  fence lines (three backticks) dropped
`markdown`                    emphasis, headings or backticks around a label or an action ignored
`prompt_prefix`               a leading `>` ignored
`numbering`                   a list number, `Step 3:` or a bullet before the action ignored
`leading_sign`                an arrow, an emoji or another sign before the action ignored
`step_number`                 `Action 2:` read as `Action:`
`action_label`                a label before a command that needs none
`thought_label`               another word than the environment's for a thought
`wrong_label`                 the action stood behind another label than its own
`other_punctuation`           round, full-width or other brackets, or another sign than a colon behind a label
`letter_case`                 `search[…]` read as `Search[…]`, `Go To` as `go to`
`json_form`                   arguments that are nearly JSON (single quotes, a trailing comma) read as JSON
`spacing`                     blanks where none belong, or the action on the line after its label
`quotes`, `brackets`          quotation marks or brackets around an action ignored
`full_stop`                   punctuation after a command ignored
`article`                     `the`, `a`, `an` in a command ignored
`tag`                         an XML tag round the action (`<action>…</action>`) or `\\boxed{…}` ignored
`tool_call`                   a tool call or a JSON object, written as text, read as the action
`call_form`                   a command written like a function, `go to[desk 1]` or `take("mug 1", "desk 1")`
`inline_action`               the action stood at the end of a line of prose
`action_input`                `Action: Search` and `Action Input: …` joined
`colon_form`                  `Action: Search: …` or `Action: Search …` read as `Search[…]`
`answer_label`                `Final Answer: …` read as the action that hands the answer in
`action_name`                 another name of an action (`Look up`, `Answer`) read as its own
`argument_name`               a call's only text taken, although it had another name
`joined_lines`                an argument over several lines joined
`joined_thoughts`             a further thought before the action joined
`unlabelled_thought`          a line of prose before the action, kept as thought
`stray_bracket`               brackets that do not pair, or that are doubled
`unclosed_bracket`            the closing bracket was missing
`trailing_text`               text after the action ignored
`extra_actions`               a further action ignored, once for each
`near_miss`                   the one admissible command that was meant (policy `admissible`)
============================  ======================================================================================
"""

from reflex_bench.envs.completions.calls import TextCall, first_text_call
from reflex_bench.envs.completions.clean import Cleaned, clean
from reflex_bench.envs.completions.reasoning import split_reasoning

__all__ = ["Cleaned", "TextCall", "clean", "first_text_call", "split_reasoning"]
