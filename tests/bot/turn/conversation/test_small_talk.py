"""What is taken for small talk, in which language, and what never is."""

from __future__ import annotations

import pytest

from bot.turn.conversation.small_talk import FORMS, INTENTS, Form, courtesy, lists, small_talk, to_check
from bot.wording.conversation.card import CardWords
from grounding.records import Turn
from rai.screening.languages import language

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("hi", "greeting", "en"),
        ("Hi Anna", "greeting", "en"),
        ("hey anna!", "greeting", "en"),
        ("HELLO???", "greeting", "en"),
        ("good morning everyone, how are you?", "greeting", "en"),
        ("👋", "greeting", "en"),
        ("ok", "ok", "en"),
        ("👍🏽", "ok", "en"),
        (":)", "ok", "en"),
        ("great thanks", "thanks", "en"),
        ("cheers mate", "thanks", "en"),
        ("perfect, that's all i needed, ta", "farewell", "en"),
        ("brill, cheers, that's all", "farewell", "en"),
        ("Thank you so much, Tom O'Neill!!", "thanks", "en"),
        ("Thanks,\nTom", "thanks", "en"),
        ("thaaaanks", "thanks", "en"),
        ("no, that's all, thanks. bye", "farewell", "en"),
        ("No that is all I need today, thank you", "farewell", "en"),
        ("Best regards, Priya", "farewell", "en"),
        ("lg Anna", "farewell", "de"),
        ("what are you able to help with actually", "help", "en"),
        ("grand, cheers a mil", "thanks", "en"),
        ("?", "help", "en"),
        ("hi, can you help me?", "help", "en"),
        ("Who are you?", "about", "en"),
        ("are you a bot or a human", "about", "en"),
        ("wait who am i talking to, are you a bot? what can you do", "about", "en"),
        ("hang on, who is this?", "about", "en"),
        ("so are you a person or what", "about", "en"),
        ("brilliant, ta, that saved me", "thanks", "en"),
        ("super, thx a million, thats me done", "farewell", "en"),
        ("mornin", "greeting", "en"),
        ("morning! you awake in there?", "greeting", "en"),
        ("ta, lifesaver x", "thanks", "en"),
        ("brilliant, ta, that's her sorted", "farewell", "en"),
        ("ace, cheers, that's sorted him out", "farewell", "en"),
        ("what sort of things can you help me with?", "help", "en"),
        ("what kind of things can i ask you then?", "help", "en"),
        ("next customer please", "new", "en"),
        ("ok. make it shorter pls", "shorter", "en"),
        ("but why?", "why", "en"),
        ("how do you know that?", "why", "en"),
        ("merci !", "thanks", "fr"),
        ("Bonjour Madame Dupont", "greeting", "fr"),
        ("Qu'est-ce que tu peux faire ?", "help", "fr"),
        ("Danke schön!", "thanks", "de"),
        ("Guten Morgen, Frau Müller", "greeting", "de"),
        ("nächster Kunde", "new", "de"),
        ("Moment, bist du ein Bot?", "about", "de"),
        ("¿Quién eres?", "about", "es"),
        ("hola, buenos días", "greeting", "es"),
        ("Grazie mille, a presto", "farewell", "it"),
        ("perché?", "why", "it"),
        ("muito obrigada 🙏", "thanks", "pt"),
        ("Pode ajudar-me?", "help", "pt"),
        ("dank je wel", "thanks", "nl"),
        ("kan het korter?", "shorter", "nl"),
    ],
)
def test_a_message_that_says_nothing_else(text: str, form: Form, code: str) -> None:
    talk = small_talk(text)
    assert talk is not None
    assert (talk.form, talk.language, talk.intent) == (form, code, INTENTS[form])


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_the_button_to_copy_says_does_the_same_when_it_is_typed(code: str) -> None:
    talk = small_talk(CardWords(code)("copy"), [Turn("user", "And for how much?"), Turn("assistant", "For $5 [1].")])
    assert talk is not None
    assert (talk.form, talk.language, talk.intent) == ("copy", code, "rework")


def test_a_customer_who_copies_asks_a_question() -> None:
    assert small_talk("can I copy my clips for the customer") is None


