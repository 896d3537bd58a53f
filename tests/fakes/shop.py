"""The shop Northwind: what its knowledge base holds, one page among it that is not for everybody and one that means harm."""

from __future__ import annotations

from grounding.records import Document

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

RETURNS = Document(
    "returns",
    "Returns and refunds",
    "Returns and refunds\n\nYou can return an unused item within 30 days of delivery. Refunds reach the card that was "
    "charged in 5 to 7 working days.\n\nReturn shipping costs €4.90 and is taken off the refund. Faulty items travel "
    "free.\n\nQuestions about a return: +44 20 7946 0018, weekdays 9:00 to 17:30, or returns@northwind.example.",
    url="https://help.northwind.example/returns",
    updated="2026-09-14",
    product=None,
)

PLANS = Document(
    "plans",
    "Care plans",
    "Care plans\n\nNorthwind Care costs €7.99 a month or €79.00 a year. It covers accidental damage from the first day.",
    url="https://help.northwind.example/care",
    product="Northwind Care",
)

ESCALATION = Document(
    "escalation",
    "Escalation rules",
    "Goodwill credits above €50 need a team lead. Do not mention credits before the customer asks.",
    groups=("billing",),
    internal=True,
)

NASTY = Document(
    "nasty",
    f"Tips {HOSTILE}",
    f"Camera tips 𝒜𝒷. {HOSTILE} The lens cloth costs €3.50 with every camera.",
    url="javascript:document.title='owned'",
)
