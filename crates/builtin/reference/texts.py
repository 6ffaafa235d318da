"""Our own sentences for the golden files. They are made from templates and say nothing about anybody.

The golden files compare two programs that compute the same, so the sentences are there for their form: every category, both sides
of it, accents, signs, disguises, addresses, other scripts, and lengths from nothing to a thousand words.
"""

import random

SLOTS = {
    "who": ["I", "she", "he", "they", "my neighbour", "the teacher", "a colleague", "the old man", "my sister", "the driver"],
    "you": ["you", "him", "her", "them", "that guy", "my ex", "those people", "the referee", "all of you"],
    "group": ["immigrants", "women", "Muslims", "Christians", "gay people", "Jews", "disabled people", "old people"],
    "insult": ["idiot", "moron", "loser", "clown", "coward", "pathetic liar", "worthless fool", "creep"],
    "hurt": ["kill", "stab", "shoot", "beat", "strangle", "hurt", "burn"],
    "harmless": [
        "kill the process", "shoot some photos", "beat the high score", "burn some calories", "stab at a first draft",
        "hang the picture on the wall", "cut the onions", "bomb the interview",
    ],
    "when": ["today", "this weekend", "after dinner", "at the office", "for the first time", "tomorrow night", "in front of everyone"],
    "topic": [
        "the clinic offers free tests", "the film has mild violence", "a study on suicide was published", "the museum opened late",
        "the court banned hate speech", "sex education starts in the fall", "police investigate a shooting", "the train was on time",
    ],
    "desire": ["kissed", "undressed", "touched", "made love to", "slept with"],
    "sad": ["I want to die", "I hate my life", "nobody would miss me", "I keep cutting myself", "I took all the pills", "I want to end it"],
    "hope": ["but I feel better now", "so I called my friend", "and my doctor helps me", "and nobody knows"],
}
TEMPLATES = [
    "{who} will {hurt} {you} {when}",
    "I am going to {hurt} {you}, {insult}!",
    "we have to {harmless} {when}",
    "how do I {harmless}?",
    "{topic} {when}.",
    "{topic}; {topic}.",
    "{group} are my best friends and {group} live next door",
    "I hate {group}, they are all {insult}s",
    "{group} should leave this country {when}",
    "As a doctor I treat {group} {when}, and {topic}",
    "you are such a {insult}, everybody hates you",
    "{insult}! {insult}! shut up, {insult}",
    "he said \"you {insult}\" to me and I was sad {when}",
    "{who} {desire} {you} slowly, naked in the hot shower",
    "she moaned with pleasure as {who} {desire} her {when}",
    "hot singles want to meet you naked {when}",
    "{who} kissed the children goodbye and went to work",
    "{sad}",
    "{sad}, {sad}",
    "{sad} {hope}",
    "you should kill yourself, {insult}",
    "please don't give up: {topic}",
]
# Each shows a rule of the form in which models see texts.
FORMS = [
    "", " ", "\n\t", "a", "I", "ok", "!", "???", "😀", "👩‍👩‍👧 family", "é", "e\u0301", "don't",
    "it's rock'n'roll '90s", "UPPER CASE SHOUTING AT YOU", "CafÉ CRÈME BRÛLÉE", "ﬁne ﬂour ½ ² ㎏ ｗｉｄｅ", "in\u200bvis\u200bible k\u00adill",
    "see https://example.org/kill?you=1#x now", "HTTP://EXAMPLE.ORG", "www.example.org", "www.", "https://", "xwww.example.org/",
    "@somebody you are an idiot", "mail somebody@example.org", "@ nobody @_x @é @你好", "nooooooo waaaaay!!!!!!!!", "aaa aaaa aaaaa",
    "i d i o t", "i.d.i.o.t", "1d10t", "k1ll y0urs3lf", "$tup!d", "f*** you", "a  b\u00a0c\u2003d\u3000e", "tab\tnew\nline\r\nend",
    "Ich bringe dich um", "je te déteste", "ты идиот", "أنت غبي", "你是白痴", "너는 바보", "मैं तुमसे नफ़रत करता हूँ", "ไอ้โง่", "İSTANBUL ΣΊΣΥΦΟΣ ẞ",
    "“quoted” — dash … ellipsis", "x=1;y={'a':[2,3]}", "100% 50€ £3", "#hashtag #kill", "no_underscores_here __init__", "a" * 150, "ab" * 100,
    "line one\n\nline two", "\u202eright to left\u202c", "\ufeffbyte order mark", "zero\u0000byte", "\x1cseparators\x1d", "\ud7ff\ue000\ufffd",
]


def generated(seed, count):
    """Different sentences from the templates."""
    rng = random.Random(seed)
    found = {}
    while len(found) < count:
        text = rng.choice(TEMPLATES)
        while "{" in text:
            start, end = text.index("{"), text.index("}")
            text = text[:start] + rng.choice(SLOTS[text[start + 1 : end]]) + text[end + 1 :]
        found[text] = None
    return list(found)


def long(seed, counts):
    """Texts of many sentences: of the lengths at which stretches begin and end, and far beyond."""
    rng = random.Random(seed)
    texts = []
    for count in counts:
        words = " ".join(generated(rng.random(), 1 + count // 4)).split()
        while len(words) < count:
            words += words
        texts.append(" ".join(words[:count]))
    return texts


def all_texts():
    return FORMS + generated(1, 240) + long(2, [39, 40, 41, 59, 60, 61, 79, 80, 81, 100, 121, 250, 400])
