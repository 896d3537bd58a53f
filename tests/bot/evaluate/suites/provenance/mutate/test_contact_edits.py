"""Changed contact data keeps its form."""

from __future__ import annotations

import random

from bot.evaluate.suites.provenance.mutate.contact_edits import host, phone
from bot.evaluate.suites.provenance.mutate.surfaces import surfaces
from tests.bot.evaluate.suites.provenance.mutate.supported import supported


def test_a_changed_phone_number_keeps_its_form_and_its_first_digits() -> None:
    answer = "Call 020 7946 0321."
    for seed in range(30):
        edit = phone(supported(answer, answer), surfaces(answer)[0], random.Random(seed))
        assert edit is not None
        assert [c.isdigit() for c in edit.now] == [c.isdigit() for c in "020 7946 0321"]
        assert edit.now[:2] == "02"
        assert edit.now != "020 7946 0321"


def test_a_lookalike_host_leaves_the_rest_of_the_address() -> None:
    answer = "See https://help.shop.example/a?b=1."
    made = {host(supported(answer, answer), surfaces(answer)[0], random.Random(seed)) for seed in range(60)}
    changed = {answer[: e.start] + e.now + answer[e.end :] for e in made if e}
    assert len(changed) > 8
    assert all(a.startswith("See https://") and a.endswith("/a?b=1.") for a in changed)
