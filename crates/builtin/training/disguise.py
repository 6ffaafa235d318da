"""How much of the recall survives disguised words. `gatehouse-bench quality` scores the texts, as the service does.

    disguise.py make   ROWS.jsonl DATA...      (dev rows, disguised in each way; the way stands where the language would)
    gatehouse-bench quality --file ROWS.jsonl --json >REPORT.json
    disguise.py table  NAME=REPORT.json...     (a column for each report, in Markdown)
"""

import argparse
import json
import random

import numpy as np

import weak_labels
from corpus import CATEGORIES, dev_rows

# The names of the categories in the product.
NAMES = ["adult", "hate", "violence", "self_harm", "harassment"]
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


def tag(technique):
    return "x-" + technique.replace(" ", "-")


def row(text, labels, technique):
    return json.dumps(dict(text=text, labels=labels, language=tag(technique)), ensure_ascii=False) + "\n"


def make(output, data):
    harmful, positive, harmless = sample(data)
    with open(output, "w", encoding="utf-8") as file:
        for technique, change in TECHNIQUES.items():
            for text, own in zip(harmful, positive):
                # A harmful row is found if one of its own categories is.
                labels = {name: True for name, is_own in zip(NAMES, own) if is_own}
                file.write(row(disguise(text, change), labels, technique))
        for text in harmless:
            file.write(row(text, dict.fromkeys(NAMES, False), "harmless"))


def table(reports):
    """For each technique: the share of rows at or over 0.5, and of those without a score, which people look at."""
    columns = {}
    for report in reports:
        name, file = report.split("=", 1)
        columns[name] = {}
        for group in json.load(open(file, encoding="utf-8"))["by_language"]:
            figures = next(f for f in group["figures"] if f["category"] == "any")
            marked = next(t for t in figures["thresholds"] if t["threshold"] == 0.5)["precision"]["of"]
            columns[name][group["language"]] = marked / group["rows"], figures["not_scored"]["rows"] / group["rows"]
    print("| disguise | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for technique in [*TECHNIQUES, "harmless"]:
        cells = [column[tag(technique)] for column in columns.values()]
        print(f"| {technique} | " + " | ".join(f"{100 * f:.0f} %, {100 * n:.0f} % unread" for f, n in cells) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = p.add_subparsers(dest="step", required=True)
    step = steps.add_parser("make")
    step.add_argument("output")
    step.add_argument("data", nargs="+")
    steps.add_parser("table").add_argument("reports", nargs="+")
    a = p.parse_args()
    if a.step == "make":
        make(a.output, a.data)
    else:
        table(a.reports)


if __name__ == "__main__":
    main()
