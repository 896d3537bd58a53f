"""What was learned of a chat model from its replies and refusals: unsupported parameters, and whether it reasons before it writes.

One record for each address and model, shared by all that call it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from grounding.services.cloud import is_openai

LengthName = Literal["max_tokens", "max_completion_tokens"]
Part = Literal["temperature", "effort", "schema", "stream", "stream_options", "max_tokens", "max_completion_tokens"]
THINKING = 4096
"""Tokens of room for thinking. GPT-5 models were seen to think 1,100 to 1,400 over a short text; at 100 to 200 tokens a second, a call
of 20 s has time for 2,000 to 4,000.
"""
WIDER = 4
"""Times that room, for the second try of a reply that was cut."""


@dataclass(slots=True)
class Learned:
    """Capabilities of one model, as known so far.

    `thinking`: extra tokens for reasoning. `assumed`: whether the model is taken to reason until a reply tells. `refused`: parameters that
    it does not take, left out of every further request; `efforts`: words that it named when it refused one. Concurrent calls may each be
    refused; what is learned is the same.
    """

    thinking: int = THINKING
    assumed: bool = False
    length_name: LengthName = "max_tokens"
    thinks: bool | None = None
    refused: set[Part] = field(default_factory=set)
    efforts: tuple[str, ...] = ()
    _wide: bool = False
    _most: int | None = None

    def room(self) -> int:
        """Extra tokens that a reply gets beyond its cap for reasoning: 0 for a model that does not reason."""
        thinks = self.assumed if self.thinks is None else self.thinks
        return self.fitting((WIDER if self._wide else 1) * self.thinking if thinks else 0)

    def wider(self, room: int, *, wrote: bool) -> int | None:
        """Extra tokens for a second try after a reply with `room` extra tokens was cut off; None if it could have no more.

        `wrote`: it wrote, and shows no sign of reasoning: then its text was long.
        """
        wide = self.fitting(self.thinking if wrote and not room else WIDER * self.thinking)
        return wide if wide > room else None

    def learn_from(self, thought: int | None, *, mused: bool) -> None:
        """Learn from a reply. `thought`: reasoning tokens that it reports, None if it does not; `mused`: it shows its reasoning."""
        if mused or thought:
            self.thinks = True
        elif thought == 0 and self.thinks is None:
            self.thinks = False
        self._wide = self._wide or (thought or 0) > self.thinking

    def narrow(self, room: int) -> None:
        """Learn that a cap with `room` extra tokens was refused as too large."""
        self._most = self.thinking if room > self.thinking else 0

    def other_length(self, name: LengthName) -> bool:
        """Learn that the cap's parameter `name` was refused, and use the other name. False if that was refused before."""
        self.refused.add(name)
        other: LengthName = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
        if other in self.refused:
            return False
        self.length_name = other
        return True

    def fitting(self, room: int) -> int:
        """`room`, or the part of it that was not refused."""
        return room if self._most is None else min(room, self._most)


def beginning(
    base_url: str | None, *, thinking: int = THINKING, effort: str | None = None, sure: bool = False
) -> Learned:
    """What is assumed of a model before its first reply.

    OpenAI's own models and Azure's reason, by and large, and refuse the old name of the cap; other servers may know the old name alone. An
    `effort` other than "none" says that it reasons; `sure`: the settings say so.
    """
    ours = is_openai(base_url)
    assumed = effort != "none" and (ours or sure or effort is not None)
    return Learned(thinking, assumed, "max_completion_tokens" if ours else "max_tokens")
