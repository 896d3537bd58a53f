"""Translation of the OpenAI SDK's exceptions into `grounding.errors`, most specific first, and what refusals say about parameters.

The text of a status error repeats the server's words, and those may repeat the prompt or a part of the key; that of a connection error may
show a header. So they are neither taken over nor chained (`from None`): status, error code, request id and the kind of the innermost error
are enough to find the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import openai

from grounding.errors import (
    AttestError,
    ContentFiltered,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceUnavailable,
)
from grounding.services.remote import Overloaded, Throttled, retry_after

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,39}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "invalid_prompt", "bio_policy", "misalignment_policy_violation"}
)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"})
_THROTTLE_CODES = frozenset({"rate_limit_exceeded", "too_many_requests"})
_HERE = frozenset({401, 403, 404, 405, 410})
"""Refusals of the key, or of a deployment that is not there: another server may take the same request."""
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_PATHS = ("/chat/completions", "/responses", "/embeddings", "/moderations")
_SCHEMA = re.compile(r"response_format|text\.format|json[ _-]?schema|structured[ _]outputs?|grammar", re.IGNORECASE)

_TOO_MUCH = re.compile(
    r"too (?:large|high|big)|at most \d|above maximum|maximum (?:context|value|output)|context (?:length|window|size)|exceed",
    re.IGNORECASE,
)
_LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_EFFORT = re.compile(r"'(none|minimal|low|medium|high|xhigh|max)'")


@contextmanager
def translated(service: str) -> Iterator[None]:
    """Context manager that turns exceptions of the SDK, and those of an unexpected reply, into ServiceError or ContentFiltered."""
    try:
        yield
    except AttestError:
        raise
    except openai.APIStatusError as error:
        raise status_fault(service, error) from None
    except openai.APITimeoutError:
        raise ServiceUnavailable(service, "did not answer in time") from None
    except openai.APIConnectionError as error:
        raise ServiceUnavailable(service, f"cannot be reached ({_root(error)})") from None
    except httpx2.HTTPError as error:  # while a body is read in pieces, the SDK does not translate
        raise ServiceUnavailable(service, f"the connection broke ({type(error).__name__})") from None
    except openai.OpenAIError as error:
        raise ServiceReplyInvalid(service, f"the reply cannot be read ({type(error).__name__})") from None
    except ValueError as error:  # json.JSONDecodeError, UnicodeDecodeError, pydantic.ValidationError: not the SDK's own
        raise ServiceReplyInvalid(service, f"the reply cannot be read ({type(error).__name__})") from None


def status_fault(service: str, error: openai.APIStatusError) -> AttestError:
    """The error of ours for a reply with an error status."""
    status, code = error.status_code, _code(error)
    if code in _FILTER_CODES or _inner_code(error) == "ResponsibleAIPolicyViolation":
        return ContentFiltered(f"{service}: the service's content filter refused the prompt")
    where = _where(error, code)
    if status == 429:
        return _too_many(service, error, code, where)
    if status in (408, 409, 425) or status >= 500:
        asked = _asked(error)
        if asked is not None:
            return Overloaded(service, f"cannot serve now{where}", retry_after=asked)
        return ServiceUnavailable(service, f"failed{where}")
    return ServiceRejected(service, f"{_refusal(error, code)}{where}", here_alone=status in _HERE)


def reported(service: str, error: object) -> AttestError:
    """The error of ours for one reported inside a reply of status 200: in a stream, or by a response whose status is "failed"."""
    given = error.get("code") if isinstance(error, dict) else None
    code = given if isinstance(given, str) and _PLAIN.fullmatch(given) else None
    where = f" ({code})" if code else ""
    if code in _FILTER_CODES:
        return ContentFiltered(f"{service}: the service's content filter refused the prompt{where}")
    if code in _QUOTA_CODES:
        return ServiceRejected(service, f"the quota of this key is used up{where}", here_alone=True)
    if code in _TOO_LONG_CODES:
        return ServiceRejected(service, f"the prompt is longer than the model can take{where}")
    if code in _THROTTLE_CODES:
        return Throttled(service, f"too many requests{where}")
    return ServiceUnavailable(service, f"it reports a failure{where}")


def _too_many(service: str, error: openai.APIStatusError, code: str | None, where: str) -> ServiceRejected:
    if code in _QUOTA_CODES:
        return ServiceRejected(service, f"the quota of this key is used up{where}", here_alone=True)
    return Throttled(service, f"too many requests{where}", retry_after=_asked(error) or 0.0)


def _refusal(error: openai.APIStatusError, code: str | None) -> str:
    status = error.status_code
    if code in _TOO_LONG_CODES or status == 413:
        return "the prompt is longer than the model can take"
    if 300 <= status < 400:
        return "the base URL redirects elsewhere; give the final address"
    return {
        401: "the key was refused, or this machine's identity",
        403: "the key or identity may not do this, or a network rule forbids it",
        404: _not_found(error),
        405: _not_found(error),
    }.get(status, "the request was refused")


def _not_found(error: openai.APIStatusError) -> str:
    path = error.request.url.path
    used = next((p for p in _PATHS if path.endswith(p)), "")
    if not path.removesuffix(used).rstrip("/").endswith("/v1"):
        return "nothing answers there; the base URL must end in /v1, for Azure in /openai/v1/"
    if used == "/responses":
        return "no model or deployment of that name, or no Responses API there: then set ATTEST_OPENAI_API=chat"
    return "no model or deployment of that name, or the base URL is not the service's"


def names_parameter(error: openai.APIStatusError, parameter: str) -> bool:
    """True if a 400 or 422 says that the model does not take `parameter`, in the field for it or only in the message."""
    if error.status_code not in (400, 422):
        return False
    if error.param is None:
        return re.search(rf"(?<![\w.]){re.escape(parameter)}(?!\w)", error.message) is not None
    return error.param == parameter or str(error.param).startswith(f"{parameter}.")


def names_schema(error: openai.APIStatusError) -> bool:
    """True if a 400 or 422 says that the server or the model takes no JSON schema for the reply, in any of its names for it."""
    if error.status_code not in (400, 422):
        return False
    return bool(_SCHEMA.search(error.response.text))


def names_size(error: openai.APIStatusError) -> bool:
    """True if a 400 or 422 says that the reply's token cap is larger than model or context allow (the parameter is known, its value is not
    allowed).
    """
    if error.status_code not in (400, 422) or error.code in _FILTER_CODES:
        return False
    if error.code in _TOO_LONG_CODES:
        return True
    return error.param in (None, "", *_LENGTHS) and bool(_TOO_MUCH.search(error.message))


def named_efforts(error: openai.APIStatusError) -> tuple[str, ...]:
    """The reasoning efforts that a refusal lists as supported; only words that are known."""
    _, _, allowed = error.message.partition("upported values")
    return tuple(dict.fromkeys(_EFFORT.findall(allowed)))


def _where(error: openai.APIStatusError, code: str | None) -> str:
    parts = [f"status {error.status_code}", *([code] if code else [])]
    if error.param and _PLAIN.fullmatch(str(error.param)):
        parts.append(f"parameter {error.param}")
    if error.request_id and _REQUEST_ID.fullmatch(error.request_id):
        parts.append(f"request {error.request_id}")
    return f" ({', '.join(parts)})"


def _code(error: openai.APIStatusError) -> str | None:
    return error.code if error.code and _PLAIN.fullmatch(error.code) else None


def _inner_code(error: openai.APIStatusError) -> Any:
    body: Any = error.body
    inner = body.get("innererror") if isinstance(body, dict) else None
    return inner.get("code") if isinstance(inner, dict) else None


def _asked(error: openai.APIStatusError) -> float | None:
    headers = error.response.headers
    return retry_after(headers.get("retry-after"), milliseconds=headers.get("retry-after-ms"))


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return type(error).__name__
