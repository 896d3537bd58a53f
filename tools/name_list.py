"""Makes `rai/personal/names.txt.gz`, the list of given names, family names and ordinary words, from Faker's lists (MIT) and babel's (CLDR, Unicode-3.0).

`python -m tools.name_list FOLDER`, FOLDER holding an unpacked Faker (`pip download --no-deps faker`, unzip). Faker is read here alone: nothing of it is installed or run with the program.
"""

from __future__ import annotations

import gzip
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel import Locale

from rai.personal.listed import LIST, plain

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl")
LOREM = ("en_US", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL")
_NAME = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CYRILLIC = str.maketrans(
    dict(zip("абвгґдезиійклмнопрстуфьё", (*"abvhgdezy", *"iiklmnoprstuf", "", "yo"), strict=True))
    | {"є": "ie", "ж": "zh", "ї": "i", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "iu", "я": "ia"}
)
"""Ukrainian names as their bearers' passports spell them."""
_LEAST = {"first": 3, "last": 2}
"""Fewest letters of a name: given names of two are words of some language."""
_LEFT_OUT = ("zh_CN", "is_IS")
"""Locales whose given names stay out: single syllables, each of them somebody's word, and four thousand names that few bear."""


def names(kind: str) -> set[str]:
    """The names of Faker's persons in Latin letters, `kind` being `first` or `last`, as `plain` writes them; a double name without a part of its own is left out."""
    package = importlib.import_module("faker.providers.person")
    found: set[str] = set()
    for module in pkgutil.iter_modules(package.__path__):
        if kind == "first" and module.name in _LEFT_OUT:
            continue
        provider = importlib.import_module(f"{package.__name__}.{module.name}").Provider
        for table in dir(provider):
            if kind in table and not table.startswith("_") and "format" not in table:
                listed = getattr(provider, table)
                found |= set(_single(listed, kind)) if isinstance(listed, list | tuple | dict) else set()
    return {n for n in found if "-" not in n or not all(part in found for part in n.split("-"))}


def _single(listed: object, kind: str) -> Iterator[str]:
    for name in listed if isinstance(listed, list | tuple | dict) else ():
        for part in plain(str(name).lower().translate(_CYRILLIC)).split():
            if _NAME.fullmatch(part) and len(part) >= _LEAST[kind]:
                yield part


def words(given: set[str], family: set[str]) -> set[str]:
    """Ordinary words of seven languages, and the months, countries, languages and capitals of eight that are names too."""
    found, places = set[str](), set[str]()
    for locale in LOREM:
        listed = importlib.import_module(f"faker.providers.lorem.{locale}").Provider.word_list
        found |= {plain(word) for word in listed}
    for language in LANGUAGES:
        locale_data = Locale(language)
        called = [*locale_data.territories.values(), *locale_data.languages.values()]
        called += [m for widths in locale_data.months.values() for names_ in widths.values() for m in names_.values()]
        called += [zone["city"] for zone in locale_data.time_zones.values() if "city" in zone]
        places |= {plain(word) for name in called for word in _WORD.findall(name)}
    return {word for word in found | places & (given | family) if _NAME.fullmatch(word)}


def main(folder: Path) -> None:
    """Writes the list."""
    sys.path.insert(0, str(folder))
    given, family = names("first"), names("last")
    sets = (given, family, words(given, family))
    kinds = {w: sum(1 << bit for bit, known in enumerate(sets) if w in known) for known in sets for w in known}
    sections = (sorted(w for w, kind in kinds.items() if kind == wanted) for wanted in range(1, 8))
    text = "\n\n".join("\n".join(section) for section in sections)
    LIST.write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))
    sys.stdout.write(f"{', '.join(str(len(s)) for s in sets)} names and words, {LIST.stat().st_size} bytes\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.name_list FOLDER, a folder that holds an unpacked Faker")
    main(Path(sys.argv[1]))
