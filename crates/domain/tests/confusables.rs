//! The table of look-alikes in `src/text/confusables/unicode.rs` is made here, from the data of
//! UTS 39 in the crate `unicode-security` and from the properties in `icu_properties`. After an
//! update of one of them:
//!
//! ```sh
//! cargo test --package gatehouse-domain --test confusables -- --ignored
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use icu_properties::props::{EnumeratedProperty as _, Script};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::{UNICODE_VERSION, skeleton};

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/text/confusables/unicode.rs"
);

/// The scripts of living languages with many readers: table 5 of UAX 31, without Latin. Their
/// letters are read as Latin ones only in words that mix scripts.
const RECOMMENDED: [Script; 29] = [
    Script::Arabic,
    Script::Armenian,
    Script::Bengali,
    Script::Bopomofo,
    Script::Common,
    Script::Cyrillic,
    Script::Devanagari,
    Script::Ethiopic,
    Script::Georgian,
    Script::Greek,
    Script::Gujarati,
    Script::Gurmukhi,
    Script::Hangul,
    Script::Han,
    Script::Hebrew,
    Script::Hiragana,
    Script::Inherited,
    Script::Kannada,
    Script::Katakana,
    Script::Khmer,
    Script::Lao,
    Script::Malayalam,
    Script::Myanmar,
    Script::Oriya,
    Script::Sinhala,
    Script::Tamil,
    Script::Telugu,
    Script::Thai,
    Script::Tibetan,
];

/// Latin letters that look like others and are letters of their own: Icelandic "þig" is not "pig".
const OWN_LETTERS: [char; 1] = ['þ'];

fn skeleton_of(text: &str) -> String {
    skeleton(text)
        .filter(|c| !matches!(c, '\u{300}'..='\u{36F}'))
        .collect()
}

/// The Latin letter that a character looks like, in either case.
fn latin(c: char, letters: &BTreeMap<String, char>) -> Option<char> {
    let upper: String = c.to_uppercase().collect();
    let look = |text: &str| letters.get(&skeleton_of(text)).copied();
    look(&c.to_string()).or_else(|| look(&upper))
}

/// Whether folding looks the character up as it is: no other case, no decomposition.
fn is_folded(c: char) -> bool {
    let own =
        |mut text: Box<dyn Iterator<Item = char>>| text.next() == Some(c) && text.next().is_none();
    own(Box::new(c.to_lowercase())) && own(Box::new(std::iter::once(c).nfkd()))
}

fn table() -> String {
    let mut letters: BTreeMap<String, char> = BTreeMap::new();
    for c in ('a'..='z').chain('A'..='Z') {
        let look = skeleton_of(&c.to_string());
        letters.entry(look).or_insert(c.to_ascii_lowercase());
    }
    let (mut always, mut mixed) = (BTreeMap::new(), BTreeMap::new());
    let mut arabic: BTreeMap<char, String> = BTreeMap::new();
    for c in ('\u{80}'..=char::MAX).filter(|c| is_folded(*c) && !OWN_LETTERS.contains(c)) {
        let script = Script::for_char(c);
        if is_combining_mark(c) {
            continue;
        }
        if script == Script::Arabic && c.is_alphabetic() {
            let whole = |c: char| skeleton(&c.to_string()).collect::<String>();
            let plain = ('\u{620}'..='\u{64A}').filter(|c| c.is_alphabetic() && is_folded(*c));
            // More than one character is a letter with dots, of which some stand elsewhere.
            let look = whole(c);
            let first = plain.into_iter().find(|plain| whole(*plain) == look);
            if let Some(first) = first.filter(|first| *first != c && look.chars().count() == 1) {
                arabic.entry(first).or_default().push(c);
            }
        }
        // The jamo of Hangul are parts of syllables.
        if script == Script::Hangul {
            continue;
        }
        if let Some(letter) = latin(c, &letters) {
            let rows: &mut BTreeMap<char, String> = if RECOMMENDED.contains(&script) {
                &mut mixed
            } else {
                &mut always
            };
            rows.entry(letter).or_default().push(c);
        }
    }
    let (major, minor, _) = UNICODE_VERSION;
    let mut table = format!(
        "//! Look-alikes of letters, from the data of UTS 39, Unicode {major}.{minor}. Made by `tests/confusables.rs`.\n//!\n\
         //! Copyright © 1991-2026 Unicode, Inc. Used under the Unicode License v3 (Unicode-3.0).\n"
    );
    for (name, about, rows) in [
        (
            "ALWAYS",
            "Latin letters, and letters of scripts with few readers, by the Latin letter that they look like.",
            always,
        ),
        (
            "MIXED",
            "Letters and signs of other scripts, by the Latin letter that they look like.",
            mixed,
        ),
        (
            "ARABIC",
            "Arabic letters that differ only in their form or in the language, by the first of them.",
            arabic,
        ),
    ] {
        write!(
            table,
            "\n/// {about}\n#[rustfmt::skip]\npub(super) const {name}: [(char, &str); {}] = [\n",
            rows.len()
        )
        .expect("a text takes everything");
        for (letter, row) in rows {
            let row: String = row.chars().flat_map(char::escape_unicode).collect();
            writeln!(table, "    ('{}', \"{row}\"),", letter.escape_default())
                .expect("a text takes everything");
        }
        table.push_str("];\n");
    }
    table
}

#[test]
fn the_table_is_that_of_unicode() {
    let kept = fs::read_to_string(TABLE).expect("the table is a file of this crate");
    assert!(
        kept == table(),
        "make the table again: see the top of this file"
    );
}

#[test]
#[ignore = "writes the table"]
fn write_the_table() {
    fs::write(TABLE, table()).expect("the table can be written");
}
