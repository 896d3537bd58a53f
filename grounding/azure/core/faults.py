"""Translation of azure-core's exceptions into `grounding.errors`.

The service's words may repeat the text that was sent, so only its status and its error code are taken over, and nothing is chained (`from
None`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    DecodeError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from grounding.azure.core.identity import SIGN_IN_FAILED
from grounding.errors import AttestError, ServiceRejected, ServiceReplyInvalid, ServiceUnavailable
from grounding.services.remote import Overloaded, Throttled, retry_after

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,39}")
_REFUSALS = {
    401: "the key was refused, or this machine's identity",
    403: "the key or identity may not do this, or a network rule forbids it",
}


class NotFound(ServiceRejected):
    """HTTP 404: no resource of this name exists."""


class BadRequest(ServiceRejected):
    """HTTP 400: the service does not accept the form of the request."""


class Changed(ServiceRejected):
    """HTTP 412: a condition of the request failed, because the resource has changed since it was read."""


@contextmanager
def translated(
    service: str, *, not_found: str = "", endpoint: str = "https://NAME.cognitiveservices.azure.com"
) -> Iterator[None]:
    """Context manager that turns exceptions of azure-core, and those of an unexpected reply, into ServiceError.

    `service` names the service in messages; `not_found` says what else a 404 can mean here, `endpoint` what a right endpoint looks like.
    """
    try:
        yield
    except AttestError:
        raise
    except DecodeError:
        raise ServiceReplyInvalid(service, "the reply cannot be read") from None
    except HttpResponseError as error:
        missing = f"nothing answers there; the endpoint is {endpoint}" + (f", or {not_found}" if not_found else "")
        raise _status_fault(service, error, missing) from None
    except (ServiceRequestError, ServiceResponseError) as error:
        raise ServiceUnavailable(service, f"cannot be reached ({type(error).__name__})") from None
    except AzureError as error:
        raise ServiceReplyInvalid(service, f"the call failed ({type(error).__name__})") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # a body of another shape than the SDK expects
        raise ServiceReplyInvalid(service, f"the reply cannot be read ({type(error).__name__})") from None


def code_of(text: object) -> str:
    """`text` if it has the form of an error code and may be shown, otherwise "unknown"."""
    return text if isinstance(text, str) and _PLAIN.fullmatch(text) else "unknown"


def _status_fault(service: str, error: HttpResponseError, missing: str) -> AttestError:
    status = error.status_code or 0
    if error.response is None and isinstance(error, ClientAuthenticationError):
        return ServiceRejected(service, SIGN_IN_FAILED)
    where = f" (status {status}, {code_of(getattr(error.error, 'code', None))})"
    headers: Mapping[str, str] = getattr(error.response, "headers", {})
    asked = retry_after(headers.get("retry-after"), milliseconds=headers.get("retry-after-ms"))
    if status == 429:
        return Throttled(service, f"too many requests{where}", retry_after=asked or 0.0)
    if status in (408, 425) or status >= 500:
        if asked is not None:
            return Overloaded(service, f"cannot serve now{where}", retry_after=asked)
        return ServiceUnavailable(service, f"failed{where}")
    if 200 <= status < 300:
        return ServiceReplyInvalid(service, f"the reply cannot be read{where}")
    if 300 <= status < 400:
        return ServiceRejected(service, f"the endpoint redirects elsewhere; give the final address{where}")
    if status == 404:
        return NotFound(service, f"{missing}{where}")
    if status == 412:
        return Changed(service, f"it was changed by somebody else meanwhile{where}")
    refused = BadRequest if status == 400 else ServiceRejected
    return refused(service, f"{_REFUSALS.get(status, 'the request was refused')}{where}")
