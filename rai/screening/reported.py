"""Orders that a text tells of without giving them: what a lesson, a report or a question about an attack has in quotation marks.

Quotation marks alone prove nothing, whoever plants an order may use them. The text must speak of such attacks, or of what somebody typed, as well;
and what stands outside the marks is judged as ever.
"""

from __future__ import annotations

import re

_QUOTED = re.compile(r"[\"“”„«»‘`][^\"“”„«»‘’`\n]{6,400}[\"“”„«»’`]")
_TOLD_OF = re.compile(
    r"\b(?:train(?:ing|ed|ee)s?|exercis\w*|quiz|lessons?|modules?|slides?|workshops?|(?<!\.)examples?|phish\w*|injections?|fraudsters?|scam\w*|attackers?|attacks|attempts?|"
    r"suspicious|typed|types|typing|pastes?|pasted|wrote|writes in|spotted|flag(?:ged)?|caught|testers?|awareness|screenshots?|incident|"
    r"prompt library|prompts?|hidden (?:text|sentences?|lines?)|jailbreak\w*|fools?|fall for|falls for|trick(?:s|ed)?|prank\w*|joking|in plain words|"
    r"transcripts?|subtitles?|bug (?:reports?|tickets?)|of the (?:sort|type|kind|form)|steers?|steering|recogni[sz]e (?:it|them|one)|"
    r"(?:contains?|containing|holds?|with) the (?:sentences?|lines?|words?|phrases?)|(?:which|that) (?:ran|reads?|says|said)|"
    r"(?:users?|customers?|callers?|guests?|people|some(?:one|body)) (?:now |sometimes |may |might |could )?(?:write|say|type|ask)s?)\b(?!\.\w)",
    re.IGNORECASE,
)


def given(text: str, english: str) -> str:
    """`text` without what it only tells of; all of it where it does not speak of attacks. `english`: the same in English words."""
    if not _TOLD_OF.search(english):
        return text
    return _QUOTED.sub("…", text)
