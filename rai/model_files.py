"""The places of this installation's models: the embedding model, its tokenizer, the screen's classifier that is made of it, and the reader with its own.

They belong to the environment that the program runs in, as its packages do, and not to the data: every ATTEST_HOME finds them, removing the
environment removes them, and whoever may only read the installation may use them. They lie in one folder that is named by what they are made by,
so that a program never uses models of another recipe than its own, and never one file of each. `rai.embedded.build_models` makes that folder, in one piece.

`python -m rai.model_files` prints the folder, and ends with 1 if something is missing there.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from functools import cache
from pathlib import Path

import grounding

EMBEDDING, TOKENIZER, CLASSIFIER = "minilm-int8.onnx", "tokenizer.json", "screen-int8.onnx"
READER, READER_TOKENIZER = "reader-int8.onnx", "reader-tokenizer.json"
"""Names of the files in the folder of models."""
FILES = (EMBEDDING, TOKENIZER, CLASSIFIER, READER, READER_TOKENIZER)
CHANGES = Path(__file__).parent / "embedded" / "screen.npz"
"""The file of what the classifier was taught, as changes to the embedding model's weights."""
_EMBEDDED = Path(grounding.__file__).parent / "embedded"
RECIPE = (
    *(
        _EMBEDDED / "recipes" / f"{name}.py"
        for name in ("build_model", "build_reader", "encoder_graph", "low_rank", "quantise")
    ),
    _EMBEDDED / "reader.npz",
    CHANGES,
)
"""The files that the models are made by: another byte in one of them is another recipe."""


def models_root() -> Path:
    """The folder of this environment in which each recipe has a folder for its models."""
    return Path(sysconfig.get_path("data")) / "share" / "attest" / "models"


@cache
def recipe() -> str:
    """The name of the recipe: twelve hexadecimal digits of the SHA-256 of its files."""
    digest = hashlib.sha256()
    for path in RECIPE:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def installed_models() -> Path:
    """The folder of the models that this program is made for, whether or not it is there."""
    return models_root() / recipe()


def missing(folder: Path) -> tuple[str, ...]:
    """The names of the files that `folder` lacks of a whole set of models."""
    return tuple(name for name in FILES if not (folder / name).is_file())


def main() -> int:
    """Prints the folder of models; returns 1 if a file is missing there, by which set-up knows that there is something to build."""
    print(installed_models())  # noqa: T201
    return 1 if missing(installed_models()) else 0


if __name__ == "__main__":
    sys.exit(main())
