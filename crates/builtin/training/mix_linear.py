"""Averages the weights of two linear models, category by category, and calibrates the result.

An average of two linear models is a linear model that adds up both opinions. Of a few shares, the largest one of the
second model is taken whose average precision on the frozen dev rows is within `LOSS` of the best.
"""

import argparse

import numpy as np

import linear_model
from corpus import CATEGORIES, dev_rows
from train_linear import calibrate, quality

SHARES = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
LOSS = 0.004


def calibrated(model):
    """Weights and biases whose sums are already log odds."""
    a, b = np.array(model.calibration).T
    return model.weights * a[:, None], model.biases * a + b


def mix(first, second, corpus, windows):
    """Weights, biases and calibration of the chosen average. A share is that of the second model."""
    (w1, b1), (w2, b2) = calibrated(first), calibrated(second)
    weights, biases, calibration = [], [], []
    for j, category in enumerate(CATEGORIES):
        tried = []
        for share in SHARES:
            w = (1 - share) * w1[j] + share * w2[j]
            w = linear_model.restore(*linear_model.quantise(w.astype(np.float32)))
            bias = (1 - share) * b1[j] + share * b2[j]
            logits = windows.logits(w, bias)
            values = quality(corpus, category, logits)
            print(f"{category} share {share:g}: dev {values[0]:.4f}, dev2 {values[1]:.4f}", flush=True)
            tried.append((values[0], w, bias, logits))
        best = max(t[0] for t in tried)
        _, w, bias, logits = [t for t in tried if t[0] >= best - LOSS][-1]
        weights.append(w)
        biases.append(bias)
        calibration.append(calibrate(corpus, category, logits))
    return weights, biases, calibration


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("first")
    p.add_argument("second")
    p.add_argument("output")
    p.add_argument("data", nargs="+", help="corpus files with the dev rows, dev2 among them")
    a = p.parse_args()
    corpus = dev_rows(a.data)
    windows = linear_model.Windows(corpus.texts)
    linear_model.write(a.output, *mix(linear_model.read(a.first), linear_model.read(a.second), corpus, windows))
    print(f"wrote {a.output}")


if __name__ == "__main__":
    main()
