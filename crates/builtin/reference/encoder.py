"""Computes what an encoder makes of our texts, with numpy and the tokenizers of Hugging Face.

    venv/bin/python encoder.py                  makes ../text/golden/encoder.ght, a very small encoder of random weights,
                                                and ../text/golden/encoder.json
    venv/bin/python encoder.py FILE OUTPUT      only the scores of another encoder

It shares no code with the crate, except the numbers in the file. A test compares the crate with what is written here.
"""

import json
import struct
import sys
from math import erf
from pathlib import Path

import numpy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from linear import fold
from texts import all_texts

HERE = Path(__file__).parent
LABELS = ["sexual", "hate", "violence", "self_harm", "harassment"]
WINDOW = 254


class File:
    def __init__(self, data):
        self.data, self.at = data, 0

    def array(self, kind, *shape):
        count = int(numpy.prod(shape))
        numbers = numpy.frombuffer(self.data, kind, count, self.at)
        self.at += numbers.nbytes
        return numbers.reshape(shape)

    def floats(self, *shape):
        return self.array("<f4", *shape).astype(float)

    def text(self):
        length = int(self.array("<u4", 1)[0])
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def dense(self, inputs, outputs):
        scales, biases = self.floats(outputs), self.floats(outputs)
        weights = self.array("i1", outputs, inputs) * scales[:, None]
        return lambda x: x @ weights.T + biases

    def norm(self, width):
        factors, summands = self.floats(width), self.floats(width)

        def norm(x):
            x = x - x.mean(-1, keepdims=True)
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * factors + summands

        return norm


def softmax(x):
    x = numpy.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


gelu = numpy.vectorize(lambda x: 0.5 * x * (1 + erf(x / 2**0.5)))


class Encoder:
    def __init__(self, data):
        file = File(data)
        assert data[:4] == b"GHT1"
        file.at = 4
        blocks, width, self.heads, wide, vocabulary, inner, places, labels = map(int, file.array("<u4", 8))
        self.labels = [file.text() for _ in range(labels)]
        pieces = {piece: number for number, piece in enumerate(file.text().split("\n"))}
        self.tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100))
        self.tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self.tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self.around = [pieces["[CLS]"], pieces["[SEP]"]]
        scales = file.floats(vocabulary)
        self.embeddings = file.array("i1", vocabulary, inner) * scales[:, None]
        self.widen = file.dense(inner, width) if inner != width else lambda x: x
        self.places = file.floats(places, width)
        self.norm = file.norm(width)
        self.blocks = [
            (file.dense(width, 3 * width), file.dense(width, width), file.norm(width))
            + (file.dense(width, wide), file.dense(wide, width), file.norm(width))
            for _ in range(blocks)
        ]
        self.head = file.dense(width, labels)
        self.calibration = file.floats(labels, 2)
        assert file.at == len(data)

    def logits(self, pieces):
        pieces = [self.around[0], *pieces, self.around[1]]
        x = self.norm(self.widen(self.embeddings[pieces]) + self.places[: len(pieces)])
        for attention, attended, first, up, down, second in self.blocks:
            # By head: rows, then the numbers of a head.
            q, k, v = attention(x).reshape(len(pieces), 3, self.heads, -1).transpose(1, 2, 0, 3)
            fits = softmax(q @ k.transpose(0, 2, 1) / q.shape[-1] ** 0.5)
            x = first(x + attended((fits @ v).transpose(1, 0, 2).reshape(len(pieces), -1)))
            x = second(x + down(gelu(up(x))))
        return self.head(x.mean(0)) * self.calibration[:, 0] + self.calibration[:, 1]

    def scores(self, text, windows):
        window = min(WINDOW, len(self.places) - 2)
        pieces = self.tokenizer.encode(fold(text), add_special_tokens=False).ids[: windows * window]
        starts = range(0, max(1, len(pieces)), window)
        highest = numpy.max([self.logits(pieces[start : start + window]) for start in starts], 0)
        return len(pieces), 1 / (1 + numpy.exp(-highest))


def small():
    """Random weights, of such sizes that the scores differ from text to text."""
    rng = numpy.random.default_rng(1)
    words = sorted({word for text in all_texts() for word in fold(text).split() if word.isascii() and word.isalpha()})
    words = [word for word in words if 2 < len(word) < 12][::2]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *"!?.,'\"-;:=@[]{}()", "你", "é", "т", *words]
    pieces += ["##" + letter for letter in letters] + ["##" + word[-3:] for word in words[::3]]
    pieces = list(dict.fromkeys(pieces))
    blocks, width, heads, wide, inner, places = 2, 32, 4, 48, 16, 24

    def floats(*shape, mean=0.0, spread=1.0):
        return rng.normal(mean, spread, shape).astype("<f4").tobytes()

    def weights(*shape):
        return rng.integers(-127, 128, shape, "i1").tobytes()

    def text(text):
        return struct.pack("<I", len(text.encode())) + text.encode()

    def scales(count, size):
        return rng.uniform(0.5, 1.5, count).astype("<f4").__mul__(numpy.float32(size / 73)).tobytes()

    def dense(inputs, outputs, size=1.0):
        return scales(outputs, size / inputs**0.5) + floats(outputs, spread=0.1) + weights(outputs, inputs)

    def norm():
        return floats(width, mean=1, spread=0.2) + floats(width, spread=0.2)

    data = b"GHT1" + struct.pack("<8I", blocks, width, heads, wide, len(pieces), inner, places, len(LABELS))
    data += b"".join(map(text, LABELS)) + text("\n".join(pieces))
    data += scales(len(pieces), 1) + weights(len(pieces), inner) + dense(inner, width) + floats(places, width, spread=0.3) + norm()
    for _ in range(blocks):
        data += dense(width, 3 * width, 1.5) + dense(width, width) + norm() + dense(width, wide) + dense(wide, width) + norm()
    return data + dense(width, len(LABELS), 4.0) + struct.pack("<10f", 1, 0, 0.5, 0.25, 2, -1, 1, 0.5, 1.5, 0)


def golden(data, texts, windows):
    model = Encoder(data)
    rows = []
    for text in texts:
        pieces, scores = model.scores(text, windows)
        rows.append(dict(text=text, windows=windows, pieces=pieces, scores=[round(float(score), 6) for score in scores]))
    return rows


def write(path, rows):
    lines = ",\n".join(json.dumps(row) for row in rows)
    Path(path).write_text(f"[\n{lines}\n]\n")
    print(len(rows), "texts")


def main():
    if len(sys.argv) > 1:
        write(sys.argv[2], golden(Path(sys.argv[1]).read_bytes(), all_texts(), 4))
        return
    data = small()
    (HERE / "../text/golden/encoder.ght").write_bytes(data)
    texts = all_texts()
    write(HERE / "../text/golden/encoder.json", golden(data, texts[:140], 3) + golden(data, texts[-13:], 1) + golden(data, texts[-13:], 8))


if __name__ == "__main__":
    main()
