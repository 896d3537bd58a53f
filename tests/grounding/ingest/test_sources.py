"""Where documents come from, and who may read them."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from grounding.errors import InputError
from grounding.ingest.readers.extract import Refused
from grounding.ingest.sources import SourceItem, find
from grounding.records import Document


def _write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def _ids(*paths: Path, acl: Path | None = None) -> list[str]:
    return [item.doc_id for item in find(paths, acl)]


def _by_id(*paths: Path, acl: Path | None = None) -> dict[str, SourceItem]:
    return {item.doc_id: item for item in find(paths, acl)}


def _documents(*paths: Path, acl: Path | None = None) -> dict[str, Document]:
    return {name: item.load() for name, item in _by_id(*paths, acl=acl).items()}


def test_a_folder_is_walked_in_order_without_hidden_files(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "b.md": "B",
            "a/x.txt": "X",
            "a/.secret": "s",
            ".git/config": "g",
            "attest.yaml": "documents: []",
            "~$x.docx": "l",
            "a/attest.yaml": "text",
        },
    )
    assert _ids(tmp_path) == ["a/attest.yaml", "a/x.txt", "b.md"]
    assert {item.root for item in find([tmp_path])} == {str(tmp_path.resolve())}


def test_a_single_file_has_its_name_as_id_and_its_folder_as_root(tmp_path: Path) -> None:
    _write(tmp_path, {"a.md": "A", "b.md": "B", "attest.yaml": "documents: [{match: a.md, groups: [x]}]"})
    (item,) = find([tmp_path / "a.md"])
    assert (item.doc_id, item.root) == ("a.md", str(tmp_path.resolve()))
    assert item.load().groups == ("x",)


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path) -> None:
    kb = _write(tmp_path / "kb", {"in.md": "In.", "sub/more.md": "More."})
    _write(tmp_path / "outside", {"secret.md": "Secret."})
    (kb / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (kb / "folder").symlink_to(tmp_path / "outside")
    (kb / "loop").symlink_to(kb)
    (kb / "dead.md").symlink_to(tmp_path / "nothing")
    (kb / "again.md").symlink_to(kb / "in.md")
    assert _ids(kb) == ["again.md", "in.md", "sub/more.md"]


def test_nothing_at_a_path_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(find([tmp_path / "nothing"]))


def test_arguments_are_checked_before_the_first_item(tmp_path: Path) -> None:
    _write(tmp_path, {"kb/a.md": "A", "bad.jsonl": '{"doc_id": "a", "title": "t", "text": "x"}\n{"doc_id": 7}\n'})
    with pytest.raises(InputError, match="line 2"):
        next(find([tmp_path / "kb", tmp_path / "bad.jsonl"]))


_RULES = """
documents:
  - {match: "billing/refunds.md", title: Refund limits, internal: true}
  - {match: "billing/*", groups: [billing], url: "https://help.example/{path}"}
  - {match: "billing/*", groups: [nobody-sees-this-rule], product: Plans, updated: 2026-03-01}
  - {match: "*.txt", product: Text}
