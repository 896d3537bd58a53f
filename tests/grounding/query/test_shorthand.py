"""Shorthand of a help desk: found as words of their own, the longest first, and never in words that documents have anyway."""

from grounding.query.shorthand import called_otherwise, in_full
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
