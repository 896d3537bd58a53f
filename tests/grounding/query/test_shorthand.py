"""Shorthand of a help desk: found as words of their own, the longest first, and never in words that documents have anyway."""

from grounding.query.shorthand import called_otherwise, compared_by, in_full, said_as
from grounding.text import terms


def test_shorthand_is_found_as_it_is_typed() -> None:
    assert in_full("whats the Return Window, DPO?") == {
        "Return Window": "how many days to return",
        "DPO": "data protection officer",
    }
    assert in_full("tel no of the shop") == {"tel no": "telephone number"}
    assert in_full("telephone, hotel, r&dd, template") == {}


def test_what_it_is_short_for_says_something() -> None:
    for typed, meant in in_full("pw, qty, fw, hrs, xmas, t&cs").items():
        assert terms(meant)
        assert meant != typed


def test_words_that_documents_may_not_have_come_with_others_for_them() -> None:
    assert called_otherwise("Postage for a kid?") == {"Postage": ("shipping", "delivery"), "kid": ("child",)}
    assert called_otherwise("what does it cost") == {}
    assert called_otherwise("re-hire, hires") == {}


def test_what_is_compared_comes_with_what_documents_call_it() -> None:
    assert compared_by("Is the X2 Faster than the X1?") == {"Faster": ("speed", "fastest", "throughput")}
    assert compared_by("x1 vs x2") == {}


def test_a_question_comes_with_the_ways_in_which_documents_may_say_it() -> None:
    assert said_as("how do I return a broken") == (
        (frozenset(terms("return")),),
        tuple(frozenset(terms(word)) for word in ("broken", "faulty", "defective", "damaged")),
    )
    assert said_as("how do I") == ()