@pytest.mark.parametrize(
    "text",
    [
        "hi, how long do refunds take?",
        "thanks, and how much is shipping?",
        "ok and for gift cards",
        "hello refunds",
        "Hi Refunds",
        "thanks klarna",
        "Thanks. Klarna?",
        "hi there my order",
        "help with a refund",
        "new customer discount",
        "is there a discount for a new customer",
        "new customer?",
        "why is there a fee",
        "why not",
        "a shorter cable",
        "ok?",
        "yes",
        "no",
        "yes please",
        "W-230",
        "hi 4417",
        "Hello Wren X2",
        "CDT Services",
        "LG Monitor",
        "reset",
        "instructions",
        "seguro?",
        "was ist das",
        "",
        "   ",
        "a person",
        "thanks " * 20,
        "hi " + "x" * 200,
    ],
)
def test_what_may_be_a_question_is_one(text: str) -> None:
    assert small_talk(text) is None


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_phrase_of_each_language_is_read_as_what_it_is_listed_under(code: str) -> None:
    """By itself; one that is listed twice, or that is longer as two phrases, is the first of its forms."""
    known = lists().languages[code]
    for phrase, says in known.phrases.items():
        forms = [form for form in FORMS if form in says or (form == "help" and "help_first" in says)]
        if not forms or phrase not in known.own:
            continue
        talk = small_talk(" ".join(phrase), (), code)
        assert talk is not None, phrase
        assert talk.form == forms[0] or talk.language != code, (phrase, talk)


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_language_has_texts_of_its_own_and_buttons_that_say_what_they_ask_for(code: str) -> None:
    known = lists().languages[code]
    assert set(known.buttons) == {"help", "about", "new", "why"}
    for form, text in known.buttons.items():
        talk = small_talk(text)
        assert talk is not None, text
        assert (talk.form, talk.language) == (form, code)
    for name in (
        "greeting",
        "help",
        "about",
        "new",
        "quoting",
        "shortest",
        "held",
        "gone",
        "which",
        "why",
        "nothing_yet",
    ):
        text = getattr(known.texts, name)
        assert language(text) == code, text
        assert "{" not in text


def test_all_languages_that_refusals_speak() -> None:
    assert tuple(lists().languages) == LANGUAGES


@pytest.mark.parametrize(
    ("text", "locale", "said", "code"),
    [
        ("hi", "de-AT", (), "de"),
        ("thanks", "de", (), "de"),
        ("ok", None, (Turn("user", "Wie lange dauert die Erstattung auf die Karte?"),), "de"),
        ("merci", "en-US", (), "fr"),
        ("danke", "nl-NL", (), "de"),
        ("hallo", "nl-NL", (), "nl"),
        ("good morning", "fr-FR", (), "en"),
        ("ok", "xx", (), "en"),
    ],
)
def test_the_language_of_the_words_then_of_the_person(
    text: str, locale: str | None, said: tuple[Turn, ...], code: str
) -> None:
    talk = small_talk(text, said, locale)
    assert talk is not None
    assert talk.language == code


ASKED = Turn("customer", "How long do refunds take?")


@pytest.mark.parametrize(
    ("text", "said", "taken"),
    [
        ("thanks!", (ASKED,), False),
        ("thanks!", (ASKED, Turn("agent", "One moment please.")), False),
        ("thanks!", (ASKED, Turn("agent", "They take 5 days.")), True),
        ("thanks!", (ASKED, Turn("assistant", "Five days [1].")), True),
        ("thanks!", (Turn("user", "How long do refunds take?"),), True),
        ("New customer", (Turn("customer", "The device of the customer shows C-412."),), True),
        ("thanks", (ASKED, Turn("user", "Which warranty applies to her device?")), True),
        ("bye", (Turn("customer", "hello"), Turn("agent", "Hello, who is there?")), True),
        ("why?", (ASKED, Turn("agent", "They take 5 days, for the bank needs them to see to it.")), False),
        ("why?", (ASKED, Turn("assistant", "Five days [1].")), True),
        ("how does this work?", (), True),
        ("how does this work?", (Turn("user", "stitch promise"), Turn("assistant", "It is free [1].")), False),
    ],
)
def test_a_question_that_stands_open_before_it_is_not_swallowed(text: str, said: tuple[Turn, ...], taken: bool) -> None:
    assert (small_talk(text, said) is not None) is taken


def test_long_and_odd_messages_cost_nothing() -> None:
    for text in ("ok " * 40, "a" * 120, "so " * 39 + "x", "\u0300" * 100, "hi \x00", "❤" * 120):
        small_talk(text)


ANSWERED = (Turn("user", "rabbit price"), Turn("assistant", "It is 110."))


