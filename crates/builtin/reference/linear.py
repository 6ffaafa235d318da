"""Writes ../text/golden/linear.json: texts, and what ../text/linear.clf makes of them, by scikit-learn.

    python -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python linear.py

It shares no code with the crate, except the numbers in the file. A test compares the crate with what is written here.
"""

import json
import re
import struct
import unicodedata
from pathlib import Path

import numpy
from sklearn.feature_extraction.text import HashingVectorizer

from texts import all_texts

HERE = Path(__file__).parent
CATEGORIES = 5
STRETCH, STEP = 40, 20


def fold(text):
    """The form of the training texts."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text))
    text = "".join(c for c in text if not unicodedata.combining(c) and unicodedata.category(c) != "Cf").lower()
    text = re.sub(r"https?://\S+|www\.\S+", " url ", text)
    text = re.sub(r"@\w+", " @user ", text)
    text = re.sub(r"(.)\1{3,}", r"\1\1\1", text)
    return re.sub(r"\s+", " ", text).strip()


def tokens(text):
    return re.findall(r"[a-z0-9']+|[^\sa-z0-9']", text)


class Linear:
    def __init__(self, data):
        assert data[:4] == b"CLF1"
        power, categories = struct.unpack_from("<II", data, 4)
        assert categories == CATEGORIES
        numbers = numpy.frombuffer(data, "<f4", 2 * CATEGORIES, 12).astype(float)
        self.scales, self.biases = numbers[:CATEGORIES], numbers[CATEGORIES:]
        start, count = 12 + 8 * CATEGORIES, 2 * CATEGORIES << power
        weights = numpy.frombuffer(data, "i1", count, start).astype(float).reshape(-1, CATEGORIES)
        self.weights = numpy.sign(weights) * (weights / 127) ** 2
        self.calibration = numpy.array([[1.0, 0.0]] * CATEGORIES)
        rest = data[start + count :]
        if rest[:4] == b"PLT1":
            self.calibration = numpy.frombuffer(rest, "<f4", 2 * CATEGORIES, 4).astype(float).reshape(-1, 2)
        common = dict(n_features=2**power, alternate_sign=False, norm="l2", lowercase=False, binary=True)
        self.words = HashingVectorizer(analyzer="word", tokenizer=tokens, token_pattern=None, ngram_range=(1, 2), **common)
        self.parts = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **common)
        self.half = 1 << power

    def logits(self, texts):
        sums = self.words.transform(texts) @ self.weights[: self.half] + self.parts.transform(texts) @ self.weights[self.half :]
        return sums * self.scales + self.biases

    def scores(self, text):
        text = fold(text)
        words = text.split()
        stretches = range(0, max(1, len(words) - STEP), STEP) if len(words) > STRETCH else []
        logits = self.logits([text] + [" ".join(words[i : i + STRETCH]) for i in stretches])
        mean = (logits[0] + logits.max(0)) / 2
        return 1 / (1 + numpy.exp(-(mean * self.calibration[:, 0] + self.calibration[:, 1])))


def main():
    model = Linear((HERE / "../text/linear.clf").read_bytes())
    rows = [dict(text=text, scores=[round(float(p), 7) for p in model.scores(text)]) for text in all_texts()]
    lines = ",\n".join(json.dumps(row) for row in rows)
    (HERE / "../text/golden/linear.json").write_text(f"[\n{lines}\n]\n")
    print(len(rows), "texts")


if __name__ == "__main__":
    main()
