"""Trains the encoder. It saves a checkpoint every few minutes and continues from it when started again.

The learning rate rises, stays, and falls towards `--rows`. An exponential average of the weights is kept as well: the
export uses it, so that a run which is cut short still gives good weights.
"""

import argparse
import os
import time
from datetime import datetime
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

import encoder_model
from corpus import CATEGORIES, TRUSTED, load

# Pieces of a text that training sees, without the two markers. A longer text gives a random part.
LONGEST = 126
# Sources whose rows count less (many alike) or more. Benign short remarks are most of the corpus.
SHARE = dict(goemotions=0.5, synth=0.6, synth_neg=0.6, davidson=0.6, xstest=2.0)
LEET = dict(a="@4", e="3", i="1!", o="0", s="$5", t="7", u="v*")


def sampling(corpus):
    """How often each row is drawn: rare positives more often, plain negatives less. Dev rows never."""
    y, w = np.nan_to_num(corpus.labels), corpus.weights
    positive = (y > 0.5) & (w >= TRUSTED)
    s = np.full(len(y), 0.22)
    s[positive[:, CATEGORIES.index("hate")]] = 0.55
    s[positive[:, CATEGORIES.index("harassment")]] = 0.7
    hate = CATEGORIES.index("hate")
    s[(w[:, hate] >= 0.5) & (y[:, hate] < 0.5)] = 0.42
    for name in ("sexual", "violence", "self_harm"):
        s[positive[:, CATEGORIES.index(name)]] = 1.6
    for name, part in SHARE.items():
        s[corpus.sources == name] *= part
    s[np.char.startswith(corpus.sources.astype(str), "own_")] = 0.5
    s[corpus.dev] = 0
    return s / s.sum()


