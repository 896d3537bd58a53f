"""What has to hold before a tag: one version everywhere, a changelog that tells of it, a clean tree, fresh lists. Then it is built."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from bot.version import VERSION
from tools.release import ROOT, Section, complaints, main, notes_of, sections, version_of

KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-25\n### Added\n- A thing.\n\n## 1.2.2 - 2026-10-01\n### Fixed\n- Another.\n"
PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "attest-copilot"
dynamic = ["version"]
[tool.setuptools.dynamic]
version = {attr = "bot.version.VERSION"}
[tool.setuptools.packages.find]
include = ["bot*"]
"""


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=n@name.example", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project that is ready, with a stand-in for what makes its lists."""
    files = {
        "CHANGELOG.md": CHANGELOG,
        "pyproject.toml": PROJECT,
        ".gitignore": "dist/\n__pycache__/\n*.tmp\n",
        "bot/__init__.py": "",
        "bot/version.py": 'VERSION = "1.2.3"\n',
        "tools/lists.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    git(tmp_path, "init")
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "a change")


def change(folder: Path, name: str, old: str, new: str) -> None:
    """Another text in a file, committed."""
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), "utf-8")
    commit(folder)


def test_the_changelog_tells_of_the_version_that_the_program_reports() -> None:
    """Between releases too: a version is changed in the commit that gives it its section."""
    waiting, newest, *_ = sections((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert (waiting.version, newest.version) == ("Unreleased", VERSION)
    assert version_of(ROOT) == VERSION


def test_a_section_of_the_changelog_has_each_kind_of_change_once() -> None:
    for section in sections((ROOT / "CHANGELOG.md").read_text("utf-8")):
        kinds = re.findall(r"^### (.+)$", section.body, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds], section.version


def test_sections_are_read_from_the_top() -> None:
    assert sections(CHANGELOG) == [
        Section("Unreleased", "", ""),
        Section("1.2.3", "2026-11-25", "### Added\n- A thing."),
        Section("1.2.2", "2026-10-01", "### Fixed\n- Another."),
    ]


def test_a_project_that_is_ready_has_no_complaint(project: Path) -> None:
    assert list(complaints(project)) == []
    assert list(complaints(project, "v1.2.3")) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            "bot/version.py",
            "1.2.3",
            "1.3.0",
            "CHANGELOG.md: the newest release is 1.2.3, and bot/version.py says 1.3.0",
        ),
        (
            "CHANGELOG.md",
            "1.2.3 - 2026-11-25",
            "1.2.3",
            "CHANGELOG.md: the heading of 1.2.3 has no day, as in ## 1.2.3 - 2026-11-25",
        ),
        (
            "CHANGELOG.md",
            "2026-11-25",
            "2026-11-31",
            "CHANGELOG.md: the heading of 1.2.3 has no day, as in ## 1.2.3 - 2026-11-25",
        ),
        ("CHANGELOG.md", "### Added\n- A thing.\n", "", "CHANGELOG.md: 1.2.3 says nothing"),
        (
            "CHANGELOG.md",
            "## Unreleased\n",
            "## Unreleased\n- More.\n",
            "CHANGELOG.md: what stands under Unreleased belongs to 1.2.3, or to no release yet",
        ),
        ("CHANGELOG.md", "## Unreleased\n\n", "", "CHANGELOG.md: the first section is not Unreleased"),
        (
            "pyproject.toml",
            'dynamic = ["version"]',
            'version = "1.2.2"',
            "pyproject.toml: its version is not that of bot/version.py",
        ),
        ("tools/lists.py", "", "print('docs/cli.md: stale'); raise SystemExit(1)", "docs/cli.md: stale"),
        ("tools/lists.py", "", "raise ImportError", "the lists in the documents cannot be looked at: make lists"),
    ],
)
def test_what_does_not_hold_is_told(project: Path, name: str, old: str, new: str, said: str) -> None:
    change(project, name, old, new)
    assert said in list(complaints(project))


def test_a_changelog_without_a_release_is_told(project: Path) -> None:
    (project / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n", "utf-8")
    commit(project)
    assert list(complaints(project)) == ["CHANGELOG.md: the newest release is none, and bot/version.py says 1.2.3"]


def test_what_is_not_committed_is_told(project: Path) -> None:
    (project / "new.txt").write_text("new", "utf-8")
    (project / "bot" / "version.py").write_text('VERSION = "1.2.3"\n\n', "utf-8")
    assert list(complaints(project)) == ["the tree is not clean: bot/version.py, new.txt"]


def test_a_version_is_tagged_once_and_by_its_own_name(project: Path) -> None:
    git(project, "tag", "v1.2.3")
    assert list(complaints(project)) == ["v1.2.3 is tagged already: bot/version.py names the next version"]
    assert list(complaints(project, "v1.2.3")) == []
    assert list(complaints(project, "v1.2.4")) == ["the tag is v1.2.4, and bot/version.py says 1.2.3"]


def test_sdist_wheel_and_notes_are_of_what_is_committed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What git ignores is in neither, nor what an earlier run built."""
    (project / "bot" / "left.tmp").write_text("x", "utf-8")
    (project / "dist").mkdir()
    (project / "dist" / "attest_copilot-1.2.2.tar.gz").write_text("x", "utf-8")
    assert main(["--tag", "v1.2.3"], project) == 0
    out = project / "dist"
    assert capsys.readouterr().out.splitlines() == [
        "dist/attest_copilot-1.2.3.tar.gz",
        "dist/attest_copilot-1.2.3-py3-none-any.whl",
        "dist/NOTES.md",
    ]
    assert len(list(out.iterdir())) == 3
    assert (out / "NOTES.md").read_text("utf-8") == "### Added\n- A thing.\n"
    inside = zipfile.ZipFile(out / "attest_copilot-1.2.3-py3-none-any.whl").namelist()
    assert [name for name in inside if name.startswith("bot/")] == ["bot/__init__.py", "bot/version.py"]
    with tarfile.open(out / "attest_copilot-1.2.3.tar.gz") as sdist:
        assert not [name for name in sdist.getnames() if name.endswith(".tmp")]


def test_links_of_the_notes_lead_to_the_files_of_the_release() -> None:
    """Those to files, not those to other sites; beside the files they stay what they are."""
    said = "[A](docs/a.md#b), [`c`](https://name.example/c) and [d](rai/d.py)"
    section = Section("1.2.3", "2026-11-25", said)
    assert notes_of(section, None) == said
    assert notes_of(section, "https://host.example/o/r/blob/v1.2.3") == (
        "[A](https://host.example/o/r/blob/v1.2.3/docs/a.md#b), [`c`](https://name.example/c) and [d](https://host.example/o/r/blob/v1.2.3/rai/d.py)"
    )


def test_the_next_step_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], project) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "next: git tag -a v1.2.3 -m 1.2.3 && git push origin v1.2.3"


def test_what_is_not_ready_is_not_built(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tag", "v9.9.9"], project) == 1
    assert capsys.readouterr().err == "the tag is v9.9.9, and bot/version.py says 1.2.3\n"
    assert not (project / "dist").exists()


def test_a_folder_that_is_no_checkout_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 1
    assert "version.py" in capsys.readouterr().err
