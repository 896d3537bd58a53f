"""Definitions of a SharePoint indexer: what the search service itself needs to bring a library into our index, beside what `ingest` puts
there.

The indexer cuts each file into pages and gives each the file's name as title and its address as link. Who may read a page comes from a
column of the library, for the service's stable release carries no rights of SharePoint: the column holds a JSON list such as `["g:tier2",
"g:legal"]`, or `["*"]` for everyone. A file whose column is empty is read by nobody. The pages have no vectors: they are found by words and
ranked by the semantic ranker. Definitions only, for whoever keeps the service to look at and put there; none was tried against a service.
"""

from __future__ import annotations

from typing import Any

from azure.search.documents.indexes.models import (
    DataSourceCredentials,
    FieldMapping,
    FieldMappingFunction,
    InputFieldMappingEntry,
    OutputFieldMappingEntry,
    SearchIndexer,
    SearchIndexerDataContainer,
    SearchIndexerDataSourceConnection,
    SearchIndexerIndexProjection,
    SearchIndexerIndexProjectionSelector,
    SearchIndexerIndexProjectionsParameters,
    SearchIndexerSkillset,
    SplitSkill,
)

PAGE_CHARS, SHARED_CHARS = 1000, 100
COLUMN = "AttestGroups"
_PAGE = "/document/pages/*"
_FIELDS = {
    "title": "/document/metadata_spo_item_name",
    "doc_id": "/document/metadata_spo_item_weburi",  # a name may be that of a document of the store, an address is not
    "url": "/document/metadata_spo_item_weburi",
    "updated": "/document/metadata_spo_item_last_modified",
    "version": "/document/metadata_spo_item_last_modified",
    "groups": "/document/groups",
}


def definitions(
    index: str, site: str, tenant: str, application: str, *, column: str = COLUMN
) -> dict[str, dict[str, Any]]:
    """Request bodies of data source, skillset and indexer, named after `index`, by their path under the service's endpoint.

    `site`: the SharePoint site's address; `application`: the id of a registration that may read it; `column`: of the library, with the
    groups. The secret is not in them: the service keeps what is put in place of `<secret>`.
    """
    name = f"{index}-sharepoint"
    made = {
        f"datasources('{name}')": _data_source(name, site, tenant, application, column),
        f"skillsets('{name}')": _skillset(name, index),
        f"indexers('{name}')": _indexer(name, index, column),
    }
    return {path: body.as_dict() for path, body in made.items()}


def _data_source(name: str, site: str, tenant: str, application: str, column: str) -> SearchIndexerDataSourceConnection:
    connection = (
        f"SharePointOnlineEndpoint={site};ApplicationId={application};ApplicationSecret=<secret>;TenantId={tenant}"
    )
    return SearchIndexerDataSourceConnection(
        name=name,
        type="sharepoint",
        credentials=DataSourceCredentials(connection_string=connection),
        container=SearchIndexerDataContainer(name="defaultSiteLibrary", query=f"additionalColumns={column}"),
    )


def _skillset(name: str, index: str) -> SearchIndexerSkillset:
    split = SplitSkill(
        context="/document",
        text_split_mode="pages",
        maximum_page_length=PAGE_CHARS,
        page_overlap_length=SHARED_CHARS,
        inputs=[InputFieldMappingEntry(name="text", source="/document/content")],
        outputs=[OutputFieldMappingEntry(name="textItems", target_name="pages")],
    )
    mappings = [InputFieldMappingEntry(name=field, source=source) for field, source in _FIELDS.items()]
    pages = SearchIndexerIndexProjectionSelector(
        target_index_name=index,
        parent_key_field_name="parent",
        source_context=_PAGE,
        mappings=[InputFieldMappingEntry(name="text", source=_PAGE), *mappings],
    )
    alone = SearchIndexerIndexProjectionsParameters(projection_mode="skipIndexingParentDocuments")
    projection = SearchIndexerIndexProjection(selectors=[pages], parameters=alone)
    return SearchIndexerSkillset(name=name, skills=[split], index_projection=projection)


def _indexer(name: str, index: str, column: str) -> SearchIndexer:
    rights = FieldMappingFunction(name="jsonArrayToStringCollection")
    return SearchIndexer(
        name=name,
        data_source_name=name,
        skillset_name=name,
        target_index_name=index,
        field_mappings=[FieldMapping(source_field_name=column, target_field_name="groups", mapping_function=rights)],
    )
