//! Whether a text is English, or says nothing about its language.
//!
//! Each word gets evidence: the logarithm of the odds that it belongs to another language. It is
//! the sum of the weights of the word's sequences of letters, trained from sentences of about a
//! hundred languages (`crates/builtin/training/language`). A text counts as another language when a run of
//! its words collects enough evidence: a sentence in a long English text is enough, a name or a
//! borrowed word is not. A text without evidence (a number, a link, "ok", an emoji) is readable.
//!
//! Every word of a text is looked at, so the time is linear in its length. There are no samples in
//! which a sentence could be missed.

#[cfg(test)]
mod tests;

use domain::text::{Folded, is_invisible, is_unspaced};
use unicode_normalization::{
    IsNormalized, UnicodeNormalization as _, char::is_combining_mark, is_nfkc_quick,
};

/// What a run of words must collect to count as another language, whatever is around it: two or
/// three plain words, because none says more than [`MOST`].
const RUN: f32 = 7.0;

/// What all words of a text must collect: with fewer words, it is more likely a name or a borrowed
/// word. A single word is never enough.
const fn enough(words: usize) -> f32 {
    match words {
        0 | 1 => RUN,
        2 => 1.8,
        3 => 0.4,
        _ => 0.0,
    }
}

/// The same for two or three words that all have a capital: that may be a name.
const NAME: f32 = 5.0;

/// What a letter of another script says, and the most that a word of them says.
const OTHER_LETTER: f32 = 0.5;
const OTHER_WORD: f32 = 3.0;
/// What a letter says in scripts that write no spaces. Six are a sentence, five may be a name.
const UNSPACED_LETTER: f32 = 1.2;

/// Whether nothing in the text is evidently another language than English.
pub(super) fn is_readable(text: &str) -> bool {
    let (mut run, mut all) = (0.0_f32, 0.0_f32);
    let (mut count, mut titles) = (0_usize, 0_usize);
    let mut words = Words::new(text);
    while let Some(word) = words.next() {
        let evidence = match word {
            Word::Latin { letters, is_title } => {
                titles += usize::from(is_title);
                evidence(letters)
            }
            Word::Other { letters } => (number(letters) * OTHER_LETTER).min(OTHER_WORD),
            Word::Unspaced { letters } => number(letters) * UNSPACED_LETTER,
        };
        count += 1;
        all += evidence;
        run = (run + evidence).max(0.0);
        if run >= RUN {
            return false;
        }
    }
    let may_be_name = matches!(count, 2 | 3) && titles == count;
    all < if may_be_name { NAME } else { enough(count) }
}

/// Above this, every text is another language anyway.
fn number(letters: usize) -> f32 {
    f32::from(u16::try_from(letters).unwrap_or(u16::MAX))
}

/// The most that a word can say, in either direction. So no word decides alone.
const MOST: f32 = 6.0;

/// A little-endian `f32`, by which each weight is multiplied, and the weights: one byte with sign
/// for each bucket.
static FILE: &[u8; 4 + BUCKETS] = include_bytes!("language/weights.bin");

const BUCKETS: usize = 1 << 17;
/// The longest sequence of letters.
const SEQUENCE: usize = 5;
/// FNV-1a on characters instead of bytes.
const START: u32 = 0x811C_9DC5;
const PRIME: u32 = 0x0100_0193;
/// Where the hash of a whole word starts.
const WHOLE: u32 = 0x9E37_79B9;

/// The logarithm of the odds that a word belongs to another language than English.
fn evidence(letters: &[char]) -> f32 {
    let mut sum = 0_i32;
    let mut whole = WHOLE;
    for start in 0..letters.len() + 2 {
        let mut state = START;
        for at in start..(start + SEQUENCE).min(letters.len() + 2) {
            state = step(state, letter(letters, at));
            sum += weight(state);
        }
        whole = step(whole, letter(letters, start));
    }
    sum += weight(whole);
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 24 letters, so far below 2^24"
    )]
    let said = sum as f32 * f32::from_le_bytes([FILE[0], FILE[1], FILE[2], FILE[3]]);
    MOST * said / (MOST + said.abs())
}

/// The letters of a word with a mark at its beginning and at its end.
fn letter(letters: &[char], at: usize) -> u32 {
    match at.checked_sub(1) {
        None => u32::from('<'),
        Some(at) => letters.get(at).map_or(u32::from('>'), |&c| u32::from(c)),
    }
}

const fn step(state: u32, letter: u32) -> u32 {
    (state ^ letter).wrapping_mul(PRIME)
}

fn weight(state: u32) -> i32 {
    let bucket = (state ^ (state >> 15)) as usize % BUCKETS;
    i32::from(FILE[4 + bucket].cast_signed())
}

/// The letters of a longer word are not looked at: it is a key, a hash or a row of letters.
const LONGEST: usize = 24;

