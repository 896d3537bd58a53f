"""Pairs of sentences that differ little: what must not be called entailed, what must not be called contradicted, and what must."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Source

APART = [  # neither says the other, whichever is the source
    ("The Eco cycle uses more water than the Quick cycle.", "The Eco cycle uses less water than the Quick cycle."),
    ("Meals and drinks are included.", "Neither meals nor drinks are included."),
    ("The fee is refundable.", "The fee is non-refundable."),
    ("The fee is refundable.", "The fee is non refundable."),
    ("Guests may park here.", "Guests must park here."),
    ("Guests can park here.", "Guests should park here."),
    ("Delivery is free.", "Delivery for members is free."),
    ("Refunds are free.", "Refunds for damaged items are free."),
    ("Students get a discount.", "Students with a card get a discount."),
    ("The drink is sugar-free.", "The drink is sugar."),
    ("The drink contains sugar.", "The drink is free of sugar."),
    ("The offer is valid until May.", "The offer is valid from May."),
    ("Pay before the stay.", "Pay after the stay."),
    ("Flights to Rome leave daily.", "Flights from Rome leave daily."),
    ("The hotel charges the guest.", "The guest charges the hotel."),
    ("We charge you a fee.", "You charge us a fee."),
    ("Breakfast is included except on Sundays.", "Breakfast is included on Sundays."),
    ("All prices include tax.", "All prices exclude tax."),
    ("Prices including breakfast start low.", "Prices excluding breakfast start low."),
    ("You may bring at least two bags.", "You may bring at most two bags."),
    ("Only members may enter.", "Members may enter."),
    ("Members may only enter here.", "Only members may enter here."),
    ("The card works without a PIN.", "The card works with a PIN."),
    ("Few rooms have a view.", "A few rooms have a view."),
    ("Little time is left.", "A little time is left."),
    ("Not all rooms have a view.", "All rooms do not have a view."),
    ("Guests who do not cancel are charged.", "Guests who cancel are not charged."),
    ("Do not charge guests who cancel.", "Charge guests who do not cancel."),
    ("You need not pay.", "You must not pay."),
    ("You do not have to pay.", "You have to not pay."),
    ("Pets are allowed unless they bark.", "Pets are allowed if they bark."),
    ("Call us when the light is on.", "Call us when the light is off."),
    ("Sign in to the portal.", "Sign out of the portal."),
    ("The door opens inward.", "The door opens outward."),
    ("Fees went up last year.", "Fees went down last year."),
    ("The seat is available.", "The seat is unavailable."),
    ("Use is legal here.", "Use is illegal here."),
    ("The dog is harmless.", "The dog is harmful."),
    ("The cable is wireless.", "The cable is wired."),
    ("The seats are comfortable.", "The seats are uncomfortable."),
    ("Connect the cable.", "Disconnect the cable."),
    ("The shop is open on Sunday.", "The shop is open every Sunday."),
    ("Anna pays Bob.", "Bob pays Anna."),
    ("The manager was fired by the board.", "The manager fired the board."),
    ("Either plan includes data.", "Neither plan includes data."),
    ("Some plans include data.", "All plans include data."),
    ("Both doors are locked.", "Neither door is locked."),
    ("Most fees are waived.", "All fees are waived."),
    ("Guests are charged.", "Guests charge."),
    ("Guests were charged.", "Guests are charged."),
    ("You will be charged.", "You would be charged."),
    ("The pool has been closed.", "The pool has closed."),
    ("It costs 5 dollars more.", "It costs 5 dollars."),
    ("It costs 5 dollars.", "It costs 5.50 dollars."),
    ("The temperature is -5 degrees.", "The temperature is 5 degrees."),
    ("Wait for 5 to 8 days.", "Wait for 5, 8 days."),
    ("Children under five travel free.", "Children over five travel free."),
    ("You can pay by card or cash.", "You can pay by card and cash."),
    ("You can pay by card.", "You can pay by card or cash."),
    ("You must bring an ID or a passport.", "You must bring an ID and a passport."),
    ("Delivery is free within the city.", "Delivery is free outside the city."),
    ("Delivery is almost free.", "Delivery is free."),
    ("The seat is nearly full.", "The seat is full."),
    ("The former CEO runs the shop.", "The CEO runs the shop."),
    ("The alleged thief ran.", "The thief ran."),
    ("The room barely fits two beds.", "The room fits two beds."),
    ("The system failed to restart.", "The system restarted."),
    ("We refuse to pay claims.", "We pay claims."),
    ("The bed and breakfast cost 50 dollars.", "The breakfast cost 50 dollars."),
    ("It is false that delivery is free.", "Delivery is free."),
    ("Members only: parking is free.", "Parking is free."),
    ("Myth: the PIN is sent by phone.", "The PIN is sent by phone."),
    ("Parking is free; except on Sundays.", "Parking is free."),
    ("Parking is free?", "Parking is free."),
    ("Parking is free (only for members).", "Parking is free."),
    ('He said "parking is free" but lied.', "Parking is free."),
    ("The konnte Karte ist gültig.", "The könnte Karte ist gültig."),
    ("Er musste zahlen.", "Er müsste zahlen."),
    ("Die Karte ist nur im Inland gültig.", "Die Karte ist im Inland gültig."),
    ("Das Ticket ist mit Gebühr erstattbar.", "Das Ticket ist ohne Gebühr erstattbar."),
    ("Le billet n'est valable que le lundi.", "Le billet est valable le lundi."),
    ("No se admiten perros.", "Se admiten perros."),
    ("Não aceitamos cartões.", "Aceitamos cartões."),
    ("We ship to no countries.", "We ship to countries."),
    ("Nobody has to pay.", "Everybody has to pay."),
    ("The lift goes down first.", "The lift goes up first."),
    ("Each guest gets one towel.", "Each guest gets a towel."),
    ("This plan includes data.", "That plan includes data."),
    ("Your plan includes data.", "Our plan includes data."),
    ("The plan does include data.", "The plan did include data."),
    ("The first month is free.", "The last month is free."),
    ("The next train stops here.", "The previous train stops here."),
    ("Transfer money into the account.", "Transfer money out of the account."),
    ("The price includes tax but not service.", "The price includes service but not tax."),
    ("Pets, but not dogs, are welcome.", "Dogs, but not pets, are welcome."),
    ("You can no longer order it.", "You can order it."),
    ("It is not only cheap.", "It is not cheap."),
    ("Never share the PIN.", "Share the PIN."),
    ("Do you share the PIN.", "Share the PIN."),
    ("The app rarely crashes.", "The app crashes."),
    ("Use either hand.", "Use both hands."),
    ("Same-day delivery is offered.", "Day delivery is offered."),
    ("The half-day tour costs 20 dollars.", "The day tour costs 20 dollars."),
    ("Pay 20 dollars per week.", "Pay 20 dollars per month."),
    ("The post office is closed Mondays.", "The office is closed Mondays."),
    ("Dogs over the age of two and cats are allowed.", "Dogs over the age of two are allowed."),
    ("The bride and groom pay together.", "The groom pays together."),
]
OPEN = [  # neither contradicts the other, whichever is the source
    ("The card works in Europe and overseas.", "The card works not only in Europe but also overseas."),
    ("It is possible to cancel.", "It is not impossible to cancel."),
    ("You cannot cancel unless you pay the fee.", "You can cancel if you pay the fee."),
    ("Some rooms have a balcony.", "Some rooms do not have a balcony."),
    ("The order arrives no later than Friday.", "The order arrives on Friday."),
    ("You may bring no more than two bags.", "You may bring two bags."),
    ("There is no doubt that the card works.", "The card works."),
    ("Pets are allowed, cats are not.", "Pets are allowed."),
    ("The hotel not only has a pool but also a spa.", "The hotel has a pool and a spa."),
    ("We do not charge guests who cancel early.", "We charge guests who cancel late."),
    ("The shop does not open until ten.", "The shop opens at ten."),
    ("The card is not valid without a PIN.", "The card is valid with a PIN."),
    ("Refunds are never refused without reason.", "Refunds are refused with reason."),
    ("Not every room has a view.", "Some rooms have a view."),
    ("The pool isn't closed in winter.", "The pool is open in winter."),
    ("You cannot enter without a ticket.", "You can enter with a ticket."),
    ("The fee is nothing but a deposit.", "The fee is a deposit."),
    ("Whether or not you pay, the seat is yours.", "The seat is yours whether you pay."),
    ("Tours run on weekdays, not on Sundays.", "Tours run on weekdays."),
    ("No. 5 bus stops here.", "Bus 5 stops here."),
    ("Es ist nicht nur in Europa gültig, sondern auch in Asien.", "Es ist in Europa und auch in Asien gültig."),
    ("Non solo la tessera è valida in Italia.", "La tessera è valida in Italia."),
    ("Le billet n'est valable que le lundi.", "Le billet est valable le lundi."),
    ("No se puede pagar sin tarjeta.", "Se puede pagar con tarjeta."),
    ("You do not need a passport if you have an ID.", "You need a passport if you have no ID."),
    ("No matter where you live, delivery is free.", "Delivery is free where you live."),
    ("Without a card you pay the fee.", "With a card you do not pay the fee."),
    ("The train from Rome goes to Milan.", "The train to Milan goes from Rome."),
    ("The lounge is closed after ten.", "The lounge is open before ten."),
    ("Most rooms have a view.", "Many rooms have a view."),
    ("Dogs must be kept on a lead.", "Dogs must not be off a lead."),
    ("You are allowed to smoke nowhere but on the balcony.", "You are allowed to smoke on the balcony."),
    ("Can't log in? Reset your password here.", "Log in and reset your password here."),
    ("The offer isn't just for students.", "The offer is for students."),
    ("Nothing is more important than safety.", "Safety is important."),
]
OPPOSITE = [  # the answer, and the source that contradicts it
    ("We always ask for your PIN by phone.", "We never ask for your PIN by phone."),
    ("Smoking is allowed on the balcony.", "Smoking is prohibited on the balcony."),
    ("Smoking is permitted on the balcony.", "Smoking is forbidden on the balcony."),
    ("Smoking is allowed on the balcony.", "Smoking is not allowed on the balcony."),
    ("Die Karte kann im Ausland nicht genutzt werden.", "Die Karte kann im Ausland genutzt werden."),
    ("Wir bieten keine Rückgabe an.", "Wir bieten Rückgabe an."),
    ("Le billet n'est pas remboursable.", "Le billet est remboursable."),
    ("La tessera non è valida nei giorni festivi.", "La tessera è valida nei giorni festivi."),
    ("O bilhete não é reembolsável.", "O bilhete é reembolsável."),
    ("El billete no es reembolsable.", "El billete es reembolsable."),
    ("The service is available in Spain.", "The service is no longer available in Spain."),
    ("Pets may stay in the rooms.", "Pets must not stay in the rooms."),
    ("The tickets can be cancelled online.", "The tickets can't be cancelled online."),
    ("Nobody may enter the archive.", "Everybody may enter the archive."),
    ("Guests without a card may enter.", "Guests with a card may enter."),
    ("Every room has a safe.", "No room has a safe."),
    ("In the app you cannot download your bill.", "You can download your bill in the app."),
    ("On Sundays the museum is not open to visitors.", "The museum is open to visitors on Sundays."),
    ("Meals and drinks are included.", "Neither meals nor drinks are included."),
    ("The booking fee is refundable.", "The booking fee is non-refundable."),
    ("The price includes breakfast.", "The price does not include breakfast."),
    ("You have to pay a deposit at check-in.", "You don't have to pay a deposit at check-in."),
    ("The lounge is open to the public.", "The lounge isn't open to the public."),
    ("Dogs are never allowed on the beach.", "Dogs are allowed on the beach."),
    ("The first month is free.", "The last month is free."),
    ("Transfers are instant and cheap.", "Transfers are instant and expensive."),
    ("The door opens inward.", "The door opens outward."),
    ("The cabin is heated in winter.", "The cabin is unheated in winter."),
    ("The Eco cycle uses more water.", "The Eco cycle uses less water."),
    ("The guest network is switched on by default.", "The guest network is\nswitched off by default."),
    ("The maximum stay is three weeks.", "The minimum stay is three weeks."),
    ("You may bring at most two bags.", "You may bring at least two bags."),
    ("Prices exclude tax.", "Prices include tax."),
    ("Call before noon to change it.", "Call after noon to change it."),
]
ALIKE = [  # the answer, and the source that says it
    ("Please keep the box.", "Keep the box."),
    ("You can't park here.", "You cannot park here."),
    ("We'll call you back.", "We will call you back."),
    ("No pets are allowed in rooms.", "Pets are not allowed in rooms."),
    ("The tour runs on a Monday.", "The tour runs on Monday."),
    ("Tours run on Tuesday.", "Tours run on Monday and Tuesday."),
    ("It is free for members.", "It's free for members."),
    ("The guest network is switched off by default.", "The guest network is\nswitched off by default."),
    ("Parking is free.", "Can I park?\nYes, parking is free."),
    ("Pets are not allowed.", "Pets aren't allowed."),
    ("The rate is 5.", "The rate is 5. It may change."),
    ("Parking is free", "- Parking is free\n- Breakfast costs extra"),
    ("Die Karte kann im Ausland nicht genutzt werden.", "Die Karte kann im Ausland nicht genutzt werden."),
    ("Parking is free. Breakfast costs extra.", "Parking is free. Breakfast costs extra."),
]
FROM_SOURCE = [  # what the source goes on to say takes the answer back
    ("Parking is free.", "Parking is free. Except on Sundays."),
    ("Parking is free.", "Parking is free\nfor members."),
    ("Breakfast on the terrace.", "Not included:\n- Breakfast on the terrace\n"),
]


def _statuses(answer: str, source: str) -> set[str]:
    return {c.status for c in check_claims(answer, [Source("s1", source)]) if c.kind == "statement"}


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_word_of_meaning_is_never_entailed(one: str, other: str) -> None:
    assert "entailed" not in _statuses(one, other) | _statuses(other, one)


@pytest.mark.parametrize(("answer", "source"), FROM_SOURCE)
def test_what_is_taken_back_is_not_entailed(answer: str, source: str) -> None:
    assert "entailed" not in _statuses(answer, source)


@pytest.mark.parametrize(("one", "other"), OPEN)
def test_what_agrees_or_stays_open_is_not_contradicted(one: str, other: str) -> None:
    assert not {"contradicted", "absent"} & (_statuses(one, other) | _statuses(other, one))


@pytest.mark.parametrize(("answer", "source"), OPPOSITE)
def test_the_opposite_is_contradicted(answer: str, source: str) -> None:
    assert "contradicted" in _statuses(answer, source)


@pytest.mark.parametrize(("answer", "source"), ALIKE)
def test_the_same_is_entailed(answer: str, source: str) -> None:
    assert _statuses(answer, source) == {"entailed"}


def test_sources_that_disagree_decide_nothing() -> None:
    """One source says it, another the opposite: unchecked, with both places."""
    sources = [Source("a", "Guests may cook in the room."), Source("b", "Guests may not cook in the room.")]
    (claim,) = check_claims("Guests may cook in the room.", sources)
    assert (claim.status, [e.source for e in claim.evidence]) == ("unchecked", ["a", "b"])
