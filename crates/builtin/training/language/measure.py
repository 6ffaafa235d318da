"""Measures the detector on texts that it was not trained with, and prints the tables of
docs/languages.md.

    python measure.py --lingua DIR --common-voice DIR --english FILE --weights weights.bin

This is `crates/builtin/src/lexicon/language.rs` for Latin letters in Python. Other scripts need no weights.
"""

import argparse
import functools
import json
import math
import os
import random
import struct

import numpy as np

import train

RUN, NAME, ENOUGH = 7.0, 5.0, {0: 7.0, 1: 7.0, 2: 1.8, 3: 0.4}
ENGLISH = 20_000


def detector(path):
    data = open(path, "rb").read()
    (scale,) = struct.unpack("<f", data[:4])
    weights = np.frombuffer(data[4:], np.int8).astype(np.int64)

    @functools.lru_cache(None)
    def evidence(word):
        said = float(weights[train.buckets(word)].sum()) * scale
        return train.CLAMP * said / (train.CLAMP + abs(said))

    def is_readable(text):
        run = total = 0.0
        said = train.words(text)
        for word in said:
            total += evidence(word)
            run = max(0.0, run + evidence(word))
            if run >= RUN:
                return False
        if len(said) in (2, 3) and text.istitle():
            return total < NAME
        return total < ENOUGH.get(len(said), 0.0)

    return is_readable


def interval(hits, count):
    """A share with its 95 % interval by Wilson, in percent."""
    share, z = hits / count, 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return f"{100 * share:.1f} ({100 * max(0, middle - half):.1f}-{100 * min(1, middle + half):.1f})"


def unseen(args):
    """The half of lingua's sentences that `train.foreign` leaves out, by language."""
    draw = random.Random(train.SEED)
    for root, depth in ((args.common_voice, 0), (args.lingua, 1)):
        for language in sorted(os.listdir(root)):
            found = train.sentences(root, language, depth)
            if found is None:
                continue
            draw.shuffle(found)
            if depth:
                yield language, found[len(found) // 2:]


def main():
    parse = argparse.ArgumentParser()
    for name in ("common-voice", "lingua", "english", "weights"):
        parse.add_argument(f"--{name}", required=True)
    args = parse.parse_args()
    is_readable = detector(args.weights)

    print("| language | sentences | not recognised, % | pairs of words | not recognised, % |\n|---|---|---|---|---|")
    for language, sentences in unseen(args):
        # Another script, or a letter that only the detector reads.
        if language == "az" or sum(len(train.words(text)) for text in sentences) < 3 * len(sentences):
            continue
        # The files begin with empty and damaged lines now and then.
        sentences = [text for text in sentences if len(train.words(text)) >= 3]
        pairs = list(train.lines(os.path.join(args.lingua, language, "testdata", "word-pairs.txt")))
        missed = [sum(map(is_readable, texts)) for texts in (sentences, pairs)]
        print(f"| {language} | {len(sentences)} | {interval(missed[0], len(sentences))} "
              f"| {len(pairs)} | {interval(missed[1], len(pairs))} |")

    texts = [json.loads(line)["t"] for line in train.lines(args.english)]
    texts = [text for text in texts if not train.for_training(text)]
    texts = random.Random(train.SEED).sample(texts, ENGLISH)
    print("\n| English texts of | count | not readable, % |\n|---|---|---|")
    for low, high in ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 199), (200, 10**9), (1, 10**9)):
        some = [text for text in texts if low <= len(train.words(text)) <= high]
        unread = sum(not is_readable(text) for text in some)
        print(f"| {low} to {high} words | {len(some)} | {interval(unread, len(some))} |")


if __name__ == "__main__":
    main()
