"""What somebody wants erased: by entry, conversation, person and text. Where several are given, all must match."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.privacy.facts import PERSONS, Facts, contains, person_key, says
from grounding.errors import InputError
from rai.records import Entry

_WORD = re.compile(r"\w+")
SEARCH_LEAST = 3
"""Characters of a text that is searched for: fewer stand in everything."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted. Empty and None restrict nothing; `checked` refuses a selection that restricts nothing at all."""

    entries: tuple[str, ...] = ()
    conversation: str | None = None
    person: str | None = None
    search: str | None = None

    def checked(self) -> Selection:
        """The same. Raises InputError where it selects nothing, or by a text that is too short."""
        if not self.kinds:
            raise InputError("say what: --entry ID, --conversation ID, --person ID or --search TEXT")
        for name, said in (("conversation", self.conversation), ("person", self.person)):
            if said is not None and not said.strip():
                raise InputError(f"--{name}: allowed is an id as the ledger has it")
        if self.search is not None and len(self.search.strip()) < SEARCH_LEAST:
            raise InputError(f"--search: allowed is a text of at least {SEARCH_LEAST} characters")
        return self

    @property
    def kinds(self) -> tuple[str, ...]:
        """By what is selected, as a record may say it: none of the values."""
        given = {"entry": self.entries, "conversation": self.conversation, "person": self.person, "text": self.search}
        return tuple(name for name, said in given.items() if said is not None and said != ())

    @property
    def values(self) -> tuple[str, ...]:
        """What may be personal in the selection itself and must stand in no record of it."""
        return tuple(said for said in (self.conversation, self.person, self.search) if said is not None)

    def matches(self, entry: Entry, facts: Facts) -> bool:
        """True if all that is given fits this entry, whose body is there."""
        if self.entries and facts.entry_id not in self.entries:
            return False
        if self.conversation is not None and facts.conversation != self.conversation:
            return False
        if self.person is not None and not (facts.kind in PERSONS and person_key(self.person) in facts.users):
            return False
        return self.search is None or says(entry.body, entry.kind, self.search)

    def is_said_in(self, text: str) -> bool:
        """True if a text holds what is to be erased, or a word of the text that is searched for."""
        words = [word for word in _WORD.findall(self.search or "") if len(word) >= SEARCH_LEAST]
        said = {word.casefold() for word in _WORD.findall(text)}
        return any(contains(text, value) for value in self.values) or any(word.casefold() in said for word in words)
