"""Trains the weights of the language detector: hashed letter sequences of words, English or not.

    python train.py --common-voice DIR --lingua DIR --english FILE --code DIR --out weights.bin

README.md in this folder names the sources, their licences and the versions of the tools. The same
input gives the same file: every random choice has a seed, and one thread computes.
"""

import argparse
import functools
import hashlib
import json
import os
import random
import re
import struct
import unicodedata

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import translit

BITS = 17
LONGEST = 24  # Longer words are not looked at.
CLAMP = 6.0  # The most that one word can say, in logarithms of odds.
SEQUENCES = range(1, 6)  # Lengths of letter sequences.
PER_LANGUAGE = 5_000
ENGLISH = 90_000
SEED = 20_240_611
PRIME, START, WHOLE = 0x01000193, 0x811C9DC5, 0x9E3779B9
MASK = 0xFFFFFFFF


WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f'’])*")


def words(text):
    """The words of a text as the detector sees them. Must equal `language.rs`."""
    out = []
    for token in text.split():
        if "@" in token or "://" in token or token.startswith("www."):
            continue
        for word in WORD.findall(token):
            word = normal(word)
            if word and out[-1:] != [word]:
                out.append(word)
    return out


@functools.lru_cache(None)
def normal(word):
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word).replace("’", "'")
    word = word.lower().strip("'")
    digits = sum(c.isdigit() for c in word)
    if digits * 3 > len(word) or not 1 < len(word) <= LONGEST:
        return None
    if not word.isascii() and any(not is_latin(c) for c in word if c.isalpha()):
        return None
    return TRIPLE.sub(r"\1\1", word)


TRIPLE = re.compile(r"(.)\1\1+")


def is_latin(c):
    return c <= "\u024f" or "\u1e00" <= c <= "\u1eff"


def buckets(word):
    padded = [ord(c) for c in "<" + word + ">"]
    out = []
    for start in range(len(padded)):
        state = START
        for c in padded[start:start + SEQUENCES.stop - 1]:
            state = ((state ^ c) * PRIME) & MASK
            out.append((state ^ state >> 15) & ((1 << BITS) - 1))
    state = WHOLE
    for c in padded:
        state = ((state ^ c) * PRIME) & MASK
    out.append((state ^ state >> 15) & ((1 << BITS) - 1))
    return out


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.strip():
                yield line.strip()


def without_marks(text):
    text = text.replace("ß", "ss").replace("ø", "o").replace("ł", "l").replace("đ", "d").replace("ı", "i")
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def sentences(root, language, depth):
    """The sentences of a language of Common Voice (0) or lingua (1). None if it is not trained."""
    folder = os.path.join(root, language, "testdata" if depth else "")
    # Interlingua is for nobody, and English is not another language.
    if language in ("en", "ia") or not os.path.isdir(folder):
        return None
    found = []
    for name in sorted(os.listdir(folder)):
        # Lists of towns, and words borrowed from English, are no evidence. Pairs of words measure.
        skipped = ("cities", "anglizismen", "single", "LICENSE", "word-pairs")
        if name.endswith(".txt") and not any(part in name for part in skipped):
            found.extend(lines(os.path.join(folder, name)))
    return found


def foreign(args, draw):
    """Sentences of other languages, in Latin letters, by language."""
    by_language = {}
    for root, depth in ((args.common_voice, 0), (args.lingua, 1)):
        for language in sorted(os.listdir(root)):
            found = sentences(root, language, depth)
            if found is None:
                continue
            draw.shuffle(found)
            if depth:
                # The other half measures.
                found = found[: len(found) // 2]
            by_language.setdefault(language.split("-")[0], []).extend(
                (language, line) for line in found[: PER_LANGUAGE]
            )
    for name in sorted(os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "own"))):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own", name)
        if name != "en.txt":
            by_language.setdefault("own-" + name[:-4], []).extend((name, line) for line in list(lines(path)) * 12)
    for language, some in by_language.items():
        for source, line in some:
            spelt = translit.latin(source, line, draw)
            line = spelt if spelt else line
            if draw.random() < 0.4:
                line = without_marks(line)
            if draw.random() < 0.3:
                line = line.lower()
            said = words(line)
            if said:
                yield language, said