class Maker:
    """Makes training items from rows: parts of long texts, disguised words, and benign text before or after."""

    def __init__(self, corpus, pieces, tokenizer, seed, disguised=0.06, mixed=0.25):
        self.texts, self.pieces, self.tokenizer = corpus.texts, pieces, tokenizer
        self.y, self.w = np.nan_to_num(corpus.labels), corpus.weights
        self.random = np.random.default_rng(seed)
        self.disguised, self.mixed = disguised, mixed
        harmless = (self.y < 0.2).all(1) & (self.w >= TRUSTED).all(1) & ~corpus.dev
        self.benign = np.flatnonzero(harmless)

    def part(self, i, longest=LONGEST):
        a = self.pieces[i]
        if len(a) > longest:
            start = self.random.integers(0, len(a) - longest + 1) if self.random.random() < 0.5 else 0
            a = a[start : start + longest]
        return a

    def item(self, i):
        r, y, w = self.random, self.y[i], self.w[i]
        if len(self.pieces[i]) < 60 and r.random() < self.disguised:
            text = self.disguise(self.texts[i])
            a = np.array(self.tokenizer.encode(text, add_special_tokens=False).ids[:LONGEST], np.int32)
        else:
            a = self.part(i)
        if len(a) < 80 and r.random() < self.mixed:
            for _ in range(r.integers(1, 4)):
                b = self.part(r.choice(self.benign), 60)
                if len(a) + len(b) > LONGEST:
                    break
                a = np.concatenate([a, b] if r.random() < 0.5 else [b, a])
        return a, y, w

    def disguise(self, text):
        """Spoils about every fifth word the way people do: swaps, gaps, digits, spaces, stops, repetitions."""
        r, words = self.random, text.split(" ")
        for k in r.permutation(len(words))[: max(1, len(words) // 5)]:
            x = words[k]
            if len(x) < 4:
                continue
            j = int(r.integers(1, len(x) - 1))
            kind = r.integers(0, 6)
            if kind == 0:
                x = x[:j] + x[j + 1] + x[j] + x[j + 2 :]
            elif kind == 1:
                x = x[:j] + x[j + 1 :]
            elif kind == 2:
                x = "".join(r.choice(list(LEET[c])) if c in LEET and r.random() < 0.6 else c for c in x)
            elif kind == 3:
                x = " ".join(x)
            elif kind == 4:
                x = ".".join(x)
            else:
                x = x[:j] + x[j] * int(r.integers(2, 4)) + x[j:]
            words[k] = x
        return " ".join(words)


def rate(seen, rows, step):
    """Factor of the learning rate: 100 steps up, then even, and down over the last 40 % of the rows."""
    left = max(0.0, 1 - seen / rows)
    return min(1.0, (step + 1) / 100) * max(0.02, min(1.0, left / 0.4))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data", nargs="+", help="corpus files")
    p.add_argument("--base", required=True, help="folder with the base model's model.safetensors and tokenizer.json")
    p.add_argument("--init", help="an int8 file to continue from, instead of the base weights")
    p.add_argument("--checkpoint", required=True)
    p.add_argument("--rows", type=int, required=True, help="training ends after this many rows")
    p.add_argument("--rate", type=float, default=5e-5)
    p.add_argument("--budget", type=int, default=2600, help="padded pieces in one step")
    p.add_argument("--frozen", type=int, default=0, help="lower layers that do not learn, which saves time")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--save-every", type=float, default=300, help="seconds")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)

    corpus = load(*a.data)
    tokenizer = encoder_model.tokenizer(Path(a.base) / "tokenizer.json")
    pieces = []
    for i in range(0, len(corpus.texts), 5000):
        for e in tokenizer.encode_batch(corpus.texts[i : i + 5000], add_special_tokens=False):
            pieces.append(np.array(e.ids, np.int32))
    print(f"{len(pieces)} rows, {np.mean([len(x) for x in pieces]):.1f} pieces each", flush=True)

    m = encoder_model.from_ght(a.init)[0] if a.init else encoder_model.from_base(Path(a.base) / "model.safetensors")
    for part in (m.we, m.pe, *([m.n] if a.frozen else []), *m.l[: a.frozen]):
        part.requires_grad_(False)
    head = list(m.cls.parameters())
    body = [q for n, q in m.named_parameters() if q.requires_grad and not n.startswith("cls.")]
    rates = [a.rate, a.rate * 20 if not a.init else a.rate * 4]
    opt = torch.optim.AdamW([dict(params=body), dict(params=head)], lr=a.rate, weight_decay=0.01)
    average = {k: v.clone() for k, v in m.state_dict().items()}
    seen = step = 0
    if os.path.exists(a.checkpoint):
        c = torch.load(a.checkpoint, weights_only=True)
        m.load_state_dict(c["model"])
        opt.load_state_dict(c["optimizer"])
        average, seen, step = c["average"], c["seen"], c["step"]
        print(f"continues after {seen} rows", flush=True)

    def save():
        state = dict(model=m.state_dict(), average=average, optimizer=opt.state_dict(), seen=seen, step=step)
        torch.save(state, a.checkpoint + ".new")
        os.replace(a.checkpoint + ".new", a.checkpoint)

    maker = Maker(corpus, pieces, tokenizer, [a.seed, step])
    chances = sampling(corpus)
    m.train()
    losses, saved, mark, mark_seen = [], time.time(), time.time(), seen
    while seen < a.rows:
        chunk = [maker.item(int(i)) for i in maker.random.choice(len(chances), 1600, p=chances)]
        lengths = [len(x[0]) for x in chunk]
        groups = list(encoder_model.batches(lengths, np.argsort(lengths, kind="stable"), a.budget))
        for g in maker.random.permutation(len(groups)):
            rows = [chunk[i] for i in groups[g]]
            ids, mask = encoder_model.padded([x[0] for x in rows])
            y = torch.from_numpy(np.stack([x[1] for x in rows]))
            w = torch.from_numpy(np.stack([x[2] for x in rows]))
            for group, base in zip(opt.param_groups, rates):
                group["lr"] = base * rate(seen, a.rows, step)
            loss = binary_cross_entropy_with_logits(m(ids, mask), y, reduction="none")
            loss = (loss * w).sum() / (w.sum() + 1)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(body + head, 1.0)
            opt.step()
            opt.zero_grad(set_to_none=True)
            seen, step = seen + len(rows), step + 1
            # The average spans about 300 steps, and fewer at the start.
            part = max(1 / 300, 1 / (step + 1))
            with torch.no_grad():
                for name, value in m.named_parameters():
                    if value.requires_grad:
                        average[name].lerp_(value, part)
            losses.append(loss.item())
            if step % 50 == 0:
                now = time.time()
                speed = (seen - mark_seen) / (now - mark)
                print(f"{datetime.now():%H:%M:%S} step {step}, {seen} rows, loss {np.mean(losses[-50:]):.4f}, "
                      f"{speed:.0f} rows/s, rate {opt.param_groups[0]['lr']:.1e}", flush=True)
                mark, mark_seen = now, seen
            if time.time() - saved > a.save_every:
                save()
                saved = time.time()
    save()
    print(f"ends after {seen} rows, {step} steps", flush=True)


if __name__ == "__main__":
    main()
