"""The corpus: rows of text with labels and weights, in JSON lines (also compressed with xz).

A row has `t` (normalised text), `s` (source), `y` (a label for each of CATEGORIES: 1, 0 or null), `w` (the weight of
each label), `dev` (true: never trained on) and sometimes `g` (the group that a template names).
"""

import json
import lzma
import re
import unicodedata
from dataclasses import dataclass

import numpy as np

CATEGORIES = ["sexual", "hate", "violence", "self_harm", "harassment"]
# Labels that a person or one of our templates gave, not a list of words, have at least this weight.
TRUSTED = 0.3
# Sources of the corpus that are templates, ours or others'. Their dev rows have siblings in training.
TEMPLATES = ["synth", "synth_neg", "madlibs"]


def normalise(text):
    """What the models read: NFKC, no accents, lower case, links and names replaced, repetitions cut, single spaces."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text))
    kept = (c for c in text if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    text = "".join(kept).lower()
    text = re.sub(r"https?://\S+|www\.\S+", " url ", text)
    text = re.sub(r"@\w+", " @user ", text)
    text = re.sub(r"(.)\1{3,}", r"\1\1\1", text)
    return re.sub(r"\s+", " ", text).strip()[:2500]


@dataclass
class Corpus:
    texts: list
    sources: np.ndarray
    labels: np.ndarray  # rows × categories, NaN where unknown
    weights: np.ndarray  # rows × categories, 0 where unknown
    dev: np.ndarray
    groups: list  # the group that a row of our templates names, or an empty string

    def trusted(self, category):
        """Rows whose label of this category is good enough to measure with."""
        j = CATEGORIES.index(category)
        return ~np.isnan(self.labels[:, j]) & (self.weights[:, j] >= TRUSTED)

    def subset(self, mask):
        texts = [t for t, kept in zip(self.texts, mask) if kept]
        groups = [g for g, kept in zip(self.groups, mask) if kept]
        return Corpus(texts, self.sources[mask], self.labels[mask], self.weights[mask], self.dev[mask], groups)

    def plus(self, other):
        """These rows, and then the other's."""
        return Corpus(
            self.texts + other.texts,
            np.concatenate([self.sources, other.sources]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.dev, other.dev]),
            self.groups + other.groups,
        )


def load(*paths):
    rows = []
    for path in paths:
        with (lzma.open if str(path).endswith(".xz") else open)(path, "rt", encoding="utf-8") as file:
            rows += map(json.loads, file)
    labels = np.array([[np.nan if v is None else v for v in r["y"]] for r in rows], np.float32)
    weights = np.array([r["w"] for r in rows], np.float32)
    weights[np.isnan(labels)] = 0
    return Corpus(
        [r["t"] for r in rows],
        np.array([r["s"] for r in rows]),
        labels,
        weights,
        np.array([bool(r.get("dev")) for r in rows]),
        [r.get("g", "") for r in rows],
    )


def dev_rows(paths):
    """The rows that nothing is trained on, in the order of the files."""
    corpus = load(*paths)
    return corpus.subset(corpus.dev)


def save(path, rows):
    """Writes rows of (text, source, labels as a dict, weight, dev, group). The text is normalised here."""
    with open(path, "w", encoding="utf-8") as file:
        for text, source, labels, weight, dev, group in rows:
            y = [labels.get(c) for c in CATEGORIES]
            w = [0.0 if v is None else weight for v in y]
            row = dict(t=normalise(text), s=source, y=y, w=w, dev=dev)
            if group:
                row["g"] = group
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
