"""Schema of the index in Azure AI Search, and the migration of an existing index to it.

The service adds fields, profiles and semantic configurations to an index that is in use; it changes neither the type of a field, nor the
width of its vectors, nor what it may be searched or filtered by. What cannot be changed is refused in one line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from azure.search.documents.indexes.models import (
    BinaryQuantizationCompression,
    HnswAlgorithmConfiguration,
    HnswParameters,
    RescoringOptions,
    ScalarQuantizationCompression,
    SearchField,
    SearchIndex,
    SemanticConfiguration,
    SemanticField,
    SemanticPrioritizedFields,
    SemanticSearch,
    VectorSearch,
    VectorSearchProfile,
)

from grounding.errors import SettingsError

CONFIGURATION = "attest"
"""Name of our vector profile, its algorithm, and our semantic configuration."""
ANALYZERS: Mapping[str, str] = {
    **{language: f"{language}.lucene" for language in ("en", "de", "fr", "es", "it", "nl")},
    "pt": "pt-PT.lucene",
    "any": "standard.lucene",
}
"""Analyzer of title and text by the language (ISO 639-1) whose words it stems; "any" stems none. It cannot be changed once the field is there."""
_STRING, _STRINGS = "Edm.String", "Collection(Edm.String)"
SETTING = "ATTEST_SEARCH_INDEX"
Compression = Literal["off", "scalar", "binary"]
_OVERSAMPLING = {"scalar": 4.0, "binary": 10.0}
"""How many times as many as are wanted are found by compressed vectors and scored anew by whole ones: the service's own defaults."""
_NUMBER_BYTES = {"scalar": 1.0, "binary": 1 / 8}


@dataclass(frozen=True, slots=True)
class VectorForm:
    """How an index keeps vectors. `half`: numbers of 16 bits in place of 32, which is how the store has them; `compression`: what is searched by first, the whole
    vectors being kept to score the best anew.
    """

    half: bool = False
    compression: Compression = "off"

    @property
    def number_bytes(self) -> float:
        """Bytes that a number of a vector takes in the service's memory, without what its graph adds."""
        return _NUMBER_BYTES.get(self.compression, self.stored_bytes)

    @property
    def stored_bytes(self) -> float:
        """Bytes that a number of a vector takes in its storage."""
        return 2.0 if self.half else 4.0


WHOLE = VectorForm()


def definition(name: str, width: int, *, semantic: bool, language: str = "en", form: VectorForm = WHOLE) -> SearchIndex:
    """The index `name` for vectors of `width` dimensions, kept in `form`, and texts in `language` (one of `ANALYZERS`); with a semantic configuration only where
    the ranker is used.
    """
    compression = _compression(form)
    return SearchIndex(
        name=name,
        description="Passages of Attest's knowledge base; derived from its store, made by `attest ingest`.",
        fields=[
            SearchField(  # searchable by the whole key: pages that an indexer makes of a file ask for it
                name="chunk_id",
                type=_STRING,
                key=True,
                searchable=True,
                analyzer_name="keyword",
                filterable=True,
                sortable=True,
                facetable=False,
            ),
            *(_plain(field, _STRING, filterable=True) for field in ("doc_id", "source", "product", "parent")),
            *(_plain(field, _STRING) for field in ("stamp", "version", "updated", "url", "locator", "trust")),
            *(_plain(field, "Edm.Int32") for field in ("start", "end", "tokens")),
            _plain("internal", "Edm.Boolean", filterable=True),
            _plain("groups", _STRINGS, filterable=True, retrievable=False),
            *(_searched(field, ANALYZERS[language]) for field in ("title", "text")),
            SearchField(
                name="vector",
                type=f"Collection(Edm.{'Half' if form.half else 'Single'})",
                searchable=True,
                retrievable=False,
                vector_search_dimensions=width,
                vector_search_profile_name=CONFIGURATION,
            ),
        ],
        vector_search=VectorSearch(
            profiles=[
                VectorSearchProfile(
                    name=CONFIGURATION,
                    algorithm_configuration_name=CONFIGURATION,
                    compression_name=compression.compression_name if compression else None,
                )
            ],
            algorithms=[HnswAlgorithmConfiguration(name=CONFIGURATION, parameters=HnswParameters(metric="cosine"))],
            compressions=[compression] if compression else None,
        ),
        semantic_search=SemanticSearch(configurations=[_ranking()]) if semantic else None,
    )


def _compression(form: VectorForm) -> ScalarQuantizationCompression | BinaryQuantizationCompression | None:
    if form.compression == "off":
        return None
    kind = ScalarQuantizationCompression if form.compression == "scalar" else BinaryQuantizationCompression
    rescoring = RescoringOptions(
        enable_rescoring=True,
        default_oversampling=_OVERSAMPLING[form.compression],
        rescore_storage_method="preserveOriginals",
    )
    return kind(compression_name=f"{CONFIGURATION}-{form.compression}", rescoring_options=rescoring)


