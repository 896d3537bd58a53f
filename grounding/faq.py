"""Lists of questions and answers: the keys and columns under which they keep both."""

from __future__ import annotations

from collections.abc import Sequence

_QUESTIONS = frozenset("q question questions frage pregunta domanda vraag pytanie pergunta".split())
_ANSWERS = frozenset(
    "a answer answers antwort réponse reponse respuesta risposta antwoord odpowiedź odpowiedz resposta".split()
)


def question_and_answer(names: Sequence[str]) -> tuple[int, int] | None:
    """Which of the names of a record's keys, or of a table's columns, is that of a question and which that of its answer; None unless there is one of each."""
    plain = [name.strip().casefold() for name in names]
    asked = [i for i, name in enumerate(plain) if name in _QUESTIONS]
    answered = [i for i, name in enumerate(plain) if name in _ANSWERS]
    return (asked[0], answered[0]) if len(asked) == 1 == len(answered) else None