"""


def test_every_field_takes_the_first_rule_that_has_it(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "attest.yaml": _RULES,
            "billing/refunds.md": "# R\n\nText.",
            "billing/deep/x.md": "X.",
            "a.txt": "A.",
            "z/b.txt": "B.",
        },
    )
    documents = _documents(tmp_path)
    refunds = documents["billing/refunds.md"]
    assert (refunds.title, refunds.internal, refunds.groups) == ("Refund limits", True, ("billing",))
    assert (refunds.url, refunds.product, refunds.updated) == (
        "https://help.example/billing/refunds.md",
        "Plans",
        "2026-03-01",
    )
    assert documents["billing/deep/x.md"].groups == ("billing",), "a rule for a folder holds below it"
    assert (documents["a.txt"].product, documents["z/b.txt"].product, documents["a.txt"].groups) == (
        "Text",
        "Text",
        None,
    )


@pytest.mark.row("4-25")
@pytest.mark.parametrize(
    ("acl", "front", "rule", "groups"),
    [
        ("{'*': [a]}", "groups: [f]", "groups: [r]", ("a",)),
        ("{'other': [a]}", "groups: [f]", "groups: [r]", ("r",)),
        ("{}", "groups: [f]", "title: T", ("f",)),
        ("{}", "title: T", "title: T", None),
        ("{'x.md': []}", "groups: [f]", "groups: [r]", ()),
        ("{'x.md': everyone}", "groups: [f]", "groups: [r]", None),
        ("{'x.md': null}", "groups: [f]", "groups: [r]", None),
        ("{'x.md': [one, two, one], '*': [three]}", "title: T", "title: T", ("one", "two")),
        ("{}", "groups: [f]", "groups: everyone", None),
        ("{}", "groups: [f]", "groups: []", ()),
    ],
)
def test_rights_come_from_acl_then_attest_yaml_then_the_file(
    tmp_path: Path, acl: str, front: str, rule: str, groups: tuple[str, ...] | None
) -> None:
    _write(
        tmp_path,
        {
            "kb/x.md": f"---\n{front}\n---\nText.",
            "kb/attest.yaml": f"documents: [{{match: x.md, {rule}}}]",
            "acl.yaml": acl,
        },
    )
    assert _documents(tmp_path / "kb", acl=tmp_path / "acl.yaml")["x.md"].groups == groups


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("docs: []", "docs is not known; allowed: documents"),
        ("- a", "allowed: documents"),
        ("documents: {a: b}", "documents must be a list"),
        ("documents: [{groups: [a]}]", "rule 1: match must be"),
        ("documents: [{match: a}, {match: b, group: [x]}]", "rule 2: group is not known"),
        ("documents: [{match: a, groups: x}]", "rule 1: groups must be a list"),
        ("documents: [{match: a, groups: }]", "rule 1: groups is empty"),
        ("documents: [{match: a, internal: 'no'}]", "internal must be true or false"),
        ("documents: [{match: a, updated: soon}]", "updated must be an ISO 8601 date"),
        ("documents: [{match: a, url: 'javascript:x'}]", "url must be a web address"),
        ("documents: [", "line 1: not valid YAML"),
    ],
)
def test_wrong_metadata_names_file_and_key(tmp_path: Path, rules: str, message: str) -> None:
    _write(tmp_path, {"attest.yaml": rules, "a.md": "A"})
    with pytest.raises(InputError, match=message) as error:
        list(find([tmp_path]))
    assert "attest.yaml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("acl", "message"),
    [
        ("[a]", "must map patterns"),
        ("{a: b}", "groups of a must be a list"),
        ("{a: [1]}", "must be a list"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_wrong_acl_file_is_the_users_mistake(tmp_path: Path, acl: str, message: str) -> None:
    _write(tmp_path, {"kb/a.md": "A", "acl.yaml": acl})
    with pytest.raises(InputError, match=message):
        list(find([tmp_path / "kb"], tmp_path / "acl.yaml"))
    with pytest.raises(InputError, match="no such file"):
        list(find([tmp_path / "kb"], tmp_path / "none.yaml"))


def _stamp(*paths: Path, doc: str, acl: Path | None = None) -> str:
    return _by_id(*paths, acl=acl)[doc].stamp


def test_stamps_change_with_the_file_and_its_own_rules_only(tmp_path: Path) -> None:
    _write(tmp_path, {"a.md": "A", "b.md": "B"})
    first = _stamp(tmp_path, doc="a.md")
    assert _stamp(tmp_path, doc="a.md") == first
    _write(tmp_path, {"attest.yaml": "documents: [{match: b.md, groups: [x]}]"})
    assert _stamp(tmp_path, doc="a.md") == first
    _write(tmp_path, {"attest.yaml": "documents: [{match: a.md, groups: [x]}]"})
    ruled = _stamp(tmp_path, doc="a.md")
    assert ruled != first
    _write(tmp_path, {"attest.yaml": "documents: [{match: a.md, groups: [y]}]"})
    assert _stamp(tmp_path, doc="a.md") not in (first, ruled)
    _write(tmp_path, {"attest.yaml": "documents: []", "acl.yaml": "{}"})
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert _stamp(tmp_path, doc="a.md") != first


def test_a_file_that_cannot_be_read_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    _write(tmp_path, {"bad.pdf": b"%PDF-1.7 nothing", "empty.md": b"", "good.md": "Good."})
    items = _by_id(tmp_path)
    for name, code in (("bad.pdf", "corrupt"), ("empty.md", "empty")):
        with pytest.raises(Refused, match=name) as refusal:
            items[name].load()
        assert refusal.value.code == code
    assert items["good.md"].load().text == "Good."


def _row(**fields: Any) -> str:
    return json.dumps({"doc_id": "a", "title": "T", "text": "Text."} | fields)


def test_a_corpus_is_one_item_per_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        "\n".join(
            [
                "\ufeff" + _row(),
                "",
                _row(
                    doc_id="b",
                    groups=["x"],
                    internal=True,
                    url="https://a.example",
                    product="P",
                    updated="2026-01-02T03:04:05Z",
                ),
                _row(doc_id="c", groups=[], text="A\r\nB \x00", more=1),
            ]
        )
        + "\n"
    )
    documents = _documents(path)
    assert documents["a"] == Document("a", "T", "Text.")
    assert documents["b"] == Document(
        "b",
        "T",
        "Text.",
        url="https://a.example",
        groups=("x",),
        product="P",
        internal=True,
        updated="2026-01-02T03:04:05Z",
    )
    assert (documents["c"].groups, documents["c"].text) == ((), "A\nB")
    assert {item.root for item in find([path])} == {str(path.resolve())}


def test_a_corpus_streams(tmp_path: Path) -> None:
    """Memory does not grow with the corpus: 8 MB of lines pass through a small part of that."""
    path = tmp_path / "corpus.jsonl"
    with path.open("w") as file:
        file.writelines(_row(doc_id=str(i), text="word " * 200) + "\n" for i in range(8000))
    tracemalloc.start()
    assert sum(1 for _ in find([path])) == 8000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_stamps_of_corpus_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(_row() + "\n" + _row(doc_id="b") + "\n")
    acl = _write(tmp_path, {"acl.yaml": "{a: [x]}"}) / "acl.yaml"
    first, second = (_stamp(path, doc=doc) for doc in "ab")
    assert first != second
    assert _stamp(path, doc="a", acl=acl) != first
    assert _stamp(path, doc="b", acl=acl) == second
    assert _documents(path, acl=acl)["a"].groups == ("x",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not a JSON object"),
        ("[1]", "line 2: must be a JSON object"),
        (b"\xff\xfe{}", "line 2: not a JSON object in UTF-8"),
        (_row(doc_id=""), "line 2: doc_id must not be empty"),
        (_row(doc_id=None), "line 2: doc_id must be text"),
        (_row(title=3), "line 2: title must be text"),
        (_row(text=None), "line 2: text must be text"),
        (_row(groups="x"), "line 2: groups must be a list"),
        (_row(internal=1), "line 2: internal must be true or false"),
        (_row(updated="03/04/2026"), "line 2: updated must be an ISO 8601 date"),
        (_row(url=5), "line 2: url must be a web address"),
        (_row(product=[]), "line 2: product must be text"),
    ],
)
def test_a_wrong_corpus_line_names_file_line_and_field(tmp_path: Path, line: str | bytes, message: str) -> None:
    _write(
        tmp_path,
        {
            "c.jsonl": _row(doc_id="first").encode()
            + b"\n"
            + (line if isinstance(line, bytes) else line.encode())
            + b"\n"
        },
    )
    with pytest.raises(InputError, match=message) as error:
        list(find([tmp_path / "c.jsonl"]))
    assert "c.jsonl" in str(error.value)


def test_a_corpus_line_without_text_is_refused_alone(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(_row(text=" \n") + "\n" + _row(doc_id="b") + "\n")
    items = _by_id(tmp_path / "c.jsonl")
    with pytest.raises(Refused) as refusal:
        items["a"].load()
    assert refusal.value.code == "empty"
    assert items["b"].load().text == "Text."


def test_other_jsonl_is_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"event": "start"}\n{"event": "stop"}\n')
    assert _ids(tmp_path / "log.jsonl") == ["log.jsonl"]


def test_a_corpus_in_a_folder_is_refused_for_its_rights_would_be_words(tmp_path: Path) -> None:
    row = {"doc_id": "a", "title": "A", "text": "The hotline is 7731.", "groups": ["vip"]}
    (tmp_path / "faq.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    (tmp_path / "rows.jsonl").write_text('{"plan": "Basic", "price": "$9.00"}\n', "utf-8")
    corpus, rows = find([tmp_path])
    with pytest.raises(Refused, match="by its own path"):
        corpus.load()
    assert "Basic" in rows.load().text


def test_a_name_that_is_not_utf_8_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("Open at nine.", "utf-8")
    (tmp_path / os.fsdecode(b"b\xff.txt")).write_text("Closed.", "utf-8")
    strange, good = find([tmp_path])
    assert strange.doc_id == "b\\udcff.txt"
    with pytest.raises(Refused, match="not UTF-8"):
        strange.load()
    assert good.load().text == "Open at nine."


@pytest.mark.parametrize("name", ["gropus", "Groups", "group", "GROUPS", "groups "])
def test_what_is_nearly_groups_opens_nothing(tmp_path: Path, name: str) -> None:
    """In front matter, also after blank lines, and in a corpus."""
    for before in ("", "\n\n"):
        (tmp_path / "a.md").write_text(
            f'{before}---\n"{name}": [hr]\nowner: Bea\n---\n# Pay\n\nIt is paid late.\n', "utf-8"
        )
        with pytest.raises(Refused, match="did you mean groups"):
            next(iter(find([tmp_path / "a.md"]))).load()
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"doc_id": "a", "title": "A", "text": "t", name: ["hr"]}), "utf-8")
    with pytest.raises(InputError, match="did you mean groups"):
        list(find([corpus]))


MAIL = "From: A <a@outside.example>\nTo: desk@shop.example\nSubject: Offer\nContent-Type: text/plain\n\nCall us.\n"


def test_whose_word_a_document_is_is_said_by_folder(tmp_path: Path) -> None:
    rules = "documents:\n- {match: 'policies/*', trust: official}\n- {match: 'forum/*', trust: inbound}\n"
    _write(
        tmp_path,
        {
            "attest.yaml": rules,
            "policies/a.md": "A",
            "policies/news.eml": MAIL,
            "forum/b.md": "B",
            "c.md": "C",
            "d.eml": MAIL,
            "e.md": "---\ntrust: inbound\n---\nE",
        },
    )
    assert {name: d.trust for name, d in _documents(tmp_path).items()} == {
        "policies/a.md": "official",
        "policies/news.eml": "official",
        "forum/b.md": "inbound",
        "c.md": "ordinary",
        "d.eml": "inbound",
        "e.md": "inbound",
    }


def test_a_document_cannot_call_itself_official(tmp_path: Path) -> None:
    _write(tmp_path, {"a.md": "---\ntrust: official\n---\nCall 0900."})
    with pytest.raises(Refused, match=r"a document cannot call itself official; attest.yaml beside it can"):
        _documents(tmp_path)


def test_the_lines_of_a_corpus_say_their_trust(tmp_path: Path) -> None:
    row = {"doc_id": "x", "title": "X", "text": "X", "trust": "official"}
    _write(tmp_path, {"c.jsonl": json.dumps(row), "bad.jsonl": json.dumps({**row, "trust": "high"})})
    assert _documents(tmp_path / "c.jsonl")["x"].trust == "official"
    with pytest.raises(InputError, match=r"bad.jsonl, line 1: trust must be one of official, ordinary, inbound"):
        _documents(tmp_path / "bad.jsonl")


def test_versions_of_ordinary_documents_are_those_of_before_there_was_trust() -> None:
    assert Document("x", "X", "X").version == "8017c25a8e18cdb3d1b4e552b4f7ab87"
    assert Document("x", "X", "X", trust="official").version != Document("x", "X", "X", trust="inbound").version
