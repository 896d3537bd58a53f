"""Words that tell a name from what merely begins with a capital. English; a list is short where a rule can do it."""

from __future__ import annotations

from grounding.text import STOP_WORDS

HONORIFICS = frozenset("Mr Mrs Ms Miss Mx Dr Prof Professor Sir Dame Herr Frau Mme".split())
HONORIFIC = r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Herr|Frau|Mme|Señor|Señora|(?<![\dA-Z] )M)"
CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
ORGANISATION = frozenset(
    "inc ltd llc gmbh ag corp corporation company bank university institute hotel museum group association".split()
)
LEADING = STOP_WORDS | CALENDAR | frozenset(
    "mr mrs ms mx dr prof sir click select choose open go press tap use see visit note yes sure sorry dear call contact check "
    "email e-mail mail phone telephone tel fax number address website url link price fee cost "
    "although unfortunately however step since during according every many both another while unlike via parking".split()
)  # fmt: skip
_SHORT = "ltd/limited inc/incorporated co/company corp/corporation st/street rd/road ave/avenue blvd/boulevard sq/square intl/international dept/department"
SPELT_OUT = {
    a: b for short, full in (pair.split("/") for pair in _SHORT.split()) for a, b in ((short, full), (full, short))
}
"""What a word of a name or address is also written as: Ltd and Limited."""
NATIONALITIES = frozenset(
    "american british english scottish welsh irish german french spanish italian portuguese dutch belgian swiss austrian polish "
    "czech slovak hungarian romanian bulgarian greek turkish russian ukrainian swedish norwegian danish finnish icelandic "
    "chinese japanese korean indian pakistani bangladeshi thai vietnamese indonesian malaysian filipino australian canadian "
    "mexican brazilian argentine argentinian chilean colombian peruvian cuban egyptian moroccan nigerian kenyan african asian "
    "european israeli palestinian iranian iraqi afghan syrian saudi arab arabic latin latino hispanic hebrew mandarin cantonese "
    "christian catholic protestant jewish muslim islamic hindu buddhist republican democrat democratic".split()
)
CAPITALISED = LEADING | NATIONALITIES | frozenset(
    "internet web wifi wi-fi bluetooth tv pc ok okay god earth christmas easter thanksgiving halloween ramadan hanukkah "
    "valentine new year eve covid please welcome good great nice chapter section figure table page article appendix part "
    "north south east west northern southern eastern western central mom mum dad grandma grandpa uncle aunt president minister "
    "king queen prince princess pope judge justice senator governor mayor captain detective officer professor doctor "
    "i'm i'd i've i'll pan pani pana panu panią państwo państwa sie ihnen ihr ihre ihren ihrem ihrer frau herr "
    "chairman director manager street road avenue city state county hotel restaurant english settings account help".split()
)  # fmt: skip
"""Words that carry a capital in the middle of a sentence without naming anything a source would have to name."""

GENERIC_ACRONYMS = frozenset(
    "ok id tv pc faq pdf usb url api app sms pin sim atm vat hr it ui ai cd dvd am pm asap eta tba tbd fyi diy rsvp ac wifi wi "
    "gb mb kb tb html http https www sql csv xml json ip vpn dns lan cpu gpu ram ssd hdd hd uhd gps nfc qr led lcd rgb usa us "
    "eu uk un a b c d ii iii iv vi vii viii ix xi xii usd eur gbp chf cet gmt utc est pst bst".split()
)
DESCRIPTORS = frozenset(
    "hotel hostel inn motel restaurant cafe bar grill house museum gallery park garden gardens station airport centre center street "
    "road avenue lane square city town county state country district region university college school hospital clinic church "
    "cathedral bank company corporation inc ltd llc gmbh ag corp group association institute foundation department ministry office "
    "agency council court police army government union party club team league cup plan edition package tier subscription bundle app "
    "service services support online store shop customer mr mrs ms mx miss dr prof professor sir dame president vice prime minister "
    "king queen prince princess pope judge justice senator governor mayor captain detective sergeant officer general chief "
    "director manager chairman chairwoman ceo cto cfo doctor uncle aunt jr sr st guest lodge resort apartments suites".split()
)
"""Words that say what kind of thing a name names; leaving one out or adding it names the same thing."""
