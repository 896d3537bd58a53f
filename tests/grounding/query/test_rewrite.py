"""Queries by a model: the prompts to the byte, and what becomes of whatever a model writes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import ServiceReplyInvalid
from grounding.model_calls.templates import placeholders, template
from grounding.query.rewrite import LONGEST, for_web, keywords, rephrased
from tests.fakes.model import ScriptedModel

KEYWORDS = """Here are examples of user questions and their corresponding search queries. Use these examples to guide your transformation of the input question.
Example Input 1: "How to connect to a database with Python?"
Example Output: "Python database connection method"

Additionally, if certain words are specified as "excluded keywords," ensure that these words are NOT included in the generated search query.

Input: {input}
Excluded Keywords: {excluded_keywords}"""

WEB_SYSTEM = (
    "You are a question rewriter who improves input questions to make them more effective for web search. \n"
    " Analyze the question and focus on the underlying semantic intent to craft a better version."
)
WEB = "Here is the initial question: \n\n {question} \n Formulate an improved question."

QUESTION = "What's the difference between Flat white and cappuccino?"
REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "Sorry, no.",
    "I cannot rewrite this question.",
    "I can't do that.",
    "As an AI language model I have no opinion.",
    "I am unable to comply.",
    "I’m sorry.",
)


@pytest.mark.row("0-03")
def test_the_prompt_for_key_words_is_that_of_the_document() -> None:
    assert template("query_keywords") == KEYWORDS


@pytest.mark.row("0-05")
async def test_its_inputs() -> None:
    assert placeholders("query_keywords") == {"input", "excluded_keywords"}
    model = ScriptedModel("flat white cappuccino difference")
    assert await keywords(model, QUESTION, ["acme", "price list"]) == "flat white cappuccino difference"
    filled = KEYWORDS.replace("{input}", QUESTION).replace("{excluded_keywords}", "acme, price list")
    assert [(c.user, c.purpose) for c in model.calls] == [(filled, "rewrite")]


@pytest.mark.row("2-13")
@pytest.mark.row("2-14")
async def test_the_prompts_for_the_web_are_those_of_the_document() -> None:
    assert (template("query_web_system"), template("query_web")) == (WEB_SYSTEM, WEB)
    model = ScriptedModel("How do a flat white and a cappuccino differ?")
    assert await for_web(model, QUESTION) == "How do a flat white and a cappuccino differ?"
    assert (model.calls[0].system, model.calls[0].user) == (WEB_SYSTEM, WEB.replace("{question}", QUESTION))


async def test_a_question_that_looks_like_a_placeholder_stays_text() -> None:
    model = ScriptedModel("words")
    await keywords(model, "{excluded_keywords}?", ["acme"])
    assert "Input: {excluded_keywords}?\nExcluded Keywords: acme" in model.calls[0].user


@pytest.mark.row("0-04")
@pytest.mark.parametrize(
    ("reply", "excluded", "query"),
    [
        ("Acme kettle descaling", ["acme"], "kettle descaling"),
        ("ACME's kettle, ACME!", ["Acme"], "'s kettle, !"),
        ("acmeville kettle", ["acme"], "acmeville kettle"),
        ("price list kettle", ["price list"], "kettle"),
        ("price price list list kettle", ["price list"], "kettle"),
        ("acme", ["acme"], None),
        ("kettle", [" ", ""], "kettle"),
        ("Größe wählen", ["GRÖSSE", "größe"], "wählen"),
    ],
)
async def test_excluded_words(reply: str, excluded: list[str], query: str | None) -> None:
    assert await keywords(ScriptedModel(reply), "q?", excluded) == query


WORDS = st.lists(st.sampled_from(["acme", "Acme", "kettle", "price", "list", "price list", "x1", "ÄRGER"]), max_size=12)


@pytest.mark.row("0-04")
@given(WORDS, st.lists(st.sampled_from(["acme", "PRICE", "price list", "x1", "ärger", ""]), max_size=4))
async def test_no_excluded_word_is_ever_searched_for(written: list[str], excluded: list[str]) -> None:
    """Whole words, whatever their case, whatever the model did with them."""
    query = await keywords(ScriptedModel(" ".join(written) or "-"), "q?", excluded)
    for word in (w for w in excluded if w):
        assert query is None or not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", query, re.IGNORECASE)


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("Output: flat white difference", "flat white difference"),
        ("Improved question: What differs?", "What differs?"),
        ('Example Output: "flat white"', "flat white"),
        ("```\nflat white\n```", "flat white"),
        ("\n\n  flat   white \n and a remark that nobody wanted", "flat white"),
        ("«flat white»", "flat white"),
        ("", None),
        ("```\n```", None),
        ("...", None),
        ("[" * 10_000, None),
        ("word " * (LONGEST // 5 + 1), None),
        *((refusal, None) for refusal in REFUSALS),
    ],
)
async def test_what_is_taken_from_a_reply(reply: str, query: str | None) -> None:
    """Its first line of words; a refusal or a lecture is no query."""
    assert await keywords(ScriptedModel(reply), "q?") == query
    assert await for_web(ScriptedModel(reply), "q?") == query


@pytest.mark.row("3-12")
@pytest.mark.parametrize(
    "reply",
    [
        '["one fee?", "two fee?", "three fee?", "four fee?", "five fee?"]',
        '```json\n["one fee?", "two fee?", "three fee?", "four fee?", "five fee?",]\n```\nI hope this helps.',
        '{"questions": ["one fee?", "two fee?", "three fee?", "four fee?", "five fee?"]}',
        "1. one fee?\n2. two fee?\n3) three fee?\n- four fee?\n• five fee?",
        "Here they are:\none fee?\ntwo fee?\nthree fee?\nfour fee?\nfive fee?",
    ],
)
async def test_five_other_phrasings(reply: str) -> None:
    model = ScriptedModel(reply)
    found = await rephrased(model, "What is the fee?", 5)
    assert found == ("one fee?", "two fee?", "three fee?", "four fee?", "five fee?")
    assert "Write 5 other phrasings" in model.calls[0].user
    assert "Question: What is the fee?" in model.calls[0].user


async def test_phrasings_are_each_once_and_never_the_question() -> None:
    reply = (
        '["What is the fee?", "what is the FEE? ", "How much?", "how much?", "", 7, null, ["x"], "...", "Which price?"]'
    )
    assert await rephrased(ScriptedModel(reply), "What is the fee?", 5) == ("How much?", "Which price?")


@pytest.mark.parametrize(
    "reply",
    ["", "No.", "{}", "[]", '{"id": 9}', "[1, 2]", *REFUSALS, "[" * 10_000, "The fee is $5 and it is due in May."],
)
async def test_a_reply_without_phrasings_gives_none(reply: str) -> None:
    """A model that answers the question writes no query."""
    assert await rephrased(ScriptedModel(reply), "What is the fee?", 5) == ()


@given(st.text(max_size=300), st.integers(1, 10))
async def test_never_more_phrasings_than_asked_for(reply: str, count: int) -> None:
    found = await rephrased(ScriptedModel(reply), "What is the fee?", count)
    assert len(found) <= count
    assert all(0 < len(q) <= LONGEST and "\n" not in q for q in found)


async def test_a_reply_that_was_cut_is_an_error() -> None:
    for ask in (keywords, for_web):
        with pytest.raises(ServiceReplyInvalid):
            await ask(ScriptedModel(ServiceReplyInvalid("the model", "cut")), "q?")
