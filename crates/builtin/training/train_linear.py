"""Trains the linear model. The settings are chosen by the average precision on the dev rows, and nothing else."""

import argparse
import time

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import average_precision_score

import linear_model
from corpus import CATEGORIES, TEMPLATES, TRUSTED, load

# Harmful rows that are enough to compare settings.
ENOUGH = 50


def fit(features, y, w, alpha, rounds, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    m = SGDClassifier(loss="log_loss", alpha=alpha, max_iter=rounds, tol=None, average=True, random_state=seed)
    m.fit(features[order], y[order], sample_weight=w[order])
    q, scale = linear_model.quantise(m.coef_[0].astype(np.float32))
    return linear_model.restore(q, scale), float(m.intercept_[0])


def quality(corpus, category, logits):
    """Average precision on the frozen dev rows that people wrote, on dev2, and the mean of both.

    If people wrote too few harmful rows, all frozen dev rows count.
    """
    j = CATEGORIES.index(category)
    is_second = np.char.startswith(corpus.sources.astype(str), "dev2_")
    people = ~is_second & ~np.isin(corpus.sources, TEMPLATES)
    trusted, values = corpus.trusted(category), []
    if (corpus.labels[trusted & people, j] == 1).sum() < ENOUGH:
        people = ~is_second
    for part in (people, is_second):
        k = trusted & part
        values.append(average_precision_score(corpus.labels[k, j], logits[k]))
    return [*values, sum(values) / 2]


def calibrate(corpus, category, logits):
    """The factor and summand that make log odds of the logits. The frozen dev rows and dev2 count the same in total."""
    k = corpus.trusted(category)
    second = np.char.startswith(corpus.sources[k].astype(str), "dev2_")
    w = np.where(second, 1 / max(second.sum(), 1), 1 / max((~second).sum(), 1)) * len(second) / 2
    m = LogisticRegression(C=100).fit(logits[k, None], corpus.labels[k, CATEGORIES.index(category)], sample_weight=w)
    return float(m.coef_[0, 0]), float(m.intercept_[0])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data", nargs="+", help="corpus files, with the dev rows in them")
    p.add_argument("--second", required=True, help="the file of dev2")
    p.add_argument("--output", required=True)
    p.add_argument("--alpha", type=float, nargs="+", default=[7e-7, 1.5e-6])
    p.add_argument("--own", type=float, nargs="+", default=[0.3, 0.6], help="weights of the rows from own templates")
    p.add_argument("--rounds", type=int, default=4)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()

    corpus, second = load(*a.data), load(a.second)
    begun = time.time()
    train = np.flatnonzero(~corpus.dev)
    features = linear_model.features([corpus.texts[i] for i in train])
    dev = corpus.subset(corpus.dev)
    both = dev.plus(second)
    windows = linear_model.Windows(both.texts)
    print(f"{features.shape[0]} rows, {features.nnz / features.shape[0]:.0f} features each, "
          f"{time.time() - begun:.0f} s", flush=True)

    own = np.char.startswith(corpus.sources[train].astype(str), "own_")
    weights, biases, calibration = [], [], []
    for j, category in enumerate(CATEGORIES):
        y, w = corpus.labels[train, j], corpus.weights[train, j].copy()
        # What only a list of words says counts less than what people or templates say.
        w[w < TRUSTED] *= 0.3
        known = ~np.isnan(y) & (w > 0)
        best = None
        for alpha in a.alpha:
            for share in a.own:
                rows = np.flatnonzero(known)
                scaled = np.where(own, w * share, w)
                begun = time.time()
                coefficients, bias = fit(features[rows], y[rows], scaled[rows], alpha, a.rounds, a.seed)
                logits = windows.logits(coefficients, bias)
                values = quality(both, category, logits)
                print(f"{category} alpha {alpha:g} own {share:g}: dev {values[0]:.4f}, dev2 {values[1]:.4f} "
                      f"({time.time() - begun:.0f} s)", flush=True)
                if best is None or values[2] > best[0]:
                    best = values[2], coefficients, bias, logits
        _, coefficients, bias, logits = best
        weights.append(coefficients)
        biases.append(bias)
        calibration.append(calibrate(both, category, logits))
    linear_model.write(a.output, weights, biases, calibration)
    print(f"wrote {a.output}, calibration {np.round(calibration, 3).tolist()}")


if __name__ == "__main__":
    main()
