"""Shows what the numbers in `crates/builtin/src/lib.rs` do on the dev rows, in Markdown: the shares of the lexicon and of the
encoder, and the bounds between which the encoder is asked.

The scores are those for `evaluate.py`: lexicon.npy, linear-new.npy and encoder-new.npy in one folder.
"""

import argparse
from pathlib import Path

import numpy as np

from corpus import CATEGORIES, TEMPLATES, dev_rows
from evaluate import Precision, calibration_error, noisy_or, tasks

TASKS = ["any", *CATEGORIES]


def figures(corpus, scores):
    """AUPRC and calibration error of each task."""
    out = []
    for task, (rows, labels) in tasks(corpus).items():
        p = (scores.max(1) if task == "any" else scores[:, CATEGORIES.index(task)])[rows]
        y = labels[rows]
        out.append((task, Precision(p, y).at(np.ones(len(y))), calibration_error(p, y)))
    return {task: (precision, error) for task, precision, error in out}


def table(title, corpus, systems):
    print(f"\n{title}\n\n| | " + " | ".join(TASKS) + " |\n" + "|---" * (len(TASKS) + 1) + "|")
    for name, scores in systems:
        found = figures(corpus, scores)
        print(f"| {name} | " + " | ".join(f"{found[t][0]:.3f} ({found[t][1]:.3f})" for t in TASKS) + " |")


def mixed(s, encoder=0.7):
    return encoder * s["encoder"] + (1 - encoder) * s["linear"]


def cascade(s, low, high):
    """The encoder where the linear model is not sure, and the share of rows where that is so."""
    highest = s["linear"].max(1)
    asked = (highest >= low) & (highest < high)
    return np.where(asked[:, None], mixed(s), s["linear"]), asked.mean()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("scores", help="folder with the .npy files")
    p.add_argument("data", nargs="+", help="the same files, in the same order, as for score.py")
    a = p.parse_args()
    corpus = dev_rows(a.data)
    files = dict(lexicon="lexicon", linear="linear-new", encoder="encoder-new")
    s = {k: np.load(Path(a.scores) / f"{f}.npy") for k, f in files.items() if (Path(a.scores) / f"{f}.npy").exists()}
    second = np.char.startswith(corpus.sources.astype(str), "dev2_")
    people = ~second & ~np.isin(corpus.sources, TEMPLATES)
    for title, rows in (("Frozen dev rows without templates", people), ("dev2", second)):
        part, own = corpus.subset(rows), {k: v[rows] for k, v in s.items()}
        shares = (0, 0.2, 0.4, 0.6, 0.8, 1)
        table(f"### {title}: share of the lexicon beside the linear model", part,
              [(f"{x}", noisy_or(own["linear"], x * own["lexicon"])) for x in shares])
        if "encoder" not in own:
            continue
        table(f"### {title}: share of the encoder beside the linear model, with 0.6 of the lexicon", part,
              [(f"{x}", noisy_or(mixed(own, x), 0.6 * own["lexicon"])) for x in (0, 0.3, 0.5, 0.7, 0.85, 1)])
        bounds = [(0, 1.01), (0.05, 0.95), (0.1, 0.95), (0.1, 0.9), (0.2, 0.95), (0.3, 0.9)]
        asked = [(f"{low} to {min(high, 1)}", *cascade(own, low, high)) for low, high in bounds]
        table(f"### {title}: where the encoder is asked, with 0.6 of the lexicon", part,
              [(f"{name}: {100 * share:.0f} % of the rows", noisy_or(z, 0.6 * own["lexicon"])) for name, z, share in asked])


if __name__ == "__main__":
    main()
