"""A finding of `attest doctor`, and how a service is asked for a page that costs nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

import aiohttp

from grounding.errors import ServiceRejected
from grounding.services.address import is_loopback
from grounding.services.remote import Throttled

WAIT_S = 5.0
"""Seconds in which a service has to answer."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A line of `attest doctor`: the part that was looked at, how it stands, and what to do. `service` marks what lies outside this machine."""

    name: str
    status: Literal["ok", "note", "fail"]
    detail: str
    fix: str = ""
    service: bool = False


def fix_of(error: Exception, rejected: str, unreachable: str, key: str = "") -> str:
    """The advice on a failed call: `rejected` where the service said no, `unreachable` where nothing of it came, and of its own where it has too
    many requests or signing in failed. `key`: the setting that makes signing in needless, where there is one.
    """
    if isinstance(error, Throttled):
        return "wait, or raise its quota"
    if "could not sign in" in str(error) or "no token" in str(error):
        return "give this machine a managed identity, or az login" + (f", or set {key}" if key else "")
    return rejected if isinstance(error, ServiceRejected) else unreachable


async def probe(name: str, url: str, headers: dict[str, str], key_setting: str, url_setting: str) -> Diagnosis:
    """Ask a service for a page that costs nothing, within 5 s. Neither key nor address appears in the finding, but the two settings that hold them."""
    return (await probe_page(name, url, headers, key_setting, url_setting))[0]


async def probe_page(
    name: str, url: str, headers: dict[str, str], key_setting: str, url_setting: str
) -> tuple[Diagnosis, str]:
    """The finding of `probe`, and the first megabyte of the page; an empty text where none came."""
    timeout = aiohttp.ClientTimeout(total=WAIT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=not is_loopback(url)) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,  # the key goes nowhere else
        ):
            status = response.status
            page = await _beginning(response)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        fix = f"check {url_setting}, and that the service runs"
        return Diagnosis(name, "fail", f"does not answer ({type(error).__name__})", fix, service=True), ""
    found = _of_status(name, status, key_setting, url_setting)
    return (_of_page(found, page, url_setting) if status == 200 else found), page


async def _beginning(response: aiohttp.ClientResponse) -> str:
    """The first megabyte, also of a page that comes in pieces, without the byte order mark that some put before a number."""
    page = bytearray()
    async for piece in response.content.iter_any():
        page += piece
        if len(page) >= 2**20:
            break
    return page[: 2**20].decode("utf-8-sig", "replace")


def _of_page(found: Diagnosis, page: str, url_setting: str) -> Diagnosis:
    """Whoever answers 200 says something in JSON, a number or nothing; a page of a proxy or half a reply is trouble all the same."""
    try:
        json.loads(page or "null")
    except ValueError:
        said = "a web page" if page.lstrip()[:1] == "<" else "what cannot be read"
        fix = f"check {url_setting}, and what stands between: a proxy, a sign-in page"
        return replace(found, status="fail", detail=f"answers {said} (status 200)", fix=fix)
    return found


def _of_status(name: str, status: int, key_setting: str, url_setting: str) -> Diagnosis:
    if 300 <= status < 400:
        fix = f"set {url_setting} to the final address"
        return Diagnosis(name, "fail", f"redirects elsewhere (status {status})", fix, service=True)
    if status in (401, 403):
        return Diagnosis(name, "fail", f"refuses the key (status {status})", f"check {key_setting}", service=True)
    if status == 429:
        return Diagnosis(name, "note", "has too many requests (status 429)", "wait, or raise its quota", service=True)
    if status >= 500:
        return Diagnosis(name, "fail", f"is in trouble (status {status})", "try again later", service=True)
    return Diagnosis(name, "ok", f"answers (status {status})", service=True)