def english(args, draw):
    """Readable texts: English, code, names, and keys hit at random."""
    texts = [json.loads(line)["t"] for line in lines(args.english)]
    texts = [text for text in texts if for_training(text)]
    for text in draw.sample(texts, min(ENGLISH, len(texts))):
        yield words(text)
    for name in sorted(os.listdir(os.path.join(args.common_voice, "en"))):
        if name.endswith(".txt") and name != "DictionaryofForeignPhrases.txt":
            for line in list(lines(os.path.join(args.common_voice, "en", name)))[:PER_LANGUAGE]:
                yield words(line)
    for line in list(lines(os.path.join(args.lingua, "en", "testdata", "sentences.txt")))[:500]:
        yield words(line)
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own", "en.txt")
    for _ in range(40):
        for line in lines(own):
            yield words(line)
    for folder, _, names in sorted(os.walk(args.code)):
        for name in sorted(names):
            if name.endswith((".rs", ".sh", ".ts", ".py", ".sql", ".toml", ".md")) and "target" not in folder:
                for line in lines(os.path.join(folder, name)):
                    if draw.random() < 0.15:
                        yield words(line)
    for _ in range(6_000):
        row = draw.choice(("asdfghjkl", "qwertyuiop", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz", "ahah", "lolxd", "hjkl"))
        yield ["".join(draw.choice(row) for _ in range(draw.randint(3, 10))) for _ in range(draw.randint(1, 2))]


def names(draw, count):
    """Names of people and towns in many countries: said in English, too."""
    from faker import Faker  # MIT

    out = []
    for locale in ("de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "pl_PL", "nl_NL", "sv_SE", "da_DK", "fi_FI", "cs_CZ",
                   "hu_HU", "ro_RO", "tr_TR", "hr_HR", "no_NO", "id_ID", "en_IN", "fil_PH", "es_MX", "en_US", "en_GB", "ga_IE"):
        try:
            make = Faker(locale)
        except AttributeError:
            continue
        make.seed_instance(SEED)
        for _ in range(count):
            out.append(words(f"{make.first_name()} {make.last_name()}"))
            if draw.random() < 0.3:
                out.append(words(make.city()))
    return [name for name in out if name]


def for_training(text):
    """Half of the English texts. The other half measures."""
    return hashlib.sha256(text.encode()).digest()[0] < 128


def typo(word, draw):
    at = draw.randrange(len(word))
    kind = draw.randrange(3)
    if kind == 0:
        return word[:at] + word[at + 1:] or word
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    return word[:at] + word[at + 1:at + 2] + word[at] + word[at + 2:]


def span(said, draw):
    length = draw.choice((1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12))
    start = draw.randrange(max(1, len(said) - length + 1))
    return said[start:start + length]


def examples(args):
    draw = random.Random(SEED)
    for language, said in foreign(args, draw):
        for _ in range(1 if len(said) < 5 else 2):
            yield span(said, draw), 1
    some_names = names(draw, 700)
    for said in english(args, draw):
        if not said:
            continue
        for _ in range(1 if len(said) < 5 else 2):
            part = list(span(said, draw))
            if draw.random() < 0.15:
                at = draw.randrange(len(part))
                part[at] = typo(part[at], draw)
            if draw.random() < 0.06:
                at = draw.randrange(len(part) + 1)
                part[at:at] = draw.choice(some_names)
            yield part, 0
    for name in some_names:
        yield name, 0


def matrix(rows, width):
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64)
    columns = np.fromiter((at for row in rows for at in row), dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(len(rows), width))


def main():
    parse = argparse.ArgumentParser()
    for name in ("common-voice", "lingua", "english", "code", "out"):
        parse.add_argument(f"--{name}", required=True)
    parse.add_argument("--penalty", type=float, default=8e-8)
    parse.add_argument("--steps", type=int, default=250)
    args = parse.parse_args()
    known, rows, labels = {}, [], []
    for said, label in examples(args):
        rows.append([known.setdefault(word, len(known)) for word in said])
        labels.append(label)
    labels = np.array(labels, dtype=np.float32)
    print(f"{len(rows)} spans, {labels.mean():.3f} foreign, {len(known)} words", flush=True)
    spans = matrix(rows, len(known))
    letters = matrix([buckets(word) for word in known], 1 << BITS)
    spans_t, letters_t = spans.T.tocsr(), letters.T.tocsr()
    sign = 2 * labels - 1
    share = np.where(labels == 1, 0.5 / labels.sum(), 0.5 / (len(labels) - labels.sum())).astype(np.float32)

    def loss(theta):
        theta = theta.astype(np.float32)
        said = letters @ theta[:-1]
        bent = CLAMP * said / (CLAMP + np.abs(said))
        margin = sign * (spans @ bent + theta[-1])
        value = float(share @ np.logaddexp(0, -margin)) + args.penalty * float(theta[:-1] @ theta[:-1])
        slope = -share * sign / (1 + np.exp(np.clip(margin, -60, 60)))
        inner = (spans_t @ slope) * (CLAMP / (CLAMP + np.abs(said))) ** 2
        gradient = np.concatenate((letters_t @ inner + 2 * args.penalty * theta[:-1], [slope.sum()]))
        return value, gradient.astype(np.float64)

    done = minimize(loss, np.zeros((1 << BITS) + 1), jac=True, method="L-BFGS-B", options={"maxiter": args.steps, "maxcor": 8})
    theta = done.x
    print(f"loss {done.fun:.4f} after {done.nit} steps, bias {theta[-1]:.3f}", flush=True)
    scale = np.quantile(np.abs(theta[:-1]), 0.9999) / 127
    weights = np.clip(np.rint(theta[:-1] / scale), -127, 127).astype(np.int8)
    with open(args.out, "wb") as file:
        file.write(struct.pack("<f", scale) + weights.tobytes())
    print(f"scale {scale:.5f}, sha256 {hashlib.sha256(open(args.out, 'rb').read()).hexdigest()}")


if __name__ == "__main__":
    main()