@pytest.mark.parametrize(
    ("text", "history", "form"),
    [
        ("morning! quiet so far here", (), "greeting"),
        ("good morning, coffee in hand", (), "greeting"),
        ("moin, heute nur Regen hier", (), "greeting"),
        ("hola, vaya lunes", (), "greeting"),
        ("ah brilliant, that's him happy. ta", ANSWERED, "thanks"),
        ("sorted him out. bye", ANSWERED, "farewell"),
        ("hi, my parcel is late", (), None),  # what was found speaks of parcels
        ("hi, can you look after the garden", (), None),  # it asks
        ("hi, route 12 late", (), None),  # a number
        ("hi, late again?", (), None),
        ("quiet so far here", (), None),  # no greeting
        ("cheers. and for the large one", ANSWERED, None),  # it goes on
        ("danke, und für die Große", ANSWERED, None),
        ("hi, " + "sun and rain and wind " * 3, (), None),  # too much for chat
    ],
)
def test_who_greets_and_chats_has_asked_nothing(text: str, history: tuple[Turn, ...], form: Form | None) -> None:
    talk = courtesy(text, frozenset({"parcel"}), history)
    assert (talk.form if talk else None) == form


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("make it an e-mail", "email", "en"),
        ("Can you please turn this into an E-Mail for the customer?", "email", "en"),
        ("make a chat message out of it", "chat", "en"),
        ("could you make the answer a bit shorter?", "shorter", "en"),
        ("Machen Sie bitte eine E-Mail daraus", "email", "de"),
        ("mach daraus eine Chatnachricht", "chat", "de"),
        ("kannst du es etwas freundlicher machen?", "friendlier", "de"),
        ("Pouvez-vous en faire un e-mail ?", "email", "fr"),
        ("rends la réponse plus courte", "shorter", "fr"),
        ("¿Puedes convertirlo en un correo electrónico?", "email", "es"),
        ("hazlo más amable, por favor", "friendlier", "es"),
        ("Fanne un'e-mail per il cliente", "email", "it"),
        ("puoi renderlo più breve?", "shorter", "it"),
        ("transforme isso em um e-mail", "email", "pt"),
        ("podes torná-lo mais curto?", "shorter", "pt"),
        ("Kunt u er een e-mail van maken?", "email", "nl"),
        ("maak er een chatbericht van", "chat", "nl"),
        ("is this correct?", "why", "en"),
        ("stimmt das?", "why", "de"),
        ("check this", "check", "en"),
    ],
)
def test_what_a_button_does_can_be_typed_in_many_words(text: str, form: Form, code: str) -> None:
    talk = small_talk(text, (Turn("user", "x?"), Turn("assistant", "y [1].")), code)
    assert talk is not None
    assert (talk.form, talk.language) == (form, code)


@pytest.mark.parametrize(
    "text", ["and an email?", "email", "what is the e-mail address?", "can you make it cheaper", "and a message?"]
)
def test_what_a_button_makes_is_no_wish_by_itself(text: str) -> None:
    assert small_talk(text, (Turn("user", "x?"), Turn("assistant", "y [1]."))) is None


@pytest.mark.parametrize(
    ("text", "checked", "code"),
    [
        ("check this: It costs $5.", "It costs $5.", "en"),
        ("Hi, can you check this message for me please?\n\nDear Jo,\nit costs $5.", "Dear Jo,\nit costs $5.", "en"),
        ("Is this correct? It costs $5.", "It costs $5.", "en"),
        ("check my reply - it costs $5", "it costs $5", "en"),
        ("Prüfen Sie bitte das: Es kostet 5 €.", "Es kostet 5 €.", "de"),
        ("Stimmt das so? Es kostet 5 €.", "Es kostet 5 €.", "de"),
        ("Vérifiez ce message : il coûte 5 €", "il coûte 5 €", "fr"),
        ("comprueba esto: cuesta 5 €", "cuesta 5 €", "es"),
        ("controlla questo: costa 5 €", "costa 5 €", "it"),
        ("verifica isto: custa 5 €", "custa 5 €", "pt"),
        ("controleer dit bericht: het kost 5 €", "het kost 5 €", "nl"),
    ],
)
def test_what_stands_behind_a_wish_to_check_is_checked(text: str, checked: str, code: str) -> None:
    assert to_check(text, code) == (checked, code)


@pytest.mark.parametrize(
    "text",
    [
        "check this",
        "check this:",
        "check the order status: 4711",
        "How do I check this: by code?",
        "Is it right? Why?",
        "",
    ],
)
def test_other_messages_are_not_checked(text: str) -> None:
    assert to_check(text) is None
