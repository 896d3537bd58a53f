"""The screen's classifier: the chance that a request asks for each kind of harm, and that a document's sentence gives orders to the model.

It is the embedding model with low-rank changes (rai/embedded/screen.npz, trained by tools/train_screen.py), built beside it at set-up. It was
taught on texts of up to 64 word pieces, so a longer one is read in windows of 64, each overlapping the last by 16.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from grounding.embedded.vectors.embedder import model_session
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
MOST = PIECES + STRIDE * (FIRST + LAST - 1)
"""Most word pieces of a text of which every window is read."""
_READ = 6000
"""Characters read at each end of a text: more than 12 windows hold."""
_CACHE = 8192
"""Most windows whose outputs are kept."""
Array = NDArray[np.float32]
Pieces = tuple[int, ...]
"""The numbers of the word pieces of a window."""
Worth = Callable[[str], bool]
"""Told the characters of a window, whether it is to be read at all."""


class Classifier:
    """The screen's classifier, read from the file that `grounding.embedded.recipes.build_model` makes of screen.npz. Safe for several threads.

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
        self._cache: OrderedDict[Pieces, Array] = OrderedDict()
        self._lock = Lock()

    @property
    def version(self) -> str:
        """The first digits of the file's SHA-256."""
        return self._version

    def reads_whole(self, text: str) -> bool:
        """True if every window of a text is read; between the ends of a longer one some are not."""
        return (
            len(self._tokenizer.encode(text[: _READ + 1], add_special_tokens=False).ids) <= MOST and len(text) <= _READ
        )

    def request(self, text: str) -> Array:
        """The chances that each window of a request is honest, or of each of `CLASSES`: shape (windows, 9), each row sums to one."""
        return self.requests([(text, None)])[0]

    def requests(self, asked: Sequence[tuple[str, Worth | None]]) -> list[Array]:
        """As `request` for each of several texts, which are read side by side: one after another would leave a processor idle.

        A window that is not worth reading has no row.
        """
        return [_chances(rows[:, :-1]) for rows in self._outputs([self._cut(*text) for text in asked])]

    def order(self, text: str) -> float:
        """The chance, in [0, 1], that `text`, a sentence or two of a document, is an order to the model."""
        return self.orders([text])[0]

    def orders(self, texts: Sequence[str]) -> list[float]:
        """As `order` for each of several texts, which are read side by side."""
        outputs = self._outputs([self._cut(text, None) for text in texts])
        return [float(1.0 / (1.0 + np.exp(-rows[:, -1].max()))) for rows in outputs]

    def _outputs(self, cut: Sequence[Sequence[Pieces]]) -> list[Array]:
        """The model's outputs for the windows of each of several texts, each of shape (windows, 10); no window is read twice while it is kept."""
        with self._lock:
            rows = {window: self._cache.get(window) for part in cut for window in part}
        new = [window for window, row in rows.items() if row is None]
        read = dict(zip(new, self._pool.map(self._one, new), strict=True))
        with self._lock:
            self._cache |= read
            while len(self._cache) > _CACHE:
                self._cache.popitem(last=False)
        rows |= read
        none = np.empty((0, len(CLASSES) + 2), np.float32)
        return [np.concatenate([none, *(row for window in part if (row := rows[window]) is not None)]) for part in cut]

    def _cut(self, text: str, worth: Worth | None) -> list[Pieces]:
        """The windows of a text as word pieces, without those that are not worth reading."""
        text = text.encode("utf-8", "replace").decode("utf-8")  # half a character is read as a question mark
        if len(text) <= 2 * _READ:
            return self._part(text, FIRST + LAST, worth)
        return self._part(text[:_READ], FIRST, worth) + self._part(
            text[-_READ:], LAST, worth, PIECES + STRIDE * (LAST - 1)
        )

    def _part(self, text: str, most: int, worth: Worth | None, last: int = _READ) -> list[Pieces]:
        """At most `most` windows of the `last` word pieces of a text."""
        read = self._tokenizer.encode(text, add_special_tokens=False)
        ids, offsets = read.ids, read.offsets
        found = windows(range(max(len(ids) - last, 0), len(ids)), most)
        if worth is not None:
            found = [w for w in found if worth(text[offsets[w[0]][0] : offsets[w[-1]][1]] if w else "")]
        return [tuple(ids[i] for i in window) for window in found]

    def _one(self, pieces: Pieces) -> Array:
        ids = np.array([[self._start, *pieces, self._end]], np.int64)
        row: Array = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return row


def _chances(logits: Array) -> Array:
    """The softmax of each row."""
    raised = np.exp(logits - logits.max(1, keepdims=True, initial=-np.inf))
    chances: Array = raised / raised.sum(1, keepdims=True)
    return chances


def windows(pieces: Sequence[int], most: int) -> list[list[int]]:
    """The word pieces of a text in windows of at most `PIECES`, `STRIDE` apart, that cover them all.

    Of more windows than `most` only so many are given: the last third of them from the end, the others from the beginning.
    """
    found = [list(pieces[i : i + PIECES]) for i in range(0, max(1, len(pieces) - (PIECES - STRIDE)), STRIDE)]
    if len(found) <= most:
        return found
    last = most // 3
    return found[: most - last] + found[-last:]
