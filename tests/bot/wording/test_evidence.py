"""Words of the pages behind an answer, and of the lines and tags below it: all of them in every language, filled alike."""

from __future__ import annotations

import pytest

from bot.wording import notices
from bot.wording.contacts import contact_notice, source_tag, whose
from bot.wording.evidence import EvidenceWords
from bot.wording.reviewing.outcomes import outcome_sentence, outcome_word
from bot.wording.web import web_notice, web_tag
from grounding.records import Passage
from rai.records import Claim, EvidenceSpan, Outcome

TEXTS = EvidenceWords.texts()


def test_each_word_is_there_in_all_seven_languages() -> None:
    assert tuple(TEXTS) == tuple(notices.texts())
    assert all(word.strip() for row in TEXTS.values() for word in row.values())


@pytest.mark.parametrize("name", list(TEXTS["en"]))
def test_what_is_filled_in_is_the_same_in_each_language(name: str) -> None:
    fields = {frozenset(part.split("}")[0] for part in row[name].split("{")[1:]) for row in TEXTS.values()}
    assert len(fields) == 1


@pytest.mark.parametrize("outcome", list(Outcome))
def test_each_end_of_a_turn_has_a_word_and_a_sentence_in_each_language(outcome: Outcome) -> None:
    assert all(outcome_word(outcome, code) not in ("", outcome) for code in TEXTS)
    assert len({outcome_sentence(outcome, code) for code in TEXTS}) == len(TEXTS)


def test_what_is_no_outcome_stays_as_it_is() -> None:
    assert (outcome_word("x"), outcome_sentence("x")) == ("x", "")


def test_a_region_is_not_looked_at_and_an_unknown_language_is_english() -> None:
    assert EvidenceWords("pt_BR").language == "pt"
    assert EvidenceWords("de-AT,de;q=0.9").language == "de"
    assert [EvidenceWords(code).language for code in ("ja", "", None)] == ["en", "en", "en"]


def test_whose_a_source_and_a_contact_are_is_told_in_the_language() -> None:
    assert web_tag("unlisted", "de") == "Web, nicht gelistete Seite"
    assert (web_tag(None, "fr"), source_tag("inbound", "nl"), source_tag("official", "nl")) == ("web", "van buiten", "")
    assert (whose("ordinary", "es"), whose("official", "es"), whose(None, "es")) == (
        "solo lo tiene este documento",
        "",
        "",
    )


def test_the_lines_below_an_answer_are_in_the_language() -> None:
    web = web_notice([(2, "https://example.com/a", "trusted")], "de")
    assert web == "Aus dem Web, nicht aus Ihrer Wissensdatenbank: [2] example.com (auf Ihrer Liste vertrauter Seiten)"
    span = EvidenceSpan("c1", "text", 0, 8, "555-0100")
    claim = Claim("phone", "555-0199", 0, 8, status="exact", trust="inbound", evidence=(span,), instead=span)
    line = contact_notice([claim], {"c1": (1, Passage("c1", "mail.eml", "Mail", "555-0100"))}, "it")
    assert (
        line
        == "Da verificare prima di inoltrarlo: 555-0199 ([1] Mail, arrivato dall'esterno; una fonte ufficiale indica 555-0100)"
    )