/// A word that says something about the language.
enum Word<'w> {
    /// Lower case, in NFKC, with an apostrophe at most inside. No letter more than twice in a row.
    Latin {
        letters: &'w [char],
        /// The first letter was a capital, and not all were.
        is_title: bool,
    },
    /// Letters of another script.
    Other { letters: usize },
    /// Letters of a script that writes no spaces.
    Unspaced { letters: usize },
}

/// Takes the words of a text one by one, as the weights were trained on them:
/// `crates/builtin/training/language/train.py` has the same rules. Left out are links, addresses, mentions, single letters,
/// what is mostly digits, and repetitions ("ha ha ha").
struct Words<'t> {
    tokens: std::str::SplitWhitespace<'t>,
    rest: &'t str,
    letters: Vec<char>,
    /// The word before.
    before: Vec<char>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            tokens: text.split_whitespace(),
            rest: "",
            letters: Vec::with_capacity(LONGEST + 1),
            before: Vec::with_capacity(LONGEST + 1),
        }
    }

    /// The next word. Not an iterator, because the word borrows the memory for its letters.
    fn next(&mut self) -> Option<Word<'_>> {
        loop {
            let raw = self.raw()?;
            std::mem::swap(&mut self.letters, &mut self.before);
            match read(raw, &mut self.letters) {
                Some(Kind::Latin) if self.letters != self.before => {
                    return Some(Word::Latin {
                        letters: &self.letters,
                        is_title: is_title(raw),
                    });
                }
                Some(Kind::Other(letters)) => return Some(Word::Other { letters }),
                Some(Kind::Unspaced(letters)) => return Some(Word::Unspaced { letters }),
                Some(Kind::Latin) | None => {}
            }
        }
    }

    /// The next run of letters, marks, digits and apostrophes. It begins with a letter or digit, and
    /// does not end with an apostrophe.
    fn raw(&mut self) -> Option<&'t str> {
        loop {
            let from = self.rest.find(char::is_alphanumeric);
            let Some(from) = from else {
                self.rest = self.token()?;
                continue;
            };
            let rest = &self.rest[from..];
            let to = rest
                .find(|c| !is_inner(c) && !is_apostrophe(c))
                .unwrap_or(rest.len());
            self.rest = &rest[to..];
            return Some(rest[..to].trim_end_matches(is_apostrophe));
        }
    }

    fn token(&mut self) -> Option<&'t str> {
        self.tokens.find(|token| {
            let is_link = token.contains("://") || token.starts_with("www.");
            !is_link && !token.contains('@')
        })
    }
}

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c) || is_invisible(c)))
}

fn is_title(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
}

const fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

enum Kind {
    Latin,
    Other(usize),
    Unspaced(usize),
}

/// Puts the letters of a word into `letters`. None if the word says nothing.
fn read(word: &str, letters: &mut Vec<char>) -> Option<Kind> {
    letters.clear();
    if word.is_ascii() {
        return take(
            word.bytes().map(|b| char::from(b.to_ascii_lowercase())),
            letters,
        )
        .then_some(Kind::Latin);
    }
    // Most words with accents need no normal form, which takes ten times as long.
    if word.chars().all(is_latin) && is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        let lower = word.chars().flat_map(char::to_lowercase);
        return take(lower, letters).then_some(Kind::Latin);
    }
    let (mut latin, mut other, mut unspaced) = (0_usize, 0_usize, 0_usize);
    for c in word.nfkc().filter(|c| c.is_alphabetic()) {
        if is_drawn(c) {
            return None;
        }
        if is_latin(c) {
            latin += 1;
        } else if is_unspaced(c) {
            unspaced += 1;
        } else {
            other += 1;
        }
    }
    if unspaced > 0 {
        return Some(Kind::Unspaced(unspaced));
    }
    if other > 0 && latin == 0 {
        return Some(Kind::Other(other));
    }
    let is_taken = if other > 0 {
        // A disguise: letters of another script that look like Latin ones.
        take(Folded::new(word).text().chars(), letters)
    } else {
        let plain = word.chars().filter(|c| !is_invisible(*c));
        take(plain.nfkc().flat_map(char::to_lowercase), letters)
    };
    is_taken.then_some(Kind::Latin)
}

/// Whether these characters are a word. Then they are in `letters`.
fn take(word: impl Iterator<Item = char>, letters: &mut Vec<char>) -> bool {
    let (mut length, mut digits) = (0_usize, 0_usize);
    for c in word {
        length += 1;
        if length > LONGEST {
            return false;
        }
        digits += usize::from(c.is_numeric());
        let c = if is_apostrophe(c) { '\'' } else { c };
        if !letters.ends_with(&[c, c]) {
            letters.push(c);
        }
    }
    length > 1 && digits * 3 <= length
}

/// Letters in squares, which are emoji.
const fn is_drawn(c: char) -> bool {
    matches!(c, '\u{1F100}'..='\u{1F1FF}')
}

/// Letters of Latin, Latin-1, Latin Extended-A and -B and Latin Extended Additional, in NFKC.
fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{024F}' | '\u{1E00}'..='\u{1EFF}')
}
