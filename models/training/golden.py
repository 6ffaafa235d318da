"""Writes texts with a model's scores, for the tests of the program. All texts are from our own templates.

Each line has `text` (as people would submit it, not normalised) and `scores` in the order of CATEGORIES.
"""

import argparse
import json
import random

import linear_model
import templates
from corpus import CATEGORIES, normalise
from score import encoder_logits

# Forms that the preparation of a text must undo, and texts without anything to score.
ODD = ["", " ", "?", "a", "ÀÉÎÕÜ ßæø", "ﬁne ｗｉｄｅ ②", "soft\u00adhyphen zero\u200bwidth", "@someone look https://a.example/b?c",
       "www.example.org is DOWN!!!!!!", "sooooo goooood", "tab\there\nnew line", "İstanbul ΣΊΣΥΦΟΣ", "日本語のテキスト",
       "Это обычный текст", "👩‍👩‍👧 🔥🔥🔥🔥🔥", "don't 'quote' \"this\"", "1,000.50 € (approx.)", "x" * 300]


def texts(count, seed):
    chance = random.Random(seed)
    made = list(templates.rows(templates.HERE / "dev", chance))
    made += templates.longer(made, chance, 200)
    return ODD + [t for t, *_ in chance.sample(made, count - len(ODD))]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("kind", choices=["linear", "encoder"])
    p.add_argument("model")
    p.add_argument("output")
    p.add_argument("--tokenizer")
    p.add_argument("--count", type=int, default=250)
    p.add_argument("--seed", type=int, default=7)
    a = p.parse_args()
    raw = texts(a.count, a.seed)
    if a.kind == "linear":
        scores = linear_model.read(a.model).scores(linear_model.Windows([normalise(t) for t in raw]))
    else:
        import encoder_model

        model, calibration = encoder_model.from_ght(a.model)
        tokenizer = encoder_model.tokenizer(a.tokenizer)
        x, y = zip(*calibration)
        scores = linear_model.sigmoid(encoder_logits(model, tokenizer, [normalise(t) for t in raw]) * x + y)
    with open(a.output, "w", encoding="utf-8") as file:
        for text, row in zip(raw, scores):
            line = dict(text=text, scores=[round(float(v), 6) for v in row])
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{a.output}: {len(raw)} texts, {len(CATEGORIES)} scores each")


if __name__ == "__main__":
    main()
