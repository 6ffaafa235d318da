"""Scores the dev rows with one model, and saves the probabilities for `evaluate.py`.

    score.py linear   MODEL.clf     OUTPUT.npy DATA...
    score.py encoder  MODEL.ght     OUTPUT.npy DATA... --tokenizer TOKENIZER.json
    score.py lexicon  SCORES.tsv    OUTPUT.npy DATA...   (columns in the order of CATEGORIES)
    score.py texts    -             OUTPUT.txt DATA...   (the dev rows' texts, one a line, for other programs)
"""

import argparse

import numpy as np

import linear_model
from corpus import dev_rows

# Pieces in a window, and windows of a text that the encoder reads at most.
WINDOW, WINDOWS = 254, 4


def encoder_logits(model, tokenizer, texts, budget=8000):
    """The highest logit over the windows of each text. A window follows the other without an overlap."""
    # Loading torch takes seconds, which the other models do not need.
    import torch

    from encoder_model import batches, padded

    parts, owner = [], []
    for i, e in enumerate(tokenizer.encode_batch(texts, add_special_tokens=False)):
        for start in range(0, max(1, min(len(e.ids), WINDOW * WINDOWS)), WINDOW):
            parts.append(np.array(e.ids[start : start + WINDOW], np.int32))
            owner.append(i)
    lengths = [len(p) for p in parts]
    out = np.full((len(texts), model.cls.out_features), -np.inf, np.float32)
    model.eval()
    with torch.inference_mode():
        for group in batches(lengths, np.argsort(lengths, kind="stable"), budget):
            z = model(*padded([parts[i] for i in group])).numpy()
            np.maximum.at(out, [owner[i] for i in group], z)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=["linear", "encoder", "lexicon", "texts"])
    p.add_argument("model")
    p.add_argument("output")
    p.add_argument("data", nargs="+")
    p.add_argument("--tokenizer")
    a = p.parse_args()
    texts = dev_rows(a.data).texts
    if a.kind == "texts":
        with open(a.output, "w", encoding="utf-8") as file:
            file.writelines(t + "\n" for t in texts)
        return
    if a.kind == "linear":
        scores = linear_model.read(a.model).scores(linear_model.Windows(texts))
    elif a.kind == "encoder":
        import encoder_model

        model, calibration = encoder_model.from_ght(a.model)
        x, y = np.array(calibration).T
        scores = linear_model.sigmoid(encoder_logits(model, encoder_model.tokenizer(a.tokenizer), texts) * x + y)
    else:
        scores = np.loadtxt(a.model, delimiter="\t", ndmin=2)
    if len(scores) != len(texts):
        raise ValueError(f"{len(scores)} scores for {len(texts)} texts")
    np.save(a.output, scores.astype(np.float32))
    print(f"{a.output}: {len(texts)} texts")


if __name__ == "__main__":
    main()
