"""Who this machine is to Microsoft Entra ID: managed identity, workload identity, or a developer's sign-in.

azure-identity takes most of a second to import and is needed only where no key is given.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential
    from azure.core.credentials_async import AsyncTokenCredential


def machine_identity() -> AsyncTokenCredential:
    """For asynchronous clients."""
    return cast("AsyncTokenCredential", importlib.import_module("azure.identity.aio").DefaultAzureCredential())


def blocking_identity() -> TokenCredential:
    """For clients that run in threads."""
    return cast("TokenCredential", importlib.import_module("azure.identity").DefaultAzureCredential())
