"""Words of the message extension, in the language of the person's own program."""

from __future__ import annotations

from bot.wording.words import Wording


class ExtensionWords(Wording):
    """The words of one language, which a `locale` as "de-AT" names."""

    FILE = "extension.yaml"
