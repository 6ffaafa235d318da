//! Ways to disguise a term, applied to many terms: the generated part of the evasion corpus. Equal
//! runs give equal lines.

mod letters;

use letters::{accents, cut, drawn, each, pick, replaced, shifted, spelled};

/// A technique: its name, and its disguise of a term of lower-case ASCII letters. `nth` varies the
/// result.
pub(crate) struct Technique {
    pub(crate) name: &'static str,
    pub(crate) disguise: fn(term: &str, nth: usize) -> String,
}

/// The terms to disguise: mild or invented, from four letters to a phrase.
pub(crate) const TERMS: [&str; 24] = [
    "scam",
    "idiot",
    "moron",
    "loser",
    "stupid",
    "casino",
    "betting",
    "viagra",
    "bitcoin",
    "weapon",
    "cocaine",
    "hooker",
    "killer",
    "spammer",
    "blockedword",
    "wretch",
    "crypto",
    "jackpot",
    "gambling",
    "dummkopf",
    "quisling",
    "free money",
    "buy followers",
    "xanadu",
];

/// The text around a disguised term.
pub(crate) const CARRIERS: [(&str, &str); 5] = [
    ("", ""),
    ("you are such a ", " and you know it"),
    ("Get your ", "!"),
    ("well, ", ", as they say"),
    ("Это ", " или нет?"),
];

macro_rules! technique {
    ($name:literal, $disguise:expr) => {
        Technique {
            name: $name,
            disguise: $disguise,
        }
    };
}

pub(crate) const TECHNIQUES: [Technique; 34] = [
    technique!("capitals", |term, _| term.to_uppercase()),
    technique!("alternating case", |term, nth| each(term, |at, c| {
        if (at + nth) % 2 == 0 {
            c.to_uppercase().collect()
        } else {
            c.to_string()
        }
    })),
    technique!("accents", |term, nth| each(term, |at, c| pick(
        accents(c),
        at + nth,
        c
    ))),
    technique!("combining marks", |term, nth| each(term, |at, c| format!(
        "{c}{}",
        ["\u{301}", "\u{336}", "\u{323}\u{308}", "\u{20DE}"][(at + nth) % 4]
    ))),
    technique!("fullwidth", |term, _| shifted(term, 0xFF41)),
    technique!("mathematical bold", |term, _| shifted(term, 0x1D41A)),
    technique!("mathematical script", |term, _| shifted(term, 0x1D4EA)),
    technique!("circled", |term, _| shifted(term, 0x24D0)),
    technique!("squared", |term, _| shifted(term, 0x1F130)),
    technique!("squared, white on black", |term, _| shifted(term, 0x1F170)),
    technique!("regional indicators", |term, _| shifted(term, 0x1F1E6)),
    technique!("invisible characters", |term, nth| each(
        term,
        |at, c| format!(
            "{c}{}",
            [
                "\u{200B}", "\u{AD}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{34F}"
            ][(at + nth) % 6]
        )
    )),
    technique!("bidirectional controls", |term, nth| format!(
        "{}{term}\u{202C}",
        ["\u{202D}", "\u{2066}", "\u{200E}"][nth % 3]
    )),
    technique!("Cyrillic letters", |term, _| each(term, |_, c| replaced(
        c,
        "aceopxyikmtbhds",
        "асеорхуікмтвһԁѕ"
    ))),
    technique!("Greek letters", |term, _| each(term, |_, c| replaced(
        c,
        "abeikmnoptuvxyz",
        "αβεικμηορτυνχγζ"
    ))),
    technique!("small capitals", |term, _| each(term, |_, c| replaced(
        c,
        "abcdefghijklmnoprtuvwyz",
        "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ"
    ))),
    technique!("letters of other alphabets", |term, nth| each(
        term,
        |at, c| if (at + nth) % 2 == 0 {
            replaced(c, "abcdeghijklmnoprstuwz", "ꓮᏼᏟꓓꓰᏀᎻⅰᎫꓗꓡⅿꓠⲟꓑᎡꓢꓔꓴꓪꓜ")
        } else {
            c.to_string()
        }
    )),
    technique!("digits", |term, nth| each(term, |at, c| {
        if (at + nth) % 2 == 0 {
            replaced(c, "oieastbgl", "013457891")
        } else {
            c.to_string()
        }
    })),
    technique!("every possible digit", |term, _| each(term, |_, c| {
        replaced(c, "oieastbgl", "013457891")
    })),
    technique!("signs", |term, _| each(term, |_, c| replaced(
        c,
        "aseicol",
        "@$€!¢⭕|"
    ))),
    technique!("drawn letters", |term, _| each(term, |_, c| drawn(c))),
    technique!("spelled with spaces", |term, nth| spelled(
        term,
        &[[" ", "  "][nth % 2]]
    )),
    technique!("spelled with stops", |term, nth| spelled(
        term,
        &[[".", ",", "...", "/"][nth % 4]]
    )),
    technique!("spelled with dashes", |term, nth| spelled(
        term,
        &[["-", "_", " - ", "–"][nth % 4]]
    )),
    technique!("spelled with pictures", |term, nth| spelled(
        term,
        &[["🔥", "★", "👏🏽", "❤️"][nth % 4]]
    )),
    technique!("spelled with mixed separators", |term, _| spelled(
        term,
        &[".", "-", "_", "*", " "]
    )),
    technique!("a sign inside", |term, nth| cut(
        term,
        nth,
        ["*", "_", "-", "~", "•", "🔥"][nth % 6]
    )),
    technique!("a stop inside", |term, nth| cut(
        term,
        nth,
        [".", ",", "/", ":"][nth % 4]
    )),
    technique!("stretched letters", |term, nth| each(term, |at, c| c
        .to_string()
        .repeat(if (at + nth) % 3 == 0 { 4 } else { 1 }))),
    technique!("digits behind", |term, nth| format!(
        "{term}{}",
        [1, 99, 2000][nth % 3]
    )),
    technique!("accents and digits", |term, nth| each(term, |at, c| {
        if at % 2 == 0 {
            pick(accents(c), at + nth, c)
        } else {
            replaced(c, "oieast", "013457")
        }
    })),
    technique!("digits, spelled", |term, _| spelled(
        &each(term, |at, c| if at % 2 == 0 {
            replaced(c, "oieast", "013457")
        } else {
            c.to_string()
        }),
        &["."]
    )),
    technique!("look-alikes and invisible characters", |term, _| each(
        term,
        |_, c| format!("{}\u{200B}", replaced(c, "aceopxyi", "асеорхуі"))
    )),
    technique!("stretched and capital digits", |term, nth| each(
        &term.to_uppercase(),
        |at, c| match (at + nth) % 4 {
            0 => replaced(c, "OIEAS", "01345"),
            1 => c.to_string().repeat(3),
            _ => c.to_string(),
        }
    )),
];
