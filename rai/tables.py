"""Tables of words, codes and names that lie beside the module that reads them, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def table(module: str) -> Any:
    """The table of a module: `table(__file__)` in `currencies.py` is what `currencies.json` beside it holds."""
    return json.loads(Path(module).with_suffix(".json").read_text("utf-8"))
