"""What a customer gets to read: the answer without our marks and forms."""

import pytest

from bot.wording.conversation.customer_text import for_customer


def test_what_not_everyone_may_read_keeps_a_mark() -> None:
    answer = "Quoted from the sources:\n- Open till 9 [1].\n- Offer: 10 % off | Till: May [2]"
    assert for_customer(answer, internal={2}, mark="intern") == "• Open till 9.\n• 10 % off – Till: May [intern]"


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("Within 30 days [1] [2].", "Within 30 days."),
        ("## Returns\n\n- **30 days** [1]\n- no fee [2]", "• 30 days\n• no fee"),
        ("See [our page](https://help.example/returns) [1].", "See our page: https://help.example/returns."),
        ("Quoted from the sources:\n- Open till 9 [1].", "• Open till 9."),
        ("Use `reset_all` now.", "Use reset_all now."),
        ("a\n\n\n\nb", "a\n\nb"),
        ("- Shop: Brindle Falls | Sunday: 11:00-16:00 [1]", "• Brindle Falls – Sunday: 11:00-16:00"),
        (
            "Price | Wren X2: $219.00\n\nSensor | Price: – | Battery: 2 years",
            "Price – Wren X2: $219.00\n\nSensor – Battery: 2 years",
        ),
        (
            "1. Open the app [1].\n2. Code: C-421 | What to do: wait [2]",
            "1. Open the app.\n2. C-421 – What to do: wait",
        ),
        ("Yes | no", "Yes – no"),
        ("- Answer: No. Wait [1].\n- **Antwort:** Nein.", "• No. Wait.\n• Nein."),
        ("The Answer: none", "The Answer: none"),
        ("Open till 9 [1].\n\nNot found in the sources: “is it free”", "Open till 9."),
    ],
)
def test_text_for_the_customer_has_no_marks(answer: str, plain: str) -> None:
    assert for_customer(answer) == plain
