"""Personal data by Azure AI Language: the real SDK under a presidio recogniser, against a loopback server of the published form."""

from __future__ import annotations

import pytest

from grounding.errors import ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.services.remote import Remote
from rai.azure.language_personal import LanguagePersonal, PersonalRecognizer
from rai.embedded.tagger import GazetteerTagger
from rai.personal.known import Personal
from rai.personal.redact import MASK, Redactor
from rai.screening.personal_data import look_further, masking, redaction
from rai.screening.turn import known_of, screened_turn
from rai.screening.web import ScreenedWeb
from tests.fakes.finding import ListedWeb
from tests.fakes.language_server import Category, LanguageServer
from tests.fakes.screen import FakeScreen

KEY = "canary-key-1234"
REDACTOR = Redactor()
FOUND: dict[str, Category] = {
    "Quillfeather": ("Person", None),
    "q@mail.example": ("Email", None),
    "0151 99 88 77": ("PhoneNumber", None),
    "742 Evergreen Terrace": ("Address", None),
    "Lyon": ("Address", None),
    "078-05-1120": ("USSocialSecurityNumber", None),
    "12A": ("EUDriversLicenseNumber", None),
    "Contoso": ("Organization", None),
    "Monday": ("DateTime", "Date"),
    "nurse": ("PersonType", None),
    "20 euros": ("Quantity", "Currency"),
    "Wren X2": ("Person", None),
    "DE89370400440532013000": ("InternationalBankingAccountNumber", None),
}


async def _found(server: LanguageServer, *texts: str) -> list[tuple[str, str]]:
    finder = LanguagePersonal(PersonalRecognizer(server.endpoint, KEY), Remote("language", retries=0))
    try:
        return [(p.value, p.kind) for p in sorted(await finder.find(texts))]
    finally:
        await finder.aclose()


async def test_what_is_personal_and_what_a_question_needs() -> None:
    """Firms, dates, amounts, professions, towns alone, product names and references of three signs are nobody's."""
    async with LanguageServer(personal=FOUND) as server:
        found = await _found(server, " ".join(FOUND))
    assert found == [
        ("Quillfeather", "PERSON"),
        ("q@mail.example", "EMAIL"),
        ("0151 99 88 77", "PHONE"),
        ("742 Evergreen Terrace", "ADDRESS"),
        ("078-05-1120", "NUMBER"),
        ("DE89370400440532013000", "IBAN"),
    ]


async def test_personal_data_at_the_end_of_a_long_text_is_found() -> None:
    """Above 5,120 characters the service refuses a document, which presidio's own recogniser reads as "no personal data"."""
    text = "We talked about the weather for a while. " * 147 + "Then Quillfeather rang."
    assert len(text) > 6000
    async with LanguageServer(personal=FOUND) as server:
        assert await _found(server, text) == [("Quillfeather", "PERSON")]
        assert all(len(d["text"]) <= 5120 for body in server.seen for d in body["analysisInput"]["documents"])


async def test_a_refused_document_is_no_text_without_personal_data() -> None:
    """One document of several fails alone; what the others hold is not taken for all there is."""
    async with LanguageServer(personal=FOUND) as server:
        server.limit = 4990
        with pytest.raises(ServiceRejected) as caught:
            await _found(server, "Quillfeather rang. " + "word " * 1200)
    assert "Quillfeather" not in str(caught.value)


@pytest.mark.parametrize("body", ["<html>", "{}", "[]", '{"kind":"PiiEntityRecognitionResults","results":{}}'])
async def test_an_unreadable_reply_is_a_failure(body: str) -> None:
    async with LanguageServer(personal=FOUND) as server:
        server.body = body
        with pytest.raises(ServiceReplyInvalid):
            await _found(server, "Quillfeather rang.")


async def test_a_conversation_is_one_request_that_is_not_logged() -> None:
    async with LanguageServer(personal=FOUND) as server:
        assert await _found(server, "Hello.", " ", "I am Quillfeather.", "Yes?") == [("Quillfeather", "PERSON")]
        (body,) = server.seen
    assert body["kind"] == "PiiEntityRecognition"
    assert (body["parameters"]["loggingOptOut"], body["parameters"]["stringIndexType"]) == (True, "UnicodeCodePoint")
    assert [d["text"] for d in body["analysisInput"]["documents"]] == ["Hello.\nI am Quillfeather.\nYes?"]


