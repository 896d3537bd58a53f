"""The check of `attest doctor` on chat models: one small call as a turn makes it, with a schema, and whether the server's context is long enough."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from urllib.parse import urlsplit

from bot.commands.doctor.backends import check_backends
from bot.commands.doctor.diagnosis import Diagnosis, probe_page
from bot.commands.doctor.retirement import with_retirement
from bot.compose.resources import Resources
from bot.compose.services import bare_model, learned
from bot.settings.settings import Settings
from grounding.errors import (
    AttestError,
    ContentFiltered,
    ReplyCut,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.model_calls.loose_json import json_values
from grounding.model_calls.schema import TEXT, fields
from grounding.prompting.model_composer import DRAFT_TOKENS
from grounding.records import Completion
from grounding.services.cloud import is_azure_ai, is_openai
from grounding.services.remote import Throttled
from rai.account import MARGIN

NAME = "model service"
JUDGE = "judge's model"
SCREEN = "screen's model"
_SYSTEM = (
    "You are asked whether you can be reached. Reply with the JSON object that is asked for and with nothing else."
)
_USER = 'Reply with {"status": "ok"}.'
_FORM = fields(status=TEXT)
_MOST = 200
"""Tokens of the reply, the least that any part of a turn asks for."""
_STATUS = re.compile(r"\(status (\d{3})")
_NO_V1 = "ATTEST_OPENAI_BASE_URL must end in /v1, for Azure in /openai/v1/"


async def check_chat_models(settings: Settings) -> list[Diagnosis]:
    """Call each chat model that is switched on once; a finding each, and one on the context of a model that Ollama serves. Each is billed as any call."""
    if (listed := settings.model.backends) is not None and listed.chat:
        if not settings.model.uses and not settings.judges and settings.screen.kind != "model":
            return []
        return await check_backends(settings, listed.chat, listed.chat_within, lambda own: _one(own, None, listed=True))
    found = []
    screens = settings.screen.kind == "model"
    if (
        settings.model.uses
        or (settings.judges and settings.model.judge_name is None)
        or (screens and settings.screen.model is None)
    ):
        found += await _one(settings, None)
    if settings.judges and settings.model.judge_name not in (None, settings.model.name if found else None):
        found += [_of_judge(finding) for finding in await _one(settings, settings.model.judge_name)]
    if screens and settings.screen.model not in (None, settings.model.name if found else None):
        found += [_of_screen(finding) for finding in await _one(settings, settings.screen.model)]
    return found


async def _one(settings: Settings, name: str | None, *, listed: bool = False) -> list[Diagnosis]:
    """The model of the settings, or another at its endpoint. `listed`: it is a backend, whose list says which model it is."""
    resources = Resources()
    try:
        began = time.perf_counter()
        completion = await _called(settings, resources, name)
        found = _answered(settings, completion, time.perf_counter() - began, resources, name)
        if not listed and is_openai(settings.model.base_url):
            found = with_retirement(found, completion.model, settings.model.base_url)
        return [found, *([] if name else await _context(settings))]
    except (AttestError, OSError) as error:
        return [await _failed(settings, error)]
    finally:
        await resources.close()


def _of_judge(found: Diagnosis) -> Diagnosis:
    fix = found.fix and found.fix.replace("ATTEST_OPENAI_MODEL", "ATTEST_JUDGE_MODEL")
    return replace(found, name=JUDGE, fix=fix)


def _of_screen(found: Diagnosis) -> Diagnosis:
    fix = found.fix and found.fix.replace("ATTEST_OPENAI_MODEL", "ATTEST_SCREEN_MODEL")
    return replace(found, name=SCREEN, fix=fix)


async def _called(settings: Settings, resources: Resources, name: str | None = None) -> Completion:
    model = bare_model(settings, resources.remote(settings, "openai", retries=0), resources, name)
    return await model.complete(_SYSTEM, _USER, purpose="doctor", max_tokens=_MOST, schema=_FORM)


def _answered(
    settings: Settings, completion: Completion, seconds: float, resources: Resources, name: str | None = None
) -> Diagnosis:
    known = learned(settings, resources, name)
    said = [f"{completion.model} answers in {seconds:.1f} s over {settings.model.api}"]
    if thought := completion.usage.get("reasoning_tokens"):
        said.append(f"thought {thought} of {completion.usage.get('completion_tokens', thought)} tokens")
    taken = {"temperature": "a temperature", "schema": "a JSON schema", "stream": "streaming"}
    if missing := [words for part, words in taken.items() if part in known.refused]:
        said.append(f"is asked without {' and '.join(missing)}, which it does not take")
    found = Diagnosis(NAME, "ok", "; ".join(said), service=True)
    if "effort" in known.refused:
        allowed = f" to one of {', '.join(known.efforts)}," if known.efforts else ""
        detail = f"{found.detail}; takes no effort {settings.model.effort!r}: it thinks as it likes"
        return replace(found, status="note", detail=detail, fix=f"set ATTEST_OPENAI_EFFORT{allowed} or auto")
    if not any(isinstance(value, dict) for value in json_values(completion.text)):
        detail = f"{found.detail}; its reply is not the JSON that was asked for: grades and judgements may be missing"
        return replace(found, status="note", detail=detail, fix="choose a model that follows a JSON schema")
    return found


async def _failed(settings: Settings, error: Exception) -> Diagnosis:
    """One line for what went wrong with the call, and what mends it."""
    detail = str(error).removeprefix("openai: ")
    found = Diagnosis(NAME, "fail", detail, service=True)
    code = int(match[1]) if (match := _STATUS.search(detail)) else 0
    match error:
        case Throttled():
            return replace(
                found, status="note", detail="has too many requests (status 429)", fix="wait, or raise its quota"
            )
        case ReplyCut():
            fix = "set ATTEST_OPENAI_EFFORT to low or none, or raise ATTEST_OPENAI_THINKING_TOKENS"
            return replace(found, fix=fix)
        case ServiceTimeout():
            fix = "set ATTEST_OPENAI_EFFORT to low or none, raise ATTEST_CALL_DEADLINE_S and ATTEST_TURN_DEADLINE_S, or check that it runs"
            return replace(found, detail=f"does not answer: {detail}", fix=fix)
        case ContentFiltered():
            return replace(
                found, status="note", fix="check the content filter of the deployment: it stops a harmless call"
            )
        case ServiceReplyInvalid():
            page = "web page" in detail
            fix = f"{_NO_V1}; or a proxy or a sign-in page stands between"
            return replace(found, detail="something answers there, but no model service" if page else detail, fix=fix)
        case ServiceUnavailable() if code:
            return replace(found, detail=f"is in trouble (status {code})", fix="try again later")
        case ServiceUnavailable():
            why = detail.removeprefix("cannot be reached ").strip("()")
            fix = "check ATTEST_OPENAI_BASE_URL, and that the service runs"
            return replace(found, detail=f"does not answer ({why})", fix=fix)
        case ServiceRejected():
            return await _refused(settings, found, code)
        case _:
            return replace(found, fix="check ATTEST_OPENAI_BASE_URL and ATTEST_OPENAI_API_KEY")


async def _refused(settings: Settings, found: Diagnosis, code: int) -> Diagnosis:
    if 300 <= code < 400:
        detail = f"redirects elsewhere (status {code})"
        return replace(found, detail=detail, fix="set ATTEST_OPENAI_BASE_URL to the final address")
    if code in (401, 403):
        return await _unknown_here(settings, found, code)
    if code in (404, 405):
        return await _not_there(settings, found)
    if "could not sign in" in found.detail or "no token" in found.detail:
        return replace(found, fix="give this machine a managed identity, or az login, or set ATTEST_OPENAI_API_KEY")
    return replace(found, fix="check ATTEST_OPENAI_MODEL, ATTEST_OPENAI_API and what the model takes")


async def _unknown_here(settings: Settings, found: Diagnosis, code: int) -> Diagnosis:
    """Key or identity is refused. Where the same key is taken in another header, that is said."""
    if settings.model.api_key is None and is_azure_ai(settings.model.base_url or ""):
        fix = "give it the role Cognitive Services OpenAI User on the resource, or set ATTEST_OPENAI_SCOPE"
        return replace(found, detail=f"refuses this machine's identity (status {code})", fix=fix)
    fix = "check ATTEST_OPENAI_API_KEY"
    detail = f"refuses the key (status {code})"
    if settings.model.api_key is None:
        return replace(found, detail=f"wants a key (status {code})", fix="set ATTEST_OPENAI_API_KEY")
    other = "bearer" if settings.model.auth == "api-key" else "api-key"
    if settings.model.auth != "both" and await _is_taken(settings, other):
        header = "Authorization" if other == "bearer" else "api-key"
        return replace(
            found, detail=f"{detail}, and takes it in the header {header}", fix=f"set ATTEST_OPENAI_AUTH={other}"
        )
    return replace(
        found, detail=detail, fix=f"{fix}; behind a gateway also ATTEST_OPENAI_AUTH, which says in which header it goes"
    )


async def _is_taken(settings: Settings, auth: str) -> bool:
    """True if the key opens the door in the other header, whatever comes of the call then."""
    resources = Resources()
    try:
        await _called(settings.changed(openai_auth=auth), resources)
        return True
    except ServiceRejected as error:
        return not re.search(r"\(status 40[13]\b", str(error))
    except AttestError:
        return False
    finally:
        await resources.close()


async def _not_there(settings: Settings, found: Diagnosis) -> Diagnosis:
    """No such model, or no model service at all: a list of models, which every such server has, tells them apart."""
    named = re.search(r"DeploymentNotFound|model_not_found", found.detail)
    listed = await _models(settings)
    if listed is None and not named:
        return replace(found, detail="something answers there, but no model service", fix=_NO_V1)
    azure = is_azure_ai(settings.model.base_url or "")
    what = "no deployment" if azure else "no model or deployment"
    among = f" among its {len(listed)} models" if listed and not azure else ""
    detail = f"answers, but has {what} {settings.model.name!r}{among} (status 404)"
    fix = (
        "set ATTEST_OPENAI_MODEL to the name of a model there; on Azure, or a gateway to it, to that of your deployment"
    )
    if settings.model.api == "responses":
        fix += "; or ATTEST_OPENAI_API=chat, if it has no Responses API"
    return replace(found, detail=detail, fix=fix)


async def _models(settings: Settings) -> list[str] | None:
    """Names in the list of models; None if there is no list, or none that is shown to us."""
    base = (settings.model.base_url or "https://api.openai.com/v1").rstrip("/")
    key = settings.model.api_key.get_secret_value() if settings.model.api_key else None
    headers = {"Authorization": f"Bearer {key}", "api-key": key} if key else {}
    _, page = await probe_page(NAME, f"{base}/models", headers, "ATTEST_OPENAI_API_KEY", "ATTEST_OPENAI_BASE_URL")
    try:
        return [str(model["id"]) for model in json.loads(page)["data"]]
    except (ValueError, KeyError, TypeError):
        return None


async def _context(settings: Settings) -> list[Diagnosis]:
    """Ollama's context for the model, which the call has loaded: it cuts what is longer without a word. Nothing for other servers."""
    if is_openai(settings.model.base_url):
        return []
    parts = urlsplit(settings.model.base_url or "")
    root = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
    _, page = await probe_page(NAME, f"{root}/api/ps", {}, "ATTEST_OPENAI_API_KEY", "ATTEST_OPENAI_BASE_URL")
    try:
        running = {
            str(name): model.get("context_length")
            for model in json.loads(page)["models"]
            for name in (model.get("name"), model.get("model"))
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    model = settings.model.name
    context = running.get(model) or running.get(f"{model}:latest")
    return [_of_context(settings, context if type(context) is int else None)]


def _of_context(settings: Settings, context: int | None) -> Diagnosis:
    needed = settings.files.policies[settings.answering.policy].prompt_tokens + MARGIN + DRAFT_TOKENS
    enough = 1 << (needed - 1).bit_length()
    fix = f"start Ollama with OLLAMA_CONTEXT_LENGTH={enough}, or make a model of it with PARAMETER num_ctx {enough}"
    if context is None:
        detail = "Ollama does not tell it; where it is 4,096 tokens, its default on small machines, longer prompts are cut without a word"
        return Diagnosis("model's context", "note", detail, fix, service=True)
    if context < needed:
        detail = f"Ollama gives {settings.model.name} {context:,} tokens, a prompt and its answer may take {needed:,}: it cuts what is longer without a word"
        return Diagnosis("model's context", "note", detail, fix, service=True)
    return Diagnosis(
        "model's context", "ok", f"{context:,} tokens; a prompt and its answer take {needed:,} at most", service=True
    )
