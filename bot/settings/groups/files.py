"""Settings of where files lie on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import platformdirs
from pydantic import Field

from bot.settings.group import Group
from grounding.policies.files import read_policies
from grounding.policy import Policy
from rai.ledger.key import signing_key_beside
from rai.model_files import CLASSIFIER, EMBEDDING, READER, READER_TOKENIZER, installed_models


class Files(Group):
    """The paths of the home, the ledger's keys, the models, and the list of excluded subjects."""

    home: Path = Field(
        alias="home",
        default_factory=lambda: Path(platformdirs.user_data_dir("attest", appauthor=False)),
        description="folder of index, ledger and state",
    )
    ledger_key: Path = Field(
        alias="ledger_key_file",
        default_factory=lambda: Path(platformdirs.user_config_dir("attest", appauthor=False)) / "ledger.key",
        description="key of the ledger's chain; made once, mode 0600",
    )
    signing_key: Path | None = Field(
        None,
        alias="ledger_signing_key_file",
        description="key that signs the ledger's checkpoints; made once, mode 0600; default: ledger-signing.key beside the ledger's key",
    )
    model: Path | None = Field(
        None,
        alias="model_file",
        description="embedding model (ONNX), with tokenizer, classifier and reader beside it; default: those of this installation",
    )
    off_policy: Path | None = Field(
        None,
        alias="off_policy_file",
        description="subjects that your company excludes (YAML); default HOME/off_policy.yaml; followed while running",
    )

    @property
    def signing_key_path(self) -> Path:
        """The file of the key that signs checkpoints."""
        return self.signing_key or signing_key_beside(self.ledger_key)

    @property
    def model_path(self) -> Path:
        """The embedding model's file, whether or not it is there: the one that is named, else this installation's."""
        return self.model or installed_models() / EMBEDDING

    @property
    def screen_model_path(self) -> Path:
        """The screen's classifier, beside the embedding model that it is made of."""
        return self.model_path.with_name(CLASSIFIER)

    @property
    def reader_paths(self) -> tuple[Path, Path]:
        """The reader's model and its tokenizer, beside the embedding model."""
        return self.model_path.with_name(READER), self.model_path.with_name(READER_TOKENIZER)

    @property
    def off_policy_path(self) -> Path:
        """Where the company's list of excluded subjects is looked for."""
        return self.off_policy or self.home / "off_policy.yaml"

    @cached_property
    def policies(self) -> Mapping[str, Policy]:
        """The product's policies and those of HOME/policies, by name. Raises SettingsError for a file that is no policy."""
        return read_policies(self.home / "policies")
