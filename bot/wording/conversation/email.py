"""What stands around the body of an e-mail, in the language of the body, and the languages that an answer is translated into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.wording.refusals import FALLBACK
from rai.screening.languages import language


@dataclass(frozen=True, slots=True)
class AnswerLanguage:
    """A language: its name in English for a model, its own name, the words that ask for it, and how an e-mail in it begins and ends."""

    english: str
    own: str
    into: str
    opening: str
    closing: str


LANGUAGES: Mapping[str, AnswerLanguage] = {
    "en": AnswerLanguage("English", "English", "In English", "Hello,", "Kind regards"),
    "de": AnswerLanguage("German", "Deutsch", "Auf Deutsch", "Guten Tag,", "Freundliche Grüße"),
    "fr": AnswerLanguage("French", "Français", "En français", "Bonjour,", "Cordialement"),
    "es": AnswerLanguage("Spanish", "Español", "En español", "Buenos días:", "Saludos cordiales"),
    "it": AnswerLanguage("Italian", "Italiano", "In italiano", "Buongiorno,", "Cordiali saluti"),
    "pt": AnswerLanguage("Portuguese", "Português", "Em português", "Bom dia,", "Com os melhores cumprimentos"),
    "nl": AnswerLanguage("Dutch", "Nederlands", "In het Nederlands", "Goedendag,", "Met vriendelijke groet"),
}


def as_email(body: str, fallback: str = FALLBACK) -> tuple[str, int]:
    """The body between its greeting and its end, and how many characters stand before it. `fallback`: the language where the body does not tell its own."""
    words = LANGUAGES.get(language(body)) or LANGUAGES.get(fallback) or LANGUAGES[FALLBACK]
    before = f"{words.opening}\n\n"
    return f"{before}{body}\n\n{words.closing}", len(before)


def email_body(text: str) -> str:
    """A text without the greeting and the end that `as_email` has set around it."""
    for words in LANGUAGES.values():
        if text.startswith(f"{words.opening}\n") and text.endswith(f"\n{words.closing}"):
            return text.removeprefix(words.opening).removesuffix(words.closing).strip()
    return text
