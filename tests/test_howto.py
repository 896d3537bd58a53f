"""Pages as steps: a page that no longer fits the tree, or a command that prints something else, is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.howto import Change, Command, NewFile, missing, steps, write

PAGE = """# A page
```python
# new file: rai/new.py
ONE = 1
```
```diff
--- rai/old.py
 first
-second
+2
@@
 fourth
+fifth
```
```console
$ echo one two three
one…three
$ true
```
"""


def test_a_page_is_read_in_its_order() -> None:
    assert list(steps(PAGE)) == [
        NewFile("rai/new.py", "ONE = 1\n"),
        Change("rai/old.py", "first\nsecond\n", "first\n2\n"),
        Change("rai/old.py", "fourth\n", "fourth\nfifth\n"),
        Command("echo one two three", ("one…three",)),
        Command("true", ()),
    ]


def test_a_block_that_is_for_no_file_is_refused() -> None:
    with pytest.raises(ValueError, match="does not say which file"):
        list(steps("```python\nONE = 1\n```\n"))


def test_what_a_page_says_is_written(tmp_path: Path) -> None:
    (tmp_path / "rai").mkdir()
    (tmp_path / "rai/old.py").write_text("first\nsecond\nthird\nfourth\n", "utf-8")
    for step in steps(PAGE):
        if not isinstance(step, Command):
            write(step, tmp_path)
    assert (tmp_path / "rai/old.py").read_text("utf-8") == "first\n2\nthird\nfourth\nfifth\n"
    assert (tmp_path / "rai/new.py").read_text("utf-8") == "ONE = 1\n"


@pytest.mark.parametrize("text", ["second\n", "first\nother\n", "first\nsecond\nfirst\nsecond\n", "at first\nsecond\n"])
def test_lines_that_are_not_there_or_twice_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="must have these lines once"):
        write(Change("old.py", "first\nsecond\n", "first\n2\n"), tmp_path)


def test_a_new_file_that_is_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "new.py").touch()
    with pytest.raises(ValueError, match="is there already"):
        write(NewFile("new.py", ""), tmp_path)


@pytest.mark.parametrize(
    ("shown", "lacks"),
    [(("a…d", "ef"), None), (("ef",), None), (("ef", "a b c d"), "a b c d"), (("a b",), "a b"), (("a…e",), "a…e")],
)
def test_output_is_compared_line_by_line(shown: tuple[str, ...], lacks: str | None) -> None:
    assert missing(Command("x", shown), "a b c d\n  ef\n") == lacks
