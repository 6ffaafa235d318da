"""The linear model: hashed words, pairs of words and parts of words, one byte for each weight.

README.md describes the file. A long text counts half as a whole and half by its worst stretch of forty words.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from corpus import CATEGORIES

BITS = 18
STRETCH, STEP = 40, 20


def tokens(text):
    return re.findall(r"[a-z0-9']+|[^\sa-z0-9']", text)


SHARED = dict(n_features=2**BITS, alternate_sign=False, norm="l2", lowercase=False, binary=True, dtype=np.float32)
WORDS = HashingVectorizer(analyzer="word", tokenizer=tokens, token_pattern=None, ngram_range=(1, 2), **SHARED)
PARTS = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **SHARED)


def features(texts):
    """A row for each normalised text: first the words and pairs, then parts of 3 to 5 letters."""
    return sp.hstack([WORDS.transform(texts), PARTS.transform(texts)], format="csr")


def stretches(text):
    """The whole text, and stretches of it if it is longer than one."""
    words = text.split()
    if len(words) <= STRETCH:
        return [text]
    return [text] + [" ".join(words[i : i + STRETCH]) for i in range(0, len(words) - STEP, STEP)]


class Windows:
    """Features of texts and of their stretches, made once for several models."""

    def __init__(self, texts):
        parts = [stretches(t) for t in texts]
        self.starts = np.cumsum([0] + [len(p) for p in parts[:-1]])
        self.features = features([s for p in parts for s in p])

    def logits(self, weights, bias):
        z = self.features @ weights + bias
        whole, worst = z[self.starts], np.maximum.reduceat(z, self.starts)
        return (whole + worst) / 2


def quantise(w):
    """Weights as int8 with one scale. A value q stands for q·|q| / 127² × scale, so small weights keep detail."""
    scale = np.abs(w).max()
    q = np.round(np.sign(w) * 127 * np.sqrt(np.abs(w) / scale)).astype(np.int8)
    return q, scale


def restore(q, scale):
    q = q.astype(np.float32) / 127
    return q * np.abs(q) * scale


@dataclass
class Linear:
    weights: np.ndarray  # categories × 2^(BITS+1), as restored from bytes
    biases: np.ndarray
    calibration: np.ndarray  # categories × (a, b): the probability is sigmoid(a·logit + b)

    def logits(self, windows):
        """Before calibration: a row for each text, a column for each category."""
        columns = [windows.logits(w, b) for w, b in zip(self.weights, self.biases)]
        return np.stack(columns, 1)

    def scores(self, windows):
        a, b = self.calibration.T
        return sigmoid(self.logits(windows) * a + b)


def sigmoid(z):
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def read(path):
    data = Path(path).read_bytes()
    n = len(CATEGORIES)
    magic, bits, count = struct.unpack_from("<4sII", data)
    if (magic, bits, count) != (b"CLF1", BITS, n):
        raise ValueError(f"{path} is not a linear model of {BITS} bits and {n} categories")
    scales = np.frombuffer(data, "<f4", n, 12)
    biases = np.frombuffer(data, "<f4", n, 12 + 4 * n)
    start, size = 12 + 8 * n, n << (bits + 1)
    q = np.frombuffer(data, np.int8, size, start).reshape(-1, n)
    calibration = np.tile([1.0, 0.0], (n, 1))
    if data[start + size : start + size + 4] == b"PLT1":
        calibration = np.frombuffer(data, "<f4", 2 * n, start + size + 4).reshape(n, 2)
    return Linear(np.stack([restore(q[:, j], scales[j]) for j in range(n)]), biases, calibration)


def write(path, weights, biases, calibration):
    """`weights` are rounded to bytes here."""
    pairs = [quantise(w) for w in weights]
    n = len(CATEGORIES)
    parts = [
        struct.pack("<4sII", b"CLF1", BITS, n),
        np.array([s for _, s in pairs], "<f4").tobytes(),
        np.array(biases, "<f4").tobytes(),
        np.stack([q for q, _ in pairs], 1).tobytes(),
        b"PLT1",
        np.array(calibration, "<f4").tobytes(),
    ]
    Path(path).write_bytes(b"".join(parts))
