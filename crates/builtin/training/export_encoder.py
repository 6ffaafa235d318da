"""Writes the encoder of a checkpoint as an int8 file: its averaged weights, calibrated on the dev rows."""

import argparse
from pathlib import Path

import numpy as np
import torch

import encoder_model
from corpus import CATEGORIES, dev_rows
from linear_model import sigmoid
from score import encoder_logits
from train_linear import calibrate


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("checkpoint")
    p.add_argument("output")
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--dev", nargs="+", required=True, help="corpus files whose dev rows calibrate the scores")
    p.add_argument("--scores", help="saves the dev rows' probabilities for evaluate.py")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--mix", help="an int8 file whose weights are averaged in")
    p.add_argument("--part", type=float, default=0.5, help="the share of the file of --mix")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    model = encoder_model.Encoder()
    checkpoint = torch.load(a.checkpoint, weights_only=True)
    model.load_state_dict(checkpoint["average"])
    if a.mix:
        other = encoder_model.from_ght(a.mix)[0].state_dict()
        with torch.no_grad():
            for name, value in model.named_parameters():
                value.lerp_(other[name], a.part)
    words = encoder_model.pieces_in_order(a.tokenizer)
    # Written once without calibration, so that the rounded weights are what is calibrated.
    Path(a.output).write_bytes(encoder_model.to_ght(model, words, [[1, 0]] * len(CATEGORIES)))
    model, _ = encoder_model.from_ght(a.output)
    corpus = dev_rows(a.dev)
    logits = encoder_logits(model, encoder_model.tokenizer(a.tokenizer), corpus.texts)
    calibration = [calibrate(corpus, category, logits[:, j]) for j, category in enumerate(CATEGORIES)]
    data = encoder_model.to_ght(model, words, calibration)
    Path(a.output).write_bytes(data)
    if a.scores:
        x, y = np.array(calibration).T
        np.save(a.scores, sigmoid(logits * x + y).astype(np.float32))
    print(f"{a.output}: {len(data)} bytes after {checkpoint['seen']} rows, {checkpoint['step']} steps, "
          f"calibration {np.round(calibration, 3).tolist()}")


if __name__ == "__main__":
    main()
