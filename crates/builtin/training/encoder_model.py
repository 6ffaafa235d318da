"""The encoder: MiniLM-L6 with mean pooling and one output for each category.

Reads the base weights (safetensors) and Gatehouse's int8 file (`.ght`), and writes the latter. The layout of the file
is described in README.md.
"""

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from corpus import CATEGORIES

CLS, SEP = 101, 102
# Gatehouse's names of the categories, in the order of CATEGORIES.
FILE_LABELS = ["adult", "hate", "violence", "self_harm", "harassment"]
# Positions that the file keeps. A window has at most 254 pieces and two markers.
PLACES = 256
DIMENSIONS = dict(layers=6, width=384, heads=12, inner=1536, vocabulary=30522)


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)
        self.n1 = nn.LayerNorm(width, eps=1e-12)
        self.f1 = nn.Linear(width, inner)
        self.f2 = nn.Linear(inner, width)
        self.n2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask, dropout):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        dropped = dropout if self.training else 0.0
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropped)
        a = a.transpose(1, 2).reshape(batch, length, width)
        x = self.n1(x + F.dropout(self.o(a), dropout, self.training))
        return self.n2(x + F.dropout(self.f2(F.gelu(self.f1(x))), dropout, self.training))


class Encoder(nn.Module):
    def __init__(self, layers=6, width=384, heads=12, inner=1536, vocabulary=30522, dropout=0.1):
        super().__init__()
        self.we = nn.Embedding(vocabulary, width)
        self.pe = nn.Embedding(512, width)
        self.n = nn.LayerNorm(width, eps=1e-12)
        self.l = nn.ModuleList([Layer(width, heads, inner) for _ in range(layers)])
        self.cls = nn.Linear(width, len(CATEGORIES))
        self.dropout = dropout

    def forward(self, ids, mask):
        """Logits, one row for each text. `ids` are piece numbers with padding, `mask` is true where a piece is."""
        x = self.n(self.we(ids) + self.pe.weight[: ids.shape[1]])
        x = F.dropout(x, self.dropout, self.training)
        away = torch.zeros(ids.shape, dtype=x.dtype).masked_fill(~mask, -1e4)[:, None, None, :]
        for layer in self.l:
            x = layer(x, away, self.dropout)
        share = mask[:, :, None].to(x.dtype)
        return self.cls((x * share).sum(1) / share.sum(1))


def from_base(path):
    """The base model's weights (all-MiniLM-L6-v2 as safetensors), with a new head."""
    from safetensors.torch import load_file

    t = {k.removeprefix("bert."): v.float() for k, v in load_file(path).items()}
    m = Encoder()
    m.we.weight.data = t["embeddings.word_embeddings.weight"].clone()
    # There is one kind of token, so its embedding is added to the positions.
    kind = t["embeddings.token_type_embeddings.weight"][0]
    m.pe.weight.data = t["embeddings.position_embeddings.weight"] + kind
    copy(m.n, t, "embeddings.LayerNorm")
    for i, layer in enumerate(m.l):
        p = f"encoder.layer.{i}."
        parts = [p + "attention.self." + x for x in ("query", "key", "value")]
        layer.qkv.weight.data = torch.cat([t[x + ".weight"] for x in parts])
        layer.qkv.bias.data = torch.cat([t[x + ".bias"] for x in parts])
        copy(layer.o, t, p + "attention.output.dense")
        copy(layer.n1, t, p + "attention.output.LayerNorm")
        copy(layer.f1, t, p + "intermediate.dense")
        copy(layer.f2, t, p + "output.dense")
        copy(layer.n2, t, p + "output.LayerNorm")
    nn.init.normal_(m.cls.weight, std=0.02)
    # Near the share of positives in the sampled rows, so that the first steps do not only learn it.
    m.cls.bias.data = torch.tensor([-2.5, -0.8, -2.5, -2.5, -1.5])
    return m


def copy(module, tensors, name):
    module.weight.data = tensors[name + ".weight"].clone()
    module.bias.data = tensors[name + ".bias"].clone()


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("the file ends too early")
        self.at += n
        return self.data[self.at - n : self.at]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def text(self):
        return self.take(self.u32()).decode()

    def f32(self, *shape):
        return np.frombuffer(self.take(4 * int(np.prod(shape))), "<f4").reshape(shape)

    def rows(self, n, k, bias=True):
        """A matrix of n rows, each with its own scale, and its bias."""
        scale = self.f32(n)
        b = self.f32(n) if bias else None
        q = np.frombuffer(self.take(n * k), np.int8).reshape(n, k).astype(np.float32)
        return torch.tensor(q * scale[:, None]), None if b is None else torch.tensor(b)


