"""What a customer gets to read: the answer without our marks and forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.wording.conversation.customer_text import for_customer
from bot.wording.values import value_spans


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


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("See https://contoso.com/my__page__2 [1].", "See https://contoso.com/my__page__2."),
        ("Write to anna__b__c@contoso.com [1].", "Write to anna__b__c@contoso.com."),
        ("Dial **21*0800111# or **61*0800222#, then **Save** [1].", "Dial **21*0800111# or **61*0800222#, then Save."),
        ("**Dial **21*0800111# now**", "Dial **21*0800111# now"),
        ("See https://contoso.com/list[5]=x [5].", "See https://contoso.com/list[5]=x."),
        ("+ 49 30 1234567 is the number [1]", "+ 49 30 1234567 is the number"),
        ("- 5 °C is the least [1]", "- 5 °C is the least"),
        ("- 5 GB [1]\n* 30 days [1]", "• 5 GB\n• 30 days"),
        ("## Call 0800 111 2222\nTill 9 [1].", "Call 0800 111 2222\nTill 9."),
        (
            "See [us](https://contoso.com/a_(b)) or [mail](mailto:a@b.com).",
            "See us: https://contoso.com/a_(b) or mail: a@b.com.",
        ),
        ("$5 plan: Pro | Phone: 0800 111 2222", "$5 plan: Pro – Phone: 0800 111 2222"),
        ("**__Call__ `a__b__c`**, (**now**)", "Call a__b__c, (now)"),
        ("Write to help@`contoso`.com", "Write to help@`contoso`.com"),
        ("\U000f0000 \U000f0001 costs $5", "\U000f0000 \U000f0001 costs $5"),
    ],
)
def test_what_changes_the_form_leaves_contacts_and_amounts_as_they_are(answer: str, plain: str) -> None:
    assert for_customer(answer) == plain


@pytest.mark.parametrize(
    ("answer", "unvouched", "plain"),
    [
        (
            "See https://contoso.com/help and contoso.com [1].",
            ["contoso.com"],
            "See https://contoso.com/help and contoso.com (⚠).",
        ),
        (
            "Call 0800 111 2222 or 0800 111 2222 ext. 5.",
            ["0800 111 2222"],
            "Call 0800 111 2222 (⚠) or 0800 111 2222 ext. 5.",
        ),
        (
            "Call 0800 111 2222 or +49 0800 111 2222.",
            ["0800 111 2222", "+49 0800 111 2222"],
            "Call 0800 111 2222 (⚠) or +49 0800 111 2222 (⚠).",
        ),
        ("Call 0800 111 2222 ext. 5.", ["0800 111 2222"], "Call 0800 111 2222 ext. 5 (⚠)."),
        ("See [us](https://contoso.com/x) [1].", ["https://contoso.com/x"], "See us: https://contoso.com/x (⚠)."),
        ("Ask **@helper_desk** or @helper_desk.", ["@helper_desk"], "Ask @helper_desk (⚠) or @helper_desk (⚠)."),
        ("見https://contoso.com/x 。", ["https://contoso.com/x"], "見https://contoso.com/x (⚠) 。"),
        ("Pay AB-1 to AB-12.", ["AB-1"], "Pay AB-1 (⚠) to AB-12."),
    ],
)
def test_a_sign_stands_behind_whole_contacts_alone_and_once(answer: str, unvouched: list[str], plain: str) -> None:
    assert for_customer(answer, unvouched) == plain


_VALUES = st.sampled_from(
    [
        "https://contoso.com/my__page",
        "https://contoso.com/a_(b)?x=**b**&y[5]=c",
        "contoso.com/__x__/y",
        "anna__b@contoso.com",
        "+ 49 30 1234567",
        "+49 30 1234567 ext. 5",
        "0800 111 2222",
        "*#06#",
        "**21*0800111#",
        "$1,250.00",
        "12 %",
        "-5 °C",
        "30 days",
    ]
)
_FORMS = st.sampled_from(
    [
        "{}",
        "**{}**",
        "`{}`",
        "__{}__",
        "({})",
        "- {}",
        "+ {}",
        "## {}",
        "1. {}",
        "**Call {} now**",
        "Now: {} | Then: {}",
        "{} [1].",
        "[us]({})",
    ]
)


@given(st.lists(st.tuples(_FORMS, _VALUES), min_size=1, max_size=6), st.sampled_from(["\n", " and ", "\n\n"]))
def test_the_copy_has_the_contacts_and_amounts_of_the_answer(said: list[tuple[str, str]], between: str) -> None:
    answer = between.join(form.replace("{}", value) for form, value in said)
    copy = for_customer(answer)
    asked = [value for form, value in said for _ in range(form.count("{}"))]
    for value in (*asked, *(answer[start:end] for start, end in value_spans(answer))):
        assert copy.count(value) == answer.count(value)
