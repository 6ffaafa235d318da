"""Compares the models on the dev rows: writes all figures as JSON and a short page as Markdown.

The scores come from `score.py`: lexicon.npy, linear-old.npy, linear-new.npy, encoder-old.npy and encoder-new.npy in
one folder. A file that is missing leaves its rows out.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from corpus import CATEGORIES, TEMPLATES, dev_rows

RESAMPLES = 500
THRESHOLDS = (0.5, 0.85)
# What stands beside the linear model in the product: the lexicon's scores count this much.
LEXICON = 0.6


def noisy_or(a, b):
    return 1 - (1 - a) * (1 - b)


def blends(s):
    """The systems to compare: the models alone, and with the lexicon."""
    out = dict(s)
    for age in ("old", "new"):
        linear, encoder = s.get(f"linear-{age}"), s.get(f"encoder-{age}")
        if linear is not None and "lexicon" in s:
            out[f"linear-{age} + lexicon"] = noisy_or(linear, LEXICON * s["lexicon"])
            if encoder is not None:
                mixed = 0.7 * encoder + 0.3 * linear
                out[f"encoder-{age} + linear-{age} + lexicon"] = noisy_or(mixed, LEXICON * s["lexicon"])
    if all(k in s for k in ("encoder-old", "linear-new", "lexicon")):
        mixed = 0.7 * s["encoder-old"] + 0.3 * s["linear-new"]
        out["encoder-old + linear-new + lexicon"] = noisy_or(mixed, LEXICON * s["lexicon"])
    return out


def tasks(corpus):
    """For each category and for `any`: the rows that can be measured, and their labels."""
    out = {}
    for j, c in enumerate(CATEGORIES):
        k = corpus.trusted(c)
        out[c] = k, corpus.labels[:, j] == 1
    trusted = np.stack([corpus.trusted(c) for c in CATEGORIES], 1)
    positive = ((corpus.labels == 1) & trusted).any(1)
    # Harmless as far as anybody knows: no label says otherwise, and a good label says so.
    harmless = (corpus.labels == 0).all(1) & trusted.any(1)
    out["any"] = positive | harmless, positive
    return out


class Precision:
    """Average precision of one system on one task, also of resampled rows (with counts of rows)."""

    def __init__(self, scores, labels):
        self.order = np.argsort(-scores, kind="stable")
        self.labels = labels[self.order].astype(float)

    def at(self, counts):
        w = counts[self.order]
        hits = w * self.labels
        true = np.cumsum(hits)
        precision = true / np.maximum(np.cumsum(w), 1e-9)
        return float((precision * hits).sum() / max(true[-1], 1e-9))


def interval(values):
    return [round(float(v), 4) for v in np.percentile(values, [2.5, 97.5])]


def calibration_error(p, y, bins=10):
    edges = np.minimum((p * bins).astype(int), bins - 1)
    return float(sum(abs((p[edges == b] - y[edges == b]).sum()) for b in range(bins)) / len(p))


def at_threshold(p, y, t):
    marked = p >= t
    true = int((marked & y).sum())
    return dict(
        precision=round(true / marked.sum(), 4) if marked.any() else None,
        recall=round(true / y.sum(), 4) if y.any() else None,
        marked=int(marked.sum()),
    )


def measure(corpus, systems, pairs, seed=0):
    """All figures on these rows, and the differences of pairs of systems on the same resamples."""
    out, differences = {}, {}
    for task, (rows, y) in tasks(corpus).items():
        y = y[rows]
        if y.sum() < 20:
            continue
        columns = {}
        for name, p in systems.items():
            columns[name] = (p.max(1) if task == "any" else p[:, CATEGORIES.index(task)])[rows]
        ranked = {name: Precision(p, y) for name, p in columns.items()}
        chance = np.random.default_rng(seed)
        counts = [np.bincount(chance.integers(0, len(y), len(y)), minlength=len(y)) for _ in range(RESAMPLES)]
        sampled = {name: [r.at(c) for c in counts] for name, r in ranked.items()}
        out[task] = dict(rows=int(rows.sum()), positives=int(y.sum()), systems={})
        for name, p in columns.items():
            figures = dict(auprc=round(ranked[name].at(np.ones(len(y))), 4), interval=interval(sampled[name]))
            figures["calibration_error"] = round(calibration_error(p, y), 4)
            for t in THRESHOLDS:
                figures[f"at {t}"] = at_threshold(p, y, t)
            out[task]["systems"][name] = figures
        for new, old in pairs:
            if new in sampled and old in sampled:
                d = np.array(sampled[new]) - np.array(sampled[old])
                key = f"{new} - {old}"
                differences.setdefault(key, {})[task] = dict(mean=round(float(d.mean()), 4), interval=interval(d))
    return dict(tasks=out, differences=differences)


def false_alarms(corpus, systems):
    """Of the harmless rows of dev2 that name a group: the share with `hate`, and with anything, over a threshold."""
    groups = np.array(corpus.groups)
    harmless = ~(corpus.labels == 1).any(1) & (groups != "")
    out = {}
    for name, p in systems.items():
        table = {}
        for g in [*sorted(set(groups[harmless]), key=str.lower), "all groups"]:
            k = harmless & ((groups == g) | (g == "all groups"))
            row = dict(rows=int(k.sum()))
            for t in THRESHOLDS:
                row[f"hate at {t}"] = round(float((p[k, 1] >= t).mean()), 4)
                row[f"any at {t}"] = round(float((p[k].max(1) >= t).mean()), 4)
            table[g] = row
        k = ~(corpus.labels == 1).any(1)
        table["all harmless rows"] = dict(rows=int(k.sum())) | {
            f"any at {t}": round(float((p[k].max(1) >= t).mean()), 4) for t in THRESHOLDS
        }
        for source in sorted(set(corpus.sources[k])):
            s = k & (corpus.sources == source)
            table[f"kind {source}"] = dict(rows=int(s.sum())) | {
                f"any at {t}": round(float((p[s].max(1) >= t).mean()), 4) for t in THRESHOLDS
            }
        out[name] = table
    return out


def markdown(figures):
    lines = ["# Figures of the text models", "",
             "Made by `evaluate.py`. AUPRC with a 95 % interval from "
             f"{RESAMPLES} resamples of the rows.", ""]
    names = [*["any"], *CATEGORIES]
    for part, title in PARTS.items():
        data = figures[part]["tasks"]
        present = [c for c in names if c in data]
        lines += [f"## {title}", "", "| system | " + " | ".join(present) + " |", "|---" * (len(present) + 1) + "|"]
        lines.append("| positives / rows | " + " | ".join(
            f"{data[c]['positives']} / {data[c]['rows']}" for c in present) + " |")
        for system in data[present[0]]["systems"]:
            cells = []
            for c in present:
                f = data[c]["systems"][system]
                cells.append(f"{f['auprc']:.3f} ({f['interval'][0]:.3f}–{f['interval'][1]:.3f})")
            lines.append(f"| {system} | " + " | ".join(cells) + " |")
        lines += ["", "Differences on the same resamples:", "",
                  "| | " + " | ".join(present) + " |", "|---" * (len(present) + 1) + "|"]
        for key, by in figures[part]["differences"].items():
            lines.append(f"| {key} | " + " | ".join(
                f"{by[c]['mean']:+.3f} ({by[c]['interval'][0]:+.3f} to {by[c]['interval'][1]:+.3f})"
                if c in by else "" for c in present) + " |")
        lines.append("")
        for t in THRESHOLDS:
            lines += [f"Precision / recall at {t}:", "",
                      "| system | " + " | ".join(present) + " |", "|---" * (len(present) + 1) + "|"]
            for system in data[present[0]]["systems"]:
                cells = []
                for c in present:
                    f = data[c]["systems"][system][f"at {t}"]
                    precision = "–" if f["precision"] is None else f"{f['precision']:.2f}"
                    cells.append(f"{precision} / {f['recall']:.2f}")
                lines.append(f"| {system} | " + " | ".join(cells) + " |")
            lines.append("")
        lines += ["Calibration error (ten bins, mean distance weighted by rows):", "",
                  "| system | " + " | ".join(present) + " |", "|---" * (len(present) + 1) + "|"]
        for system in data[present[0]]["systems"]:
            cells = [f"{data[c]['systems'][system]['calibration_error']:.3f}" for c in present]
            lines.append(f"| {system} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += ["## False alarms on harmless texts that name a group (dev2)", "",
              "Share of texts whose `hate` reaches 0.5 / 0.85.", ""]
    systems = list(figures["false_alarms"])
    lines += ["| group | rows | " + " | ".join(systems) + " |", "|---" * (len(systems) + 2) + "|"]
    first = figures["false_alarms"][systems[0]]
    for g in first:
        key = "any" if g.startswith(("kind", "all harmless")) else "hate"
        cells = []
        for s in systems:
            row = figures["false_alarms"][s][g]
            cells.append(f"{100 * row[f'{key} at 0.5']:.0f} % / {100 * row[f'{key} at 0.85']:.0f} %")
        lines.append(f"| {g}{' (any category)' if key == 'any' else ''} | {first[g]['rows']} | "
                     + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


PARTS = dict(
    frozen="Frozen dev rows",
    people="Frozen dev rows without templates",
    dev2="dev2: our own templates, others than in training",
)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("scores", help="folder with the .npy files")
    p.add_argument("json")
    p.add_argument("markdown")
    p.add_argument("data", nargs="+", help="the same files, in the same order, as for score.py")
    a = p.parse_args()
    corpus = dev_rows(a.data)
    order = ["lexicon", "linear-old", "linear-new", "encoder-old", "encoder-new"]
    found = {n: np.load(Path(a.scores) / f"{n}.npy") for n in order if (Path(a.scores) / f"{n}.npy").exists()}
    systems = blends(found)
    pairs = [("linear-new", "linear-old"), ("encoder-new", "encoder-old"), ("encoder-new", "linear-new"),
             ("linear-new + lexicon", "linear-old + lexicon"),
             ("encoder-new + linear-new + lexicon", "encoder-old + linear-old + lexicon"),
             ("encoder-new + linear-new + lexicon", "encoder-old + linear-new + lexicon")]
    second = np.char.startswith(corpus.sources.astype(str), "dev2_")
    people = ~second & ~np.isin(corpus.sources, TEMPLATES)
    figures = {}
    for part, rows in dict(frozen=~second, people=people, dev2=second).items():
        figures[part] = measure(corpus.subset(rows), {n: s[rows] for n, s in systems.items()}, pairs)
    figures["false_alarms"] = false_alarms(corpus.subset(second), {n: s[second] for n, s in systems.items()})
    Path(a.json).write_text(json.dumps(figures, indent=1) + "\n")
    Path(a.markdown).write_text(markdown(figures))


if __name__ == "__main__":
    main()
