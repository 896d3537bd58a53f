"""What has to be the same on every server of a database, as digests: servers compare these, and nobody who reads them learns a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from bot.events.digests import Digests, file_sha256
from bot.settings.forms import PREFIX
from bot.settings.settings import PLACES, Settings

OWN = frozenset(
    {
        "home",
        "ledger_key_file",
        "ledger_signing_key_file",
        "model_file",
        "off_policy_file",
        "database_url",
        "database_password_file",
        "database_erasures_file",
        "database_pool",
        "directory_file",
        "graph_groups_file",
        "openai_backends",
        "host",
        "port",
        "log_level",
        "log_format",
        "identity_client_id",
    }
)
"""Settings that are a machine's own: its paths and addresses, and how it logs. What stands in the files that every server has is compared, not where they lie."""
POLICIES, OFF_POLICY, DIRECTORY = "policies", "off_policy.yaml", "the directory's file"
GRAPH_GROUPS, BACKENDS = "the file of ATTEST_GRAPH_GROUPS_FILE", "the list of backends"


def configuration_of(settings: Settings) -> dict[str, str]:
    """A digest of each setting that is not at its default, by the name of its variable, of the policies in force, and of each file that is there. Of a secret only that it
    is set.
    """
    digests = Digests(settings.files.ledger_key)
    found = {POLICIES: digests.of({name: repr(policy) for name, policy in settings.files.policies.items()})}
    for name, place in PLACES.items():
        value = settings.value(name)
        if name not in OWN and value != place.info.default:
            found[f"{PREFIX}{name.upper()}"] = digests.of(_said(value))
    for name, path in _files(settings):
        with suppress(OSError):  # whoever uses it says what is wrong with it
            if (content := file_sha256(path)) is not None:
                found[name] = digests.of(content)
    return found


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The parts in which two configurations differ, in the order of their names."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _said(value: object) -> object:
    if isinstance(value, SecretStr):
        return True
    if isinstance(value, tuple | list):
        return [_said(part) for part in value]
    return str(value)


def _files(settings: Settings) -> Iterator[tuple[str, Path]]:
    yield OFF_POLICY, settings.files.off_policy_path
    if settings.directory.kind == "file":
        yield DIRECTORY, settings.directory_path
    for name, path in (
        (GRAPH_GROUPS, settings.directory.groups_file),
        (BACKENDS, settings.model.backends_file),
    ):
        if path is not None:
            yield name, path
