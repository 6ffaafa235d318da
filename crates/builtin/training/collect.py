"""Makes the corpus of the public sources: labels, weights, and the dev rows. Writes JSON lines.

Rows that share eight consecutive words, or all words, with a held-out text are left out. So are repetitions.
"""

import argparse
import collections
import hashlib
import json
import re

import corpus
import sources
import weak_labels

DEV = 0.06


def words(text):
    return re.findall(r"\w+", text)


class HeldOut:
    """Texts that later measure the finished models, one a line. Nothing like them may be trained on."""

    def __init__(self, paths):
        self.whole, self.parts = set(), set()
        for path in paths:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    w = words(corpus.normalise(line))
                    self.whole.add(" ".join(w))
                    self.parts |= set(zip(*(w[i:] for i in range(8))))

    def has(self, text):
        w = words(text)
        return " ".join(w) in self.whole or any(p in self.parts for p in zip(*(w[i:] for i in range(8))))


def is_dev(text):
    """The same text is always on the same side, whatever else is collected."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") < DEV * 2**32


def row(source, text, weight, labels):
    y, w = [], []
    for category in corpus.CATEGORIES:
        if category in labels:
            y.append(labels[category])
            w.append(weight)
        else:
            label, factor = weak_labels.guess(category, text)
            y.append(label)
            w.append(weight * factor)
    return dict(t=text, s=source, y=y, w=w, dev=is_dev(text))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("mirrors", help="folder with a bare clone of each repository as OWNER+NAME")
    p.add_argument("output")
    p.add_argument("--held-out", nargs="*", default=[], help="files with held-out texts, one a line")
    a = p.parse_args()
    held_out, seen = HeldOut(a.held_out), set()
    counts, dropped = collections.Counter(), collections.Counter()
    with open(a.output, "w", encoding="utf-8") as file:
        for source, read in sorted(sources.READERS.items()):
            for text, weight, labels in read(sources.Mirror(a.mirrors, source)):
                text = corpus.normalise(str(text)[:4000])
                if len(text) < 3 or text in seen:
                    continue
                seen.add(text)
                if held_out.has(text):
                    dropped[source] += 1
                    continue
                counts[source] += 1
                file.write(json.dumps(row(source, text, weight, labels), ensure_ascii=False) + "\n")
    for source, n in counts.most_common():
        print(f"{source}: {n} rows, {dropped[source]} left out")


if __name__ == "__main__":
    main()