def _plain(name: str, kind: str, *, filterable: bool = False, retrievable: bool = True) -> SearchField:
    return SearchField(
        name=name,
        type=kind,
        searchable=False,
        filterable=filterable,
        sortable=False,
        facetable=False,
        retrievable=retrievable,
    )


def _searched(name: str, analyzer: str) -> SearchField:
    return SearchField(
        name=name,
        type=_STRING,
        searchable=True,
        filterable=False,
        sortable=False,
        facetable=False,
        analyzer_name=analyzer,
    )


def _ranking() -> SemanticConfiguration:
    fields = SemanticPrioritizedFields(
        title_field=SemanticField(field_name="title"), content_fields=[SemanticField(field_name="text")]
    )
    return SemanticConfiguration(name=CONFIGURATION, prioritized_fields=fields)


DIGITS = 8
"""Hexadecimal digits behind the name of an alias, with a dash, in the name of an index of it."""


def name_behind(alias: str, wanted: SearchIndex, made_from: tuple[object, ...]) -> str:
    """Name of the index behind `alias` that has this schema and whose documents are `made_from` this: form of the rows, embedding model.

    The semantic configuration does not count: it is added to an index in use.
    """
    told = wanted.as_dict()
    schema = {part: told[part] for part in ("fields", "vectorSearch")}
    plain = json.dumps([schema, *made_from], sort_keys=True, default=str)
    return f"{alias}-{hashlib.sha256(plain.encode()).hexdigest()[:DIGITS]}"


def migrated(found: SearchIndex, wanted: SearchIndex) -> bool:
    """Extend `found` in place by what `wanted` has beyond it; True if anything changed. What else it holds stays.

    Raises SettingsError for an index that cannot be extended so: which field, and what to do.
    """
    there = {field.name: field for field in found.fields}
    for field in wanted.fields:
        if field.name in there:
            _check(found.name, there[field.name], field)
    new = [field for field in wanted.fields if field.name not in there]
    found.fields = [*found.fields, *new]
    hidden = [_hide(there[f.name]) for f in wanted.fields if f.retrievable is False and f.name in there]
    return any([bool(new), *hidden, _vectors(found, wanted), _semantic(found, wanted)])


def width_of(found: SearchIndex | None) -> int | None:
    """Dimensions of the vectors in an existing index; None where there is no index, or none with vectors."""
    return next((f.vector_search_dimensions for f in found.fields if f.name == "vector"), None) if found else None


def _check(index: str, there: SearchField, wanted: SearchField) -> None:
    for name, has, needs in (
        ("type", there.type, wanted.type),
        ("dimension", there.vector_search_dimensions, wanted.vector_search_dimensions),
        ("analyzer", there.analyzer_name, wanted.analyzer_name),
        ("key", bool(there.key), bool(wanted.key)),
        ("searchable", bool(there.searchable), bool(wanted.searchable)),
        ("filterable", bool(there.filterable or not wanted.filterable), True),
        ("sortable", bool(there.sortable or not wanted.sortable), True),
    ):
        if has != needs:
            raise _unchangeable(index, f"field {there.name!r}", name, _plainly(has), _plainly(needs))


def _unchangeable(index: str, part: str, name: str, has: object, needs: object) -> SettingsError:
    return SettingsError(
        f"{SETTING}={index}: {part} of that index has {name} {has}, needed is {needs}, and the service cannot"
        f" change it; set {SETTING} to a new name and run attest ingest, or delete the index first"
    )


def _plainly(value: object) -> object:
    return getattr(value, "value", value)


def _hide(field: SearchField) -> bool:
    if field.retrievable is False:
        return False
    field.retrievable = False
    return True


def _vectors(found: SearchIndex, wanted: SearchIndex) -> bool:
    if found.vector_search is None:
        found.vector_search = wanted.vector_search
        return True
    have, need = found.vector_search, wanted.vector_search
    assert need is not None
    assert need.profiles is not None
    assert need.algorithms is not None
    ours = next((profile for profile in have.profiles or [] if profile.name == CONFIGURATION), None)
    if ours is not None:
        has, needs = ours.compression_name or "none", need.profiles[0].compression_name or "none"
        if has != needs:
            raise _unchangeable(found.name, "the vector profile", "compression", has, needs)
        return False
    have.profiles = [*(have.profiles or []), *need.profiles]
    have.algorithms = [*(have.algorithms or []), *need.algorithms]
    have.compressions = [*(have.compressions or []), *(need.compressions or [])] or None
    return True


def _semantic(found: SearchIndex, wanted: SearchIndex) -> bool:
    if wanted.semantic_search is None:
        return False
    have = (found.semantic_search.configurations if found.semantic_search else None) or []
    if any(c.name == CONFIGURATION for c in have):
        return False
    found.semantic_search = SemanticSearch(configurations=[*have, _ranking()])
    return True
