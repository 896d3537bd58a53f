"""Where models are looked for, and what counts as a whole set. How set-up builds them: tests/test_setup_models.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rai.embedded.build_models import build_models
from rai.model_files import EMBEDDING, FILES, RECIPE, TOKENIZER, installed_models, missing, models_root, recipe


def test_they_belong_to_the_environment_that_runs() -> None:
    assert models_root() == Path(sys.prefix) / "share" / "attest" / "models"
    assert installed_models() == models_root() / recipe()


def test_the_recipe_is_what_makes_them() -> None:
    """Its files exist, and no other of ours has a part in it: they import nothing of ours but each other and errors."""
    assert [path.name for path in RECIPE] == [
        "build_model.py",
        "build_reader.py",
        "encoder_graph.py",
        "low_rank.py",
        "quantise.py",
        "reader.npz",
        "screen.npz",
    ]
    assert all(path.is_file() for path in RECIPE)
    lines = [line for path in RECIPE[:-2] for line in path.read_text("utf-8").splitlines()]
    ours = {line.split()[1] for line in lines if line.startswith(("from grounding", "from rai", "from bot"))}
    assert ours == {
        "grounding.embedded.recipes.encoder_graph",
        "grounding.embedded.recipes.low_rank",
        "grounding.embedded.recipes.quantise",
        "grounding.errors",
    }


def test_a_set_is_whole_or_lacks_something(tmp_path: Path) -> None:
    assert missing(tmp_path / "none") == FILES
    for name in set(FILES) - {TOKENIZER}:
        (tmp_path / name).write_bytes(b"")
    assert missing(tmp_path) == (TOKENIZER,)


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    in_the_way = tmp_path / "models"
    in_the_way.write_bytes(b"a file")
    with pytest.raises(OSError, match="models"):
        build_models(in_the_way / "0123456789ab")
    assert in_the_way.read_bytes() == b"a file"


def test_the_builder_takes_no_arguments() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "rai.embedded.build_models", "x"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (2, "usage: python -m rai.embedded.build_models\n")


def test_only_folders_of_recipes_are_taken_for_older_ones(tmp_path: Path) -> None:
    whole, other, theirs = (tmp_path / name for name in ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "somebody-elses"))
    for folder in (whole, other, theirs):
        folder.mkdir()
    for name in FILES:
        (whole / name).write_bytes(b"there")
    build_models(whole)
    assert {p.name for p in tmp_path.iterdir()} == {whole.name, theirs.name, ".lock"}
    assert (whole / EMBEDDING).read_bytes() == b"there"
