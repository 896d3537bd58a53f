"""What an indexer is told: names and addresses of files are carried through, and rights come from the column alone."""

from __future__ import annotations

import json

import pytest

from grounding.azure.search.index import definition
from grounding.azure.search.sharepoint import definitions
from tools.sharepoint_indexer import main

GIVEN = ("attest", "https://contoso.sharepoint.com/sites/help", "tenant", "application")


def test_a_page_has_its_files_name_and_address_and_the_columns_groups() -> None:
    made = definitions(*GIVEN)
    (pages,) = made["skillsets('attest-sharepoint')"]["indexProjections"]["selectors"]
    sources = {m["name"]: m["source"] for m in pages["mappings"]}
    assert sources["text"] == "/document/pages/*"
    assert sources["title"] == "/document/metadata_spo_item_name"
    assert sources["url"] == "/document/metadata_spo_item_weburi"
    assert sources["groups"] == "/document/groups"
    (mapping,) = made["indexers('attest-sharepoint')"]["fieldMappings"]
    assert (mapping["sourceFieldName"], mapping["targetFieldName"]) == ("AttestGroups", "groups")
    assert mapping["mappingFunction"]["name"] == "jsonArrayToStringCollection"


def test_every_field_that_is_filled_is_one_of_the_index() -> None:
    fields = {f.name: f for f in definition("attest", 384, semantic=True).fields}
    (pages,) = definitions(*GIVEN)["skillsets('attest-sharepoint')"]["indexProjections"]["selectors"]
    assert {m["name"] for m in pages["mappings"]} | {pages["parentKeyFieldName"]} <= set(fields)
    assert fields["parent"].filterable
    key = fields["chunk_id"]  # keys of projected pages are the service's, which asks for this analyzer
    assert (key.searchable, key.analyzer_name) == (True, "keyword")


def test_no_secret_is_asked_for_or_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--index", GIVEN[0], "--site", GIVEN[1], "--tenant", GIVEN[2], "--application", GIVEN[3]]) == 0
    printed = json.loads(capsys.readouterr().out)
    source = printed["datasources('attest-sharepoint')"]
    assert source["type"] == "sharepoint"
    assert "ApplicationSecret=<secret>;" in source["credentials"]["connectionString"]