def from_ght(path):
    """The model in an int8 file, and its calibration as pairs (a, b)."""
    r = Reader(Path(path).read_bytes())
    if r.take(4) != b"GHT1":
        raise ValueError(f"{path} is not a GHT1 file")
    layers, width, heads, inner, vocabulary, narrow, places, labels = (r.u32() for _ in range(8))
    names = [r.text() for _ in range(labels)]
    r.text()
    if names != FILE_LABELS or narrow != width:
        raise ValueError(f"{path} has the labels {names} and {narrow} of {width} dimensions")
    m = Encoder(layers, width, heads, inner, vocabulary)

    def linear(module, n, k):
        module.weight.data, module.bias.data = r.rows(n, k)

    def norm(module):
        module.weight.data, module.bias.data = torch.tensor(r.f32(width)), torch.tensor(r.f32(width))

    m.we.weight.data, _ = r.rows(vocabulary, width, bias=False)
    m.pe.weight.data[:places] = torch.tensor(r.f32(places, width))
    m.pe.weight.data[places:] = 0
    norm(m.n)
    for layer in m.l:
        linear(layer.qkv, 3 * width, width)
        linear(layer.o, width, width)
        norm(layer.n1)
        linear(layer.f1, inner, width)
        linear(layer.f2, width, inner)
        norm(layer.n2)
    linear(m.cls, labels, width)
    return m, r.f32(labels, 2).tolist()


def quantise(a):
    """Rows as int8 with a scale each. Of a few clippings, the one with the smallest square error is taken."""
    top = np.abs(a).max(1) + 1e-12
    scale, error = top / 127, np.full(len(a), np.inf)
    for part in (1.0, 0.96, 0.92, 0.88, 0.82, 0.75):
        s = top * part / 127
        e = ((np.clip(np.round(a / s[:, None]), -127, 127) * s[:, None] - a) ** 2).sum(1)
        better = e < error
        error[better], scale[better] = e[better], s[better]
    return scale.astype("<f4"), np.clip(np.round(a / scale[:, None]), -127, 127).astype(np.int8)


def to_ght(model, words, calibration):
    """The bytes of the int8 file. `words` are the tokenizer's pieces in order."""
    m = {k: v.detach().float().numpy() for k, v in model.state_dict().items()}
    layers, (vocabulary, width) = len(model.l), m["we.weight"].shape
    inner = m["l.0.f1.bias"].shape[0]
    if len(words) != vocabulary:
        raise ValueError(f"{len(words)} pieces for {vocabulary} embeddings")

    def text(t):
        return struct.pack("<I", len(t.encode())) + t.encode()

    def f32(a):
        return a.astype("<f4").tobytes()

    def linear(name):
        scale, q = quantise(m[name + ".weight"])
        return scale.tobytes() + f32(m[name + ".bias"]) + q.tobytes()

    def norm(name):
        return f32(m[name + ".weight"]) + f32(m[name + ".bias"])

    heads = model.l[0].heads
    out = [b"GHT1", struct.pack("<8I", layers, width, heads, inner, vocabulary, width, PLACES, len(FILE_LABELS))]
    out += [text(label) for label in FILE_LABELS] + [text("\n".join(words))]
    scale, q = quantise(m["we.weight"])
    out += [scale.tobytes(), q.tobytes(), f32(m["pe.weight"][:PLACES]), norm("n")]
    for i in range(layers):
        p = f"l.{i}."
        out += [linear(p + "qkv"), linear(p + "o"), norm(p + "n1")]
        out += [linear(p + "f1"), linear(p + "f2"), norm(p + "n2")]
    out += [linear("cls"), f32(np.array(calibration))]
    return b"".join(out)


def tokenizer(path):
    """The base model's tokenizer, without padding and truncation."""
    from tokenizers import Tokenizer

    t = Tokenizer.from_file(str(path))
    t.no_padding()
    t.no_truncation()
    return t


def pieces_in_order(path):
    vocabulary = json.loads(Path(path).read_text())["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.get)


def batches(lengths, order, budget):
    """Groups of `order` (sorted by length) whose padded size stays within `budget` pieces."""
    group, longest = [], 0
    for i in order:
        size = lengths[i] + 2
        if group and (len(group) + 1) * max(longest, size) > budget:
            yield group
            group, longest = [], 0
        group.append(i)
        longest = max(longest, size)
    if group:
        yield group


def padded(rows):
    """Piece numbers with markers and padding, and the mask."""
    ids = np.zeros((len(rows), max(map(len, rows)) + 2), np.int64)
    for i, row in enumerate(rows):
        ids[i, 0], ids[i, 1 : 1 + len(row)], ids[i, 1 + len(row)] = CLS, row, SEP
    ids = torch.from_numpy(ids)
    return ids, ids > 0