async def test_what_is_found_counts_in_a_turn_wherever_our_own_findings_do() -> None:
    """Web query, prompt and ledger entry: a name that nothing introduces, with its parts and in any case."""
    question, web = "What does Watch Plus cost? Zebedea Quillfeather waits.", ListedWeb()
    async with LanguageServer(personal={"Zebedea Quillfeather": ("Person", None)}) as server:
        finder = LanguagePersonal(PersonalRecognizer(server.endpoint, KEY), Remote("language", retries=0))
        with screened_turn((question,)) as turn:
            assert list(known_of(turn, REDACTOR).find("QUILLFEATHER")) == []
            await look_further(finder)
            assert list(known_of(turn, REDACTOR).find("QUILLFEATHER")) == [Personal(0, 12, "PERSON", "QUILLFEATHER")]
            await ScreenedWeb(web, FakeScreen(), REDACTOR).search(question, 3)
            assert web.asked == [("What does Watch Plus cost? waits.", 3)]
            entry = redaction(REDACTOR)({"ask": {"question": question}, "query": "quillfeather waits"}, "turn")
            assert entry == {
                "ask": {"question": f"What does Watch Plus cost? {MASK * 20} waits."},
                "query": f"{MASK * 12} waits",
            }
        await finder.aclose()
    assert "Quillfeather" in str(redaction(REDACTOR)({"ask": {"question": question}}, "turn"))  # of another turn


async def test_if_the_service_fails_our_own_findings_stand_alone_and_a_note_says_so() -> None:
    async with LanguageServer(script=(503,)) as server:
        finder = LanguagePersonal(PersonalRecognizer(server.endpoint, KEY), Remote("language", retries=0))
        with screened_turn(("Hi, this is Zebedea. Quillfeather waits.",)) as turn:
            await look_further(finder)
            assert [p.value for p in known_of(turn, REDACTOR).find("Zebedea Quillfeather")] == ["Zebedea"]
            assert len(turn.notes) == 1
            assert turn.notes[0].startswith("personal data was looked for on this machine alone: language:")
            assert "Quillfeather" not in turn.notes[0]
        await finder.aclose()


async def test_a_name_of_the_companys_own_is_nobodys() -> None:
    """A product that the service takes for a person would be missing in every web query."""
    text = "Does Wren Quill work with the Roost? Quillfeather asks."
    people: dict[str, Category] = {"Wren Quill": ("Person", None), "Roost": ("Person", None), **FOUND}
    own = GazetteerTagger({"Wren Quill Pro": "product", "Wren Quill": "product", "Roost": "organisation"})
    async with LanguageServer(personal=people) as server:
        recognizer = PersonalRecognizer(server.endpoint, KEY)
        finder = LanguagePersonal(recognizer, Remote("language", retries=0), own=own)
        assert [p.value for p in await finder.find([text])] == ["Quillfeather"]
        await finder.aclose()


async def test_nothing_is_asked_of_nothing() -> None:
    async with LanguageServer() as server:
        finder = LanguagePersonal(PersonalRecognizer(server.endpoint, KEY), Remote("language", retries=0))
        await look_further(finder)
        with screened_turn((" ", "")):
            await look_further(finder)
            await look_further(None)
        await finder.aclose()
        assert server.seen == []


async def test_what_we_know_can_be_masked_in_what_is_sent() -> None:
    """The masks are nobody's name."""
    async with LanguageServer(personal={MASK * 7: ("Person", None), **FOUND}) as server:
        recognizer = PersonalRecognizer(server.endpoint, KEY)
        finder = LanguagePersonal(recognizer, Remote("language", retries=0), mask=masking(REDACTOR))
        with screened_turn(("Hi, this is Zebedea. Quillfeather waits.",)) as turn:
            await look_further(finder)
            assert [p.value for p in turn.told] == ["Quillfeather"]
            assert {p.value for p in known_of(turn, REDACTOR).find("Zebedea Quillfeather")} == {
                "Zebedea",
                "Quillfeather",
            }
        await finder.aclose()
    assert "Zebedea" not in str(server.seen)


async def test_nobody_at_the_address() -> None:
    finder = LanguagePersonal(PersonalRecognizer("http://127.0.0.1:9", KEY), Remote("language", retries=0))
    with pytest.raises(ServiceUnavailable):
        await finder.find(["Quillfeather rang."])
