"""What the dashboard says beside its charts."""

from __future__ import annotations

from bot.desk.daily import OUTCOME, REFUSED, STRUCK
from bot.review.dashboard import means


def test_a_rule_on_a_chart_is_told_in_words() -> None:
    assert means(REFUSED, "JB-01") == "tells the assistant to drop the instructions it was given"
    assert means(STRUCK, "cell-row").startswith("the answer names another row of the table")
    for key, name in ((OUTCOME, "Answered"), (REFUSED, "rule-of-last-year"), (STRUCK, "role")):
        assert means(key, name) == ""
