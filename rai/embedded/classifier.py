"""The screen's classifier: the chance that a request asks for each kind of harm, and that a document's sentence gives orders to the model.

It is the embedding model with low-rank changes (rai/embedded/screen.npz, trained by tools/train_screen.py), built beside it at set-up. It was
taught on texts of up to 64 word pieces, so a longer one is read in windows of 64, each overlapping the last by 16.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from grounding.embedded.embedder import model_session
from grounding.errors import StoreError
from rai import model_files
from rai.records import Category

FILE, CHANGES = model_files.CLASSIFIER, model_files.CHANGES
CLASSES: tuple[Category, ...] = (
    "hate",
    "sexual",
    "violence",
    "self_harm",
    "dangerous_help",
    "privacy",
    "jailbreak",
    "instruction_leak",
)
"""The harmful classes in the order of the model's outputs 1 to 8; output 0 is an honest request, 9 an order in a document."""
PIECES, STRIDE = 62, 46
"""Word pieces of one window without the two marks around them, and from the start of one window to that of the next."""
FIRST, LAST = 8, 4
"""Most windows judged of the beginning and of the end of a long text; what lies between is left to the rules."""
_READ = 6000
"""Characters read at each end of a text: more than 12 windows hold."""
_CACHE = 8192
"""Most texts whose outputs are kept."""
Array = NDArray[np.float32]


class Classifier:
    """The screen's classifier, read from the file that `grounding.embedded.build_model` makes of screen.npz. Safe for several threads.

    Raises StoreError if the file or its tokenizer cannot be read.
    """

    def __init__(self, path: Path, *, threads: int = 2) -> None:
        try:
            self._tokenizer, self._session = model_session(path)
            if [(o.name, o.shape[-1]) for o in self._session.get_outputs()] != [("logits", len(CLASSES) + 2)]:
                raise ValueError("another model")
        except Exception as error:  # both libraries raise bare Exception
            raise StoreError(
                f"the screen's classifier cannot be read ({type(error).__name__}); delete it and run `make setup`"
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        ends = self._tokenizer.encode("").ids
        self._start, self._end = ends[0], ends[-1]
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="screen")
        self._version = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        self._cache: OrderedDict[str, Array] = OrderedDict()
        self._lock = Lock()

    @property
    def version(self) -> str:
        """The first digits of the file's SHA-256."""
        return self._version

    def request(self, text: str) -> Array:
        """The chances that each window of a request is honest, or of each of `CLASSES`: shape (windows, 9), each row sums to one."""
        logits = self._windows(text)[:, :-1]
        raised = np.exp(logits - logits.max(1, keepdims=True))
        chances: Array = raised / raised.sum(1, keepdims=True)
        return chances

    def order(self, text: str) -> float:
        """The chance, in [0, 1], that `text`, a sentence or two of a document, is an order to the model."""
        return float(1.0 / (1.0 + np.exp(-self._windows(text)[:, -1].max())))

    def ahead(self, texts: Sequence[str]) -> None:
        """Read texts side by side, so that what is asked of each afterwards is there: some sentences one after another would leave a processor idle."""
        cut = {clean: self._cut(clean) for clean in dict.fromkeys(map(_clean, texts)) if self._held(clean) is None}
        rows = iter(list(self._pool.map(self._one, [window for parts in cut.values() for window in parts])))
        for text, parts in cut.items():
            self._keep(text, np.concatenate([next(rows) for _ in parts]))

    def _windows(self, text: str) -> Array:
        clean = _clean(text)
        held = self._held(clean)
        if held is None:
            held = np.concatenate(list(self._pool.map(self._one, self._cut(clean))))
            self._keep(clean, held)
        return held

    def _held(self, text: str) -> Array | None:
        with self._lock:
            return self._cache.get(text)

    def _keep(self, text: str, rows: Array) -> None:
        with self._lock:
            self._cache[text] = rows
            while len(self._cache) > _CACHE:
                self._cache.popitem(last=False)

    def _cut(self, text: str) -> list[list[int]]:
        if len(text) <= 2 * _READ:
            return windows(self._tokenizer.encode(text, add_special_tokens=False).ids, FIRST + LAST)
        ends = (text[:_READ], text[-_READ:])
        head, tail = (self._tokenizer.encode(end, add_special_tokens=False).ids for end in ends)
        return windows(head, FIRST)[:FIRST] + windows(tail[-(PIECES + STRIDE * (LAST - 1)) :], LAST)

    def _one(self, pieces: Sequence[int]) -> Array:
        ids = np.array([[self._start, *pieces, self._end]], np.int64)
        row: Array = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return row


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # half a character is read as a question mark


def windows(pieces: Sequence[int], most: int) -> list[list[int]]:
    """The word pieces of a text in windows of at most `PIECES`, `STRIDE` apart, that cover them all.

    Of more windows than `most` only so many are given: the last third of them from the end, the others from the beginning.
    """
    found = [list(pieces[i : i + PIECES]) for i in range(0, max(1, len(pieces) - (PIECES - STRIDE)), STRIDE)]
    if len(found) <= most:
        return found
    last = most // 3
    return found[: most - last] + found[-last:]
