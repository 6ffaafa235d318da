"""Labels for what a source does not say, from lists of words.

A text without any listed word of a category is taken as harmless there, with a quarter of the weight. Many listed words
at once make it harmful, with half of the weight. Otherwise the label stays unknown.
"""

import re

# Different words of a category that must be in a text to make it harmful. Other categories are never guessed.
MANY = dict(sexual=3, violence=4, self_harm=2)
HARMLESS, HARMFUL = 0.25, 0.5

WORDS = dict(
    sexual=(
        r"\b("
        r"fuck(ed|ing)? (me|her|him|you hard)|cocks?|puss(y|ies)|clit\w*|blow ?jobs?|hand ?jobs?|"
        r"cum(s|ming|shot)?|orgasm\w*|masturbat\w*|horny|porn\w*|xxx|erotic\w*|nude|naked|boobs?|tits?|"
        r"titties|nipples?|penis|vagina|dick|erection|threesome|gangbang|anal sex|oral sex|bondage|"
        r"milfs?|sex(ual(ly)?|y)?|hentai|escorts?|slut\w*|moan(ed|ing|s)?|panties|thrust(s|ed|ing)?|"
        r"dildo|kinky|smut|strip ?tease|undress\w*|semen|ejaculat\w*|aroused|arousal|intercourse|lust"
        r")\b"
    ),
    hate=(
        r"\b("
        r"nigg\w+|fag\w*|kikes?|spics?|chinks?|tranny|trannies|dykes?|wetbacks?|ragheads?|towelheads?|"
        r"retards?|gooks?|cunts?|subhuman\w*|vermin|untermensch|white (power|race|pride|genocide)|jews?|"
        r"muslims?|blacks|gays|immigrants|refugees|mexicans|arabs|feminis\w+|homosexual\w*|trans\w*|"
        r"gypsies|whores?|inferior|savages?|parasites?|infest\w*"
        r")\b"
    ),
    violence=(
        r"\b("
        r"kill(s|ed|ing|er)?|murder\w*|stab(bed|bing|s)?|shoot(ing)?|shot|behead\w*|slaughter\w*|"
        r"massacre\w*|tortur\w*|blood(y|ied)?|gore|gut(s|ted)|strangl\w*|dismember\w*|mutilat\w*|"
        r"corpse\w*|bomb(s|ed|ing)?|execut(e|ed|ion)|lynch\w*|beat(en|ing)? (up|to death)|bullet\w*|"
        r"knife|machete|decapitat\w*|skull|terroris\w*|genocide|exterminat\w*|attack(ed)?|rape[ds]?|gun|"
        r"dead|death|died?"
        r")\b"
    ),
    self_harm=(
        r"("
        r"suicid\w*|kill(ing|ed)? (myself|yourself|himself|herself|themselves)|\bkys\b|self.?harm\w*|"
        r"self.?injur\w*|cut(ting|s)? (myself|yourself|herself|himself)|"
        r"end(ing)? (my|your|his|her) (own )?life|"
        r"(want(ed)?|wanna|going|ready|wish i could|hope i|hope you) (to )?die\b|"
        r"take (my|your) (own )?life|better off dead|overdos\w*|hang (myself|yourself)|"
        r"slit\w* (my|your|her|his) wrist\w*|anorexi\w*|bulimi\w*|pro.?ana|thinspo|purging|"
        r"starv(e|ing) (myself|yourself)|want to be dead|wish i (was|were) dead|end it all|noose|"
        r"razor ?blade|don'?t want to live|jump off"
        r")"
    ),
    harassment=(
        r"\b("
        r"idiots?|morons?|stupid|loser|bitch(es)?|asshole|dumbass|retard(ed)?|cunt|pathetic|worthless|"
        r"shut (the fuck )?up|fuck you|scum|trash|ugly|fat pig|piece of shit|kill yourself|kys|freak|"
        r"clown|whore|slut|dumb|hate you|disgusting|bastard|douche\w*|wimp|coward|imbecile|screw you"
        r")\b"
    ),
)
WORDS = {category: re.compile(pattern, re.IGNORECASE) for category, pattern in WORDS.items()}


def guess(category, text):
    """A label and the factor of its weight, or (None, 0)."""
    found = {m[0] for m in WORDS[category].finditer(text)}
    if not found:
        return 0, HARMLESS
    if len(found) >= MANY.get(category, len(found) + 1):
        return 1, HARMFUL
    return None, 0.0
