"""Makes rows from our own templates: `templates/train` for training, `templates/dev` for measuring.

A file has families, separated by `---`. A family has a line `labels` (categories that are not named stay unknown), a
line `rows` (how many different rows to make), frames, and lines `$slot: filler | filler`. `{slot}` in a frame or a
filler is replaced by a random filler. A slot with a digit at its end takes the fillers of the slot without it, if it
has none of its own. Slots in `common.txt` serve all files of the folder. The name of a file is the kind of its rows.
The slots `lexicon_violence`, `lexicon_self_harm`, `lexicon_push` and `lexicon_harmless` have phrases of the built-in
lexicon, so that the models know what it knows.
"""

import argparse
import random
import re
from pathlib import Path

import corpus

HERE = Path(__file__).parent / "templates"
LEXICON = Path(__file__).parents[1] / "src/lexicon/terms.rs"
# A row of `dev` says which group it names, so that false alarms can be counted for each.
GROUP_SLOTS = ("adj", "group")


class Family:
    def __init__(self, kind, text, common):
        self.kind, self.labels, self.rows, self.frames = kind, {}, 0, []
        self.slots = dict(common)
        for line in text.splitlines():
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            word, _, rest = line.partition(" ")
            if word == "labels":
                self.labels = {k: int(v) for k, v in (x.split("=") for x in rest.split())}
            elif word == "rows":
                self.rows = int(rest)
            elif line.startswith("$"):
                name, _, fillers = line[1:].partition(":")
                # Trailing spaces and empty fillers matter in few places, and are written as they are.
                self.slots[name.strip()] = [f.strip() for f in fillers.split("|")]
            else:
                self.frames.append(line)

    def fillers(self, slot):
        if slot not in self.slots:
            slot = slot.rstrip("0123456789")
        return self.slots[slot]

    def make(self, chance):
        """A text, and the group it names or an empty string."""
        text, group, used = chance.choice(self.frames), "", set()
        while m := re.search(r"\{(\w+)\}", text):
            options = [f for f in self.fillers(m[1]) if f not in used] or self.fillers(m[1])
            filler = chance.choice(options)
            if len(options) > 2:
                used.add(filler)
            if m[1] in GROUP_SLOTS and not group:
                group = filler
            text = text[: m.start()] + filler + text[m.end() :]
        return tidy(text, chance), group


def tidy(text, chance):
    """Repairs articles and spaces, and writes some texts as hurried people do."""
    text = re.sub(r"\b([Aa]) (?=[aeiouAEIO])(?!uni|use|uro|one|once|euro)", r"\1n ", text)
    text = re.sub(r"\b([Aa])n (?=[b-df-hj-np-tv-zB-DF-HJ-NP-TV-Z][a-z])(?!hour|hono|hones)", r"\1 ", text)
    text = re.sub(r"\s+([.,!?])(?=\s|$)", r"\1", text)
    text = re.sub(r"([.!?,])[.,](?=\s|$)", r"\1", text)
    text = re.sub(r"\s+", " ", text).strip()
    if chance.random() < 0.25:
        text = text.rstrip(".!").replace("'", "") if chance.random() < 0.5 else text.lower()
    return text


def phrases():
    """Phrases of the built-in lexicon: strong signs that need no target, and harmless idioms."""
    slots = {"lexicon_violence": [], "lexicon_self_harm": [], "lexicon_push": [], "lexicon_harmless": []}
    entry = r'\b(sign|context)\(\s*((?:&\[[^\]]*\])|(?:Role::\w+)),\s*"((?:[^"\\]|\\.|\\\n)*)"'
    for kind, what, terms in re.findall(entry, LEXICON.read_text()):
        terms = re.sub(r"\\\n\s*", "", terms).split("|")
        weights = {c: float(w) for c, w in re.findall(r"\((\w+), ([\d.]+)\)", what)}
        if kind == "context" and what == "Role::Harmless":
            slots["lexicon_harmless"] += [t for t in terms if " " in t]
        elif weights.get("SelfHarm", 0) >= 0.8:
            slots["lexicon_push" if "Harassment" in weights else "lexicon_self_harm"] += terms
        elif weights.get("Violence", 0) >= 0.7 and "Hate" not in weights:
            slots["lexicon_violence"] += terms
    return slots


def families(folder):
    common = Family("", (folder / "common.txt").read_text(), phrases() if folder.name == "train" else {}).slots
    for path in sorted(folder.glob("*.txt")):
        if path.stem != "common":
            for text in path.read_text().split("\n---\n"):
                yield Family(path.stem, text, common)


def rows(folder, chance):
    """Different rows (text, kind, labels, group) of all families."""
    seen = set()
    for family in families(folder):
        made = 0
        for _ in range(family.rows * 8):
            text, group = family.make(chance)
            key = corpus.normalise(text)
            if key not in seen and made < family.rows:
                seen.add(key)
                made += 1
                yield text, family.kind, family.labels, group
        if made < family.rows:
            print(f"{family.kind}: only {made} of {family.rows} rows are different")


def longer(made, chance, count):
    """Long texts: harmless sentences of one or two kinds, half of them with one harmful sentence in between.

    The sentence's own labels count for the whole, because a reader must find it.
    """
    harmless = [r for r in made if set(r[2].values()) == {0} and len(r[2]) == len(corpus.CATEGORIES)]
    harmful = [r for r in made if 1 in r[2].values()]
    kinds = sorted({r[1] for r in harmless})
    by_kind = {k: [r for r in harmless if r[1] == k] for k in kinds}
    for i in range(count):
        own = [chance.choice(by_kind[k])[0] for k in chance.choices(kinds, k=2) for _ in range(chance.randint(2, 5))]
        labels = dict.fromkeys(corpus.CATEGORIES, 0)
        kind = "long"
        if i % 2:
            text, _, extra, _ = chance.choice(harmful)
            own.insert(chance.randint(0, len(own)), text)
            labels = extra
            kind = "long_harmful"
        yield " ".join(own), kind, labels, ""


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("part", choices=["train", "dev"])
    p.add_argument("output")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--long", type=int, default=0, help="number of long texts to add")
    a = p.parse_args()
    chance = random.Random(f"{a.part} {a.seed}")
    made = list(rows(HERE / a.part, chance))
    made += longer(made, chance, a.long)
    is_dev = a.part == "dev"
    prefix = "dev2_" if is_dev else "own_"
    corpus.save(a.output, [(t, prefix + kind, labels, 1.0, is_dev, group) for t, kind, labels, group in made])
    print(f"{len(made)} rows")


if __name__ == "__main__":
    main()
