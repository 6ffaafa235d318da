"""How much of the recall survives disguised words, and how much of it readings with undone disguises bring back.

    disguise.py make     LINES.txt DATA...                       (texts to read, one a line)
    disguise.py measure  LINES.txt READINGS.tsv LEXICON.tsv MODEL.clf OUTPUT.json DATA...

READINGS.tsv has, for each line, the readings of Gatehouse's `domain::text` with tabs between them: first the folded one,
then the loose ones, if there are any. With `-`, `folded` and `loose` below stand in for them. They do less.
LEXICON.tsv has the lexicon's scores of each line in the order of CATEGORIES. With `-`, it is left out.
"""

import argparse
import json
import random
import re

import numpy as np

import linear_model
import weak_labels
from corpus import CATEGORIES, dev_rows, normalise

SAMPLE, HARMLESS, SEED = 400, 400, 11
CYRILLIC = str.maketrans("aceopxyiktmhs", "асеорхуіктмһѕ")
LEET = str.maketrans("oieast", "013457")
ACCENTS = str.maketrans("aeiounsc", "àéîôüñšç")


def alternate(word, change, start=0):
    return "".join(change(c) if (i + start) % 2 == 0 else c for i, c in enumerate(word))


TECHNIQUES = {
    "none": lambda w: w,
    "spelled with spaces": " ".join,
    "spelled with stops": ".".join,
    "spelled with dashes": "-".join,
    "some digits": lambda w: alternate(w, lambda c: c.translate(LEET), 1),
    "every possible digit": lambda w: w.translate(LEET),
    "signs": lambda w: w.replace("a", "@").replace("s", "$").replace("i", "!"),
    "look-alikes": lambda w: w.translate(CYRILLIC),
    "fullwidth": lambda w: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in w),
    "invisible characters": "\u200b".join,
    "accents": lambda w: w.translate(ACCENTS),
    "stretched letters": lambda w: w[:1] + w[1:2] * 4 + w[2:],
    "a letter left out": lambda w: w[: len(w) // 2] + w[len(w) // 2 + 1 :],
    "letters swapped": lambda w: w[:1] + w[2:3] + w[1:2] + w[3:],
    "a letter hidden": lambda w: w[:1] + "*" + w[2:],
}


def targets(text):
    """The words that a person would disguise: listed ones, or else the two longest."""
    found = {w for p in weak_labels.WORDS.values() for m in p.finditer(text) for w in m[0].split()}
    words = {w.strip(".,!?\"'") for w in text.split()}
    listed = {w for w in words if w in found and len(w) >= 3}
    return listed or set(sorted((w for w in words if w.isalpha()), key=len)[-2:])


def disguise(text, change):
    hit = targets(text)
    out = []
    for word in text.split():
        bare = word.strip(".,!?\"'")
        out.append(word.replace(bare, change(bare)) if bare in hit and bare else word)
    return " ".join(out)


def folded(text):
    """Look-alikes as Latin letters. `normalise` undoes the other forms that do not change a word."""
    return normalise(text).translate({v: k for k, v in CYRILLIC.items()})


def loose(text):
    """Digits and signs inside words as letters, spelled words joined, stretched letters once."""
    text = re.sub(r"\b(\w)(?:([ .\-])(?=\w\b)(\w)\b)(?:\2(\w)\b)+", lambda m: re.sub(r"[ .\-]", "", m[0]), text)
    signs = str.maketrans("013457@$!", "oieastasi")

    def letters(word):
        # A sign at the end of a word is usually only a sign.
        if word == "@user" or not re.search(r"[a-z]", word):
            return word
        return re.sub(r"[013457@$!](?=\w)|(?<=[\w@$])[013457@$](?!\w)", lambda m: m[0].translate(signs), word)

    words = map(letters, text.split(" "))
    return re.sub(r"([a-z])\1{2,}", r"\1", " ".join(words))


def sample(paths):
    """Harmful rows with a good label, and harmless ones."""
    corpus = dev_rows(paths)
    trusted = np.stack([corpus.trusted(c) for c in CATEGORIES], 1)
    harmful = np.flatnonzero(((corpus.labels == 1) & trusted).any(1))
    harmless = np.flatnonzero((corpus.labels == 0).all(1) & trusted.any(1))
    chance = random.Random(SEED)
    some = sorted(chance.sample(harmful.tolist(), SAMPLE))
    others = sorted(chance.sample(harmless.tolist(), HARMLESS))
    positive = (corpus.labels == 1) & trusted
    return [corpus.texts[i] for i in some], positive[some], [corpus.texts[i] for i in others]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["make", "measure"])
    p.add_argument("lines")
    p.add_argument("rest", nargs="+")
    a = p.parse_args()
    if a.step == "make":
        harmful, _, harmless = sample(a.rest)
        with open(a.lines, "w", encoding="utf-8") as file:
            for change in TECHNIQUES.values():
                file.writelines(disguise(t, change) + "\n" for t in harmful)
            file.writelines(t + "\n" for t in harmless)
        return
    readings, lexicon, model, output, *data = a.rest
    harmful, positive, harmless = sample(data)
    lines = open(a.lines, encoding="utf-8").read().split("\n")[:-1]
    if readings == "-":
        read = [[f] if loose(f) == f else [f, loose(f)] for f in map(folded, lines)]
    else:
        read = [line.split("\t") for line in open(readings, encoding="utf-8").read().split("\n")[:-1]]
    linear = linear_model.read(model)

    def scores(texts):
        return linear.scores(linear_model.Windows([normalise(t) for t in texts]))

    plain = scores(lines)
    once = np.maximum(plain, scores([r[0] for r in read]))
    owners = [i for i, r in enumerate(read) for _ in r[1:]]
    twice = once.copy()
    if owners:
        np.maximum.at(twice, owners, scores([t for r in read for t in r[1:]]))
    systems = {"as submitted": plain, "folded": once, "folded and loose": twice}
    if lexicon != "-":
        words = np.loadtxt(lexicon, delimiter="\t", ndmin=2)
        systems |= {f"{k}, with the lexicon": 1 - (1 - v) * (1 - 0.6 * words) for k, v in systems.items()}
    out = {}
    for k, name in enumerate([*TECHNIQUES, "harmless"]):
        rows = slice(k * SAMPLE, k * SAMPLE + (HARMLESS if name == "harmless" else SAMPLE))
        out[name] = {}
        for system, values in systems.items():
            v = values[rows]
            # A harmful row is found if one of its own categories is.
            hit = v.max(1) if name == "harmless" else np.where(positive, v, 0).max(1)
            out[name][system] = round(float((hit >= 0.5).mean()), 4)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
    print("| technique | " + " | ".join(systems) + " |")
    print("|---" * (len(systems) + 1) + "|")
    for name, row in out.items():
        print(f"| {name} | " + " | ".join(f"{100 * v:.0f} %" for v in row.values()) + " |")


if __name__ == "__main__":
    main()
