"""Writes sentences of other scripts with Latin letters, roughly as people do in chats.

The tables are ours. They need not be correct, only typical. Vowels that a script does not write
(Arabic, Hebrew, the end of a Hindi word) are drawn at random, as people spell them differently.
"""

import random

CYRILLIC = dict(zip(
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґўјљњћђџѓќѕ",
    "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh sch _ y _ e yu ya i yi ye g u j lj nj c dj dz gj kj dz"
    .replace("_", "").split(" "),
))
CYRILLIC_CHAT = {**CYRILLIC, "х": "h", "ж": "j", "ы": "i", "я": "ia", "ю": "iu", "щ": "sh", "ц": "c", "й": "i"}
SERBIAN = {**CYRILLIC, "ж": "z", "х": "h", "ч": "c", "ш": "s", "ц": "c", "й": "j"}
GREEK = dict(zip(
    "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    "a v g d e z i th i k l m n x o p r s s t y f x ps o a e i i o y o i y i y".split(" "),
))
GREEK_CHAT = {**GREEK, "θ": "8", "χ": "h", "η": "h", "ω": "w", "ξ": "ks", "υ": "u", "β": "b"}
ARABIC = dict(zip(
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءآأإؤئپچژگکیھںےہٹڈڑ",
    "a b t th j 7 kh d th r z s sh s d t z 3 gh f q k l m n h w y a a _ a a i o e p ch zh g k i h n e h t d r".split(" "),
))
ARABIC_PLAIN = {**ARABIC, "ح": "h", "ع": "a", "ق": "k"}
HEBREW = dict(zip("אבגדהוזחטיכךלמםנןסעפףצץקרשת", "a b g d h o z ch t i k k l m m n n s a p f ts ts k r sh t".split(" ")))
# The Indic blocks of Unicode have the same order, 0x80 apart.
INDIC = {
    **dict(zip(range(0x05, 0x15), "a aa i ee u oo ri li e e e ai o o o au".split(" "))),
    **dict(zip(range(0x15, 0x3A), "k kh g gh n ch chh j jh n t th d dh n t th d dh n n p ph b bh m y r r l l l v sh sh s h".split(" "))),
    **dict(zip(range(0x3E, 0x4D), "aa i ee u oo ri ri e e e ai o o o au".split(" "))),
    0x01: "n", 0x02: "n", 0x03: "h", 0x58: "k", 0x59: "kh", 0x5A: "g", 0x5B: "z", 0x5C: "d", 0x5D: "rh", 0x5E: "f", 0x5F: "y",
}
HANGUL = (
    "g kk n d tt r m b pp s ss _ j jj ch k t p h".split(" "),
    "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" "),
    "_ k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" "),
)
KANA = {}
for row, consonant in zip(
    ["あいうえお", "かきくけこ", "さしすせそ", "たちつてと", "なにぬねの", "はひふへほ", "まみむめも", "らりるれろ",
     "がぎぐげご", "ざじずぜぞ", "だぢづでど", "ばびぶべぼ", "ぱぴぷぺぽ"],
    "_ k s t n h m r g z d b p".split(" "),
):
    for kana, vowel in zip(row, "aiueo"):
        KANA[kana] = consonant.replace("_", "") + vowel
KANA.update({"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji", "や": "ya", "ゆ": "yu", "よ": "yo",
             "わ": "wa", "を": "wo", "ん": "n", "っ": "", "ゃ": "ya", "ゅ": "yu", "ょ": "yo"})


def by(table, text):
    return "".join(table.get(c, c) for c in text)


def semitic(table, text, draw):
    """Consonants, with a vowel between two of them in most cases."""
    out = []
    for word in text.split():
        letters = [table.get(c, "") for c in word if c.isalpha()]
        spelt = ""
        for now, after in zip(letters, letters[1:] + [""]):
            spelt += now
            if now and after and now[-1] not in "aeiouwy" and after[0] not in "aeiouwy" and draw.random() < 0.6:
                spelt += draw.choice("aaaeiiou")
        out.append(spelt)
    return " ".join(out)


def indic(text):
    words = []
    for word in text.split():
        spelt, open_consonant = "", False
        for c in word:
            code = ord(c)
            if not 0x900 <= code < 0xD80:
                continue
            at = (code - 0x900) % 0x80
            if at == 0x4D:
                open_consonant = False
            elif 0x15 <= at < 0x3A or 0x58 <= at <= 0x5F:
                spelt += ("a" if open_consonant else "") + INDIC.get(at, "")
                open_consonant = True
            elif at in INDIC:
                spelt += ("a" if open_consonant and not 0x3E <= at < 0x4D else "") + INDIC[at]
                open_consonant = False
        words.append(spelt)
    return " ".join(words)


def hangul(text):
    out = []
    for c in text:
        at = ord(c) - 0xAC00
        if 0 <= at < 11172:
            first, middle, last = at // 588, at % 588 // 28, at % 28
            out.append(HANGUL[0][first].replace("_", "") + HANGUL[1][middle] + HANGUL[2][last].replace("_", ""))
        else:
            out.append(c)
    return "".join(out)


def chat_hindi(text, draw):
    """What people drop: doubled vowels, and letters without a sound."""
    if draw.random() < 0.6:
        text = text.replace("aa", "a").replace("ee", "i").replace("oo", "u")
    return text


def latin(language, text, draw: random.Random):
    """The sentence with Latin letters. None where we have no table."""
    text = text.lower()
    if language in ("ru", "uk", "bg", "be", "mk", "kk", "ky", "mn"):
        return by(draw.choice((CYRILLIC, CYRILLIC, CYRILLIC_CHAT)), text)
    if language == "sr":
        return by(draw.choice((SERBIAN, CYRILLIC)), text)
    if language == "el":
        return by(draw.choice((GREEK, GREEK_CHAT)), text)
    if language in ("ar", "fa", "ur", "ckb"):
        return semitic(draw.choice((ARABIC, ARABIC_PLAIN)), text, draw)
    if language == "he":
        return semitic(HEBREW, text, draw)
    if language in ("hi", "mr", "ne-NP", "bn", "pa-IN", "pa", "gu", "or", "ta", "te", "ml", "as"):
        return chat_hindi(indic(text), draw)
    if language == "ko":
        return hangul(text)
    if language == "ja":
        kana = "".join(KANA.get(chr(ord(c) - 0x60) if "ァ" <= c <= "ン" else c, " ") for c in text)
        return kana if sum(c.isalpha() for c in kana) * 2 > len(text) else None
    if language in ("zh-CN", "zh-TW", "zh"):
        from pypinyin import lazy_pinyin  # MIT

        return " ".join(part for part in lazy_pinyin(text) if part.isascii())
    return None
