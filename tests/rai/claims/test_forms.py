"""Forms of dates, times, quantities and amounts that stand next to others which look alike."""

from __future__ import annotations

import pytest

from rai.claims.find import find_values

READ = [
    # text, characters, kind, normal form
    ("The household used 300 kWh.", "300 kWh", "quantity", "300 kWh"),
    ("It used 5 kilowatt hours.", "5 kilowatt hours", "quantity", "5 kWh"),
    ("Battery: 5000 mAh", "5000 mAh", "quantity", "5000 mAh"),
    ("450 kilocalories", "450 kilocalories", "quantity", "450 kcal"),
    ("The adapter gives 12 A.", "12 A", "quantity", "12 amp"),
    ("Many USB ports give less than 1 A", "1 A", "quantity", "1 amp"),
    ("Take line 12 A\n- Battery: two years", "12", "number", "12"),
    ("Wait at platform 12 A.", "12", "number", "12"),
    ("timeout=30s", "30s", "quantity", "30 second"),
    ("The right follows from § 312g BGB.", "312g", "entity", "312g"),
    ("Die Lieferung dauert drei Tage.", "drei Tage", "quantity", "3 day"),
    ("La garantie dure deux ans.", "deux ans", "quantity", "2 year"),
    ("Die Investition beträgt 2 Milliarden Euro.", "2 Milliarden Euro", "money", "2000000000 EUR"),
    ("Son 3 mil millones de euros.", "3 mil millones de euros", "money", "3000000000 EUR"),
    ("Ce sont 2 milliards d’euros.", "2 milliards d’euros", "money", "2000000000 EUR"),
    ("Bins are emptied every fortnight.", "fortnight", "quantity", "1 fortnight"),
    ("Bins are emptied every other week.", "other week", "quantity", "2 week"),
    ("Take the second exit.", "second", "number", "2"),
    ("Valid until 03/2028.", "03/2028", "date", "2028-03"),
    ("El 1.º de enero de 2027 abre.", "1.º de enero de 2027", "date", "2027-01-01"),
    ("The season 2007–08 was wet.", "08", "date", "2008"),
    ("It starts at 2200 hours.", "2200 hours", "time", "22:00"),
    ("It lasts up to 1500 hours.", "1500 hours", "quantity", "1500 hour"),
    ("Vienna,9:00,19:00", "19:00", "time", "19:00"),
]


@pytest.mark.parametrize(("text", "characters", "kind", "value"), READ)
def test_read(text: str, characters: str, kind: str, value: str) -> None:
    """The characters, the kind and the normal form."""
    assert (characters, kind, value) in [(text[v.start : v.end], v.kind, v.value) for v in find_values(text)]


NEAR = [
    # text, what is no value of this kind in it
    ("people in their 30s", "quantity"),
    ("From 1900-2000 users", "date"),
    ("a ratio of 13/2028", "date"),
    ("He said the second thing", "number"),
    ("The right follows from § 312g BGB.", "quantity"),
]


@pytest.mark.parametrize(("text", "kind"), NEAR)
def test_near_misses(text: str, kind: str) -> None:
    """What looks alike is no such value."""
    assert [text[v.start : v.end] for v in find_values(text) if v.kind == kind] == []
