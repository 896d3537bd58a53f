"""What has the form of personal data and belongs to nobody: freephone numbers, mailboxes of roles, addresses inside a network, codes of articles."""

from __future__ import annotations

import ipaddress
import re

from rai.personal.known import Kind

_ROLES = frozenset(
    """support help helpdesk info service services contact kontakt contacto contato contatti contactus sales billing accounts accounting invoices orders order returns refunds
    shipping delivery claims complaints privacy gdpr dpo legal press media jobs careers hr office admin webmaster postmaster hostmaster abuse security noreply
    no-reply donotreply do-not-reply newsletter news feedback hello team mail customerservice customer-service customercare customer-care care kundenservice
    kundendienst hilfe rechnung buchhaltung vertrieb bestellung datenschutz service-client serviceclient aide assistance commandes facturation ventes ayuda
    soporte atencion ventas facturacion pedidos reclamaciones assistenza aiuto ordini fatture vendite ajuda suporte vendas faturas klantenservice hulp facturen
    bestellingen verkoop pomoc obsluga biuro sprzedaz reklamacje marketing subscriptions reservations reception""".split()
)
_FREE = re.compile(
    r"(?:\+|00)800\d{8}|(?:\+?1)?8(?:00|33|44|55|66|77|88)\d{7}|0?80[08]\d{6,8}|01800\d{6}|1800\d{6}|0?90[0-2]\d{6}|0180[1-9]\d{3,7}|0800\d{6,8}|08[0-9]{2}\d{6}|116\d{3}"
)
"""Numbers that are free, shared or premium: only firms have them. In figures alone, without the country's own code."""
_SERVICE = re.compile(
    r"0[ ]?8(?:00|08|45|44)|0?80[0]|0[ ]?90[0]|90[0-2](?=[ ]?\d{3}[ ]?\d{3}$)|(?:\+1[ .-]?\(?|1[ -]?)8(?:00|33|44|55|66|77|88)|\(?8(?:00|33|44|55|66|77|88)\)?[ .-]|\+800|00800"
)
_ARTICLE = re.compile(
    r"(?<!\w)(?:ean|gtin|upc|sku|isbn|asin|barcode|strichcode|art(?:ikel|icle|ículo|icolo|igo)?\.?[ -]?(?:no|nr|n[°º]|num(?:mer|ber|éro)?|code)?\.?|item[ ](?:no|number)\.?|part[ ](?:no|number)\.?)"
    r"[\"'’]?[ ]?[:=#]?[ ]?[\"'“]?$",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"\b(?:ip(?:[ -]?(?:address|adresse))?|my|mine|me|him|her|his|their|mein|meine|mon|ma|mi|mio|mia|meu|minha|mijn|mój|moje|from|von|aus|de|depuis|desde|da|van|src)\b[^.\n]{0,8}$",
    re.IGNORECASE,
)
"""Somebody's address inside a network, where words say so."""
_INNER = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "0.0.0.0/8", "255.0.0.0/8")
_NETS = tuple(ipaddress.ip_network(net) for net in _INNER)
_ENDS = (0, 1, 254, 255)
"""The last figure of masks, networks, gateways and broadcasts."""
_BOUGHT = re.compile(r"\b(?:the|der|die|das|le|la|el|il|de|het)[ ](?:Mrs?|Ms|Dr|Herr|Frau|Señor|Signora?)\.?[ ]$")
_NUMBERED = re.compile(r"[ ]\d")


def is_ordinary(text: str, start: int, end: int, kind: Kind) -> bool:
    """True if what stands at `text[start:end]` is nobody's, for all that it looks like `kind`."""
    value = text[start:end]
    if kind == "EMAIL":
        return value.partition("@")[0].casefold() in _ROLES
    if kind == "ONLINE":
        return _inside(value, text[max(0, start - 30) : start])
    if kind == "PERSON":
        return bool(_NUMBERED.match(text, end) and _BOUGHT.search(text, max(0, start - 16), start))
    if kind not in ("PHONE", "NUMBER", "CARD"):
        return False
    if _ARTICLE.search(text, max(0, start - 24), start):
        return True
    digits = "".join(c for c in value if c.isdigit() or c == "+")
    return bool(_SERVICE.match(value) and _FREE.fullmatch(digits)) and not any(c.isalpha() for c in value)


def _inside(value: str, before: str) -> bool:
    """True for an IPv4 address of a private range, a mask or a loopback that no word calls somebody's."""
    try:
        address = ipaddress.IPv4Address(value.partition("/")[0])
    except ValueError:
        return False
    if not any(address in net for net in _NETS):
        return False
    return address.packed[-1] in _ENDS or _NETWORK.search(before) is None
