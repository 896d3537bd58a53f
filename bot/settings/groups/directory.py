"""Settings of the directory, which knows the groups of a person."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from bot.settings.forms import Seconds, Url
from bot.settings.group import Conflicts, Group
from grounding.services.address import is_loopback
from grounding.services.cloud import CloudName, graph_cloud, is_graph


class Directory(Group):
    """The directory of people: a file, or Microsoft Graph."""

    kind: Literal["file", "graph"] = Field(
        "file",
        alias="directory",
        description="who knows the groups of a person: a file, or Microsoft Graph by this machine's identity",
    )
    file: Path | None = Field(
        None, alias="directory_file", description="YAML file: user to list of groups; without it HOME/directory.yaml"
    )
    cache_s: Seconds = Field(
        300.0,
        alias="directory_cache_s",
        description="seconds for which the groups of a person are kept; a right that is taken away ends by then",
    )
    groups_file: Path | None = Field(
        None,
        alias="graph_groups_file",
        description="YAML file: object id of a group to its name in the rights of documents; without it they name object ids",
    )
    graph_endpoint: Url | None = Field(
        None, alias="graph_endpoint", description="Microsoft Graph elsewhere than the cloud's own; DoD has one"
    )


def directory_conflicts(directory: Directory, cloud: CloudName) -> Conflicts:
    """Rules on the directory: nothing on Graph where a file is read, no file where Graph is asked, and Graph in the cloud of the rest."""
    graph = directory.kind == "graph"
    both = "ATTEST_DIRECTORY_FILE needs ATTEST_DIRECTORY=file; with graph nobody would read it"
    yield graph and directory.file is not None, both
    for field in ("cache_s", "groups_file", "graph_endpoint"):
        yield (
            field in directory.model_fields_set and not graph,
            f"{directory.variable(field)} needs ATTEST_DIRECTORY=graph",
        )
    file, url = directory.groups_file, directory.graph_endpoint or ""
    yield file is not None and not file.is_file(), f"ATTEST_GRAPH_GROUPS_FILE={file} is not there"
    other = graph and is_graph(url) and graph_cloud(url) != cloud
    yield other, f"ATTEST_GRAPH_ENDPOINT needs ATTEST_CLOUD={graph_cloud(url)}"
    elsewhere = bool(url) and not is_graph(url) and not is_loopback(url)
    yield (
        elsewhere,
        "ATTEST_GRAPH_ENDPOINT: allowed is an endpoint of Microsoft Graph, such as https://graph.microsoft.us",
    )
