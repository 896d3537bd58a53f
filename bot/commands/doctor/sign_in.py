"""The check of `attest doctor` on the provider that reviewers sign in at."""

from __future__ import annotations

from bot.commands.doctor.diagnosis import Diagnosis
from bot.compose.signin import identity_provider
from bot.settings.settings import Settings
from grounding.errors import ServiceError, ServiceReplyInvalid

NAME = "sign-in"


async def check_sign_in(settings: Settings) -> Diagnosis:
    """Whether the provider answers, is who the settings say, and has keys. The secret shows in a sign-in alone: nobody can try it without a person."""
    provider = identity_provider(settings)
    if provider is None:
        return Diagnosis(NAME, "ok", "off: a link made on this machine opens the reviewers' desk")
    try:
        facts = await provider.look()
    except ServiceError as error:
        said = str(error).removeprefix(f"{NAME}: ")
        fix = "check ATTEST_SIGNIN_ISSUER" + (
            "" if isinstance(error, ServiceReplyInvalid) else ", and that it can be reached"
        )
        return Diagnosis(NAME, "fail", said, fix, service=True)
    keys = f"{facts.keys} {'key' if facts.keys == 1 else 'keys'}"
    out = "one signs out there too" if facts.signs_out else "one signs out here alone"
    return Diagnosis(NAME, "ok", f"{provider.host} answers with {keys}; {out}", service=True)
