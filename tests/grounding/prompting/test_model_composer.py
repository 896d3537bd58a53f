"""Drafts by a chat model: what is sent, and what is left of the reply."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import ContentFiltered, PromptBlocked, ServiceError, ServiceReplyInvalid, ServiceUnavailable
from grounding.prompting.model_composer import ModelComposer, tidy
from grounding.records import Evidence, Passage, Prompt, PromptPart
from tests.fakes.model import ScriptedModel

PROMPT = Prompt(
    parts=(PromptPart("system", "You are a copilot."), PromptPart("guidance", "Use the evidence.")),
    question="When do you close?",
    evidence=tuple(Evidence(n, Passage(f"c{n}", f"d{n}", f"Title {n}", "We close at 18:00.")) for n in (1, 2)),
)


async def test_the_parts_go_as_system_message_the_question_as_the_users_and_markers_are_taken_out() -> None:
    model = ScriptedModel("We close at 18:00 [1].", name="m")
    draft = await ModelComposer(model, max_tokens=99).compose(PROMPT)
    (call,) = model.calls
    assert (call.system, call.user) == ("You are a copilot.\n\nUse the evidence.", "When do you close?")
    assert (call.purpose, call.max_tokens) == ("compose", 99)
    assert (draft.text, draft.generator) == ("We close at 18:00.", "model:m")
    assert draft.usage == {"prompt_tokens": 1, "completion_tokens": 1}


@pytest.mark.parametrize("reply", ["", "Sources:\n- [1] Title", "[7]", "![chart](https://x.example/a.png)"])
async def test_a_reply_of_which_nothing_is_left_is_no_draft(reply: str) -> None:
    with pytest.raises(ServiceReplyInvalid, match="holds no answer"):
        await ModelComposer(ScriptedModel(reply)).compose(PROMPT)


@pytest.mark.parametrize(
    "error", [ServiceUnavailable("model", "down"), ContentFiltered("filtered"), PromptBlocked("a rule")]
)
async def test_failures_of_the_model_pass(error: ServiceError | ContentFiltered | PromptBlocked) -> None:
    with pytest.raises(type(error)):
        await ModelComposer(ScriptedModel(error)).compose(PROMPT)


@pytest.mark.parametrize(
    ("reply", "draft"),
    [
        # markers
        ("Open [1]. Late [2].", "Open [1]. Late [2]."),
        ("Open [3].", "Open."),
        ("Open[1][3].", "Open[1]."),
        ("Open [1, 2].", "Open [1][2]."),
        ("Open [2; 2, 9].", "Open [2]."),
        ("Open [^1].", "Open [1]."),
        ("Open 【1】 and 【2†source】【9】.", "Open [1] and [2]."),
        ("Run `az vm list --query [9]` and `[0]`.", "Run `az vm list --query [9]` and `[0]`."),
        ("```\nlist[9]\n```\nas told [9].", "```\nlist[9]\n```\nas told."),
        ("Take items[0] as told [1].", "Take items[0] as told [1]."),
        ("Since [2024] as [1](https://a.example) says.", "Since [2024] as [1](https://a.example) says."),
        # lists of sources
        ("Open [1].\n\nSources:\n- [1] Hours\n- [2] Shop", "Open [1]."),
        ("Open [1].\n\n**Sources:**\n1. Hours\n2. Shop", "Open [1]."),
        ("Open [1].\n\n## References\n\n[1] Hours", "Open [1]."),
        ("Open [1].\nSources: [1], [2]", "Open [1]."),
        ("Open [1].\n\nQuellen: Öffnungszeiten.md", "Open [1]."),
        ("Open [1].\n\nSource: https://a.example", "Open [1]."),
        ("Name your sources:\n- a card\n- a bill", "Name your sources:\n- a card\n- a bill"),
        ("Sources: are we there\nYes, open [1].", "Sources: are we there\nYes, open [1]."),
        ("Bring:\n- a card\n- a bill [1]", "Bring:\n- a card\n- a bill [1]"),
        ("References are checked [1].", "References are checked [1]."),
        # images
        ("Here ![map](https://a.example/m.png) we are [1].", "Here  we are [1]."),
        ("Here ![map][m] we are [1].", "Here  we are [1]."),
        ('<img src="https://a.example/pixel.gif"> Open [1].', "Open [1]."),
        ("Wow! [1]", "Wow! [1]"),
        ("Write `![alt](src)` for an image.", "Write `![alt](src)` for an image."),
        ("Open [<img src=x>9].", "Open."),
        # type
        ("The fee is **$5** [1], __not__ $6.", "The fee is $5 [1], not $6."),
        ("## Returns\n1. **Pack** it.\n2. Send it.", "Returns\n1. Pack it.\n2. Send it."),
        ("2 ** 3 ** 4, a__b__c, #1, # 5", "2 ** 3 ** 4, a__b__c, #1, # 5"),
        ("Type `**bold**` for bold.", "Type `**bold**` for bold."),
        # wrapping
        ("```markdown\nOpen [1].\n```", "Open [1]."),
        ("```python\nprint(1)\n```", "```python\nprint(1)\n```"),
        ("\n\n Open [1].  \n\n\n\nLate. \n", "Open [1].\n\nLate."),
    ],
)
@pytest.mark.row("4-02")
def test_what_a_draft_keeps(reply: str, draft: str) -> None:
    assert tidy(reply, {1, 2}) == draft


PIECES = st.sampled_from(
    [
        "[1]",
        "[2]",
        "[9]",
        "[1, 9]",
        "【1】",
        "【9†s】",
        "![a](b)",
        "<img src=x>",
        "`",
        "```",
        "\n",
        " ",
        "Sources:",
        "- x",
        "12",
        "**",
        "# ",
        "Open.",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_marker_without_evidence_is_left_outside_code(reply: str) -> None:
    text = tidy(reply, {1, 2})
    if "`" not in text:
        assert {int(n) for n in re.findall(r"\[(\d+)\]", text)} <= {1, 2}
        assert "【" not in text


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=12).map("".join)))
def test_tidying_twice_is_tidying_once_and_any_text_can_be_tidied(reply: str) -> None:
    once = tidy(reply, {1})
    assert tidy(once, {1}) == once
