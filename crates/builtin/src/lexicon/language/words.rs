//! The words of a text, as the weights were trained on them. `crates/builtin/training/language/train.py`
//! has the same rules.

use unicode_normalization::{
    IsNormalized, UnicodeNormalization as _, char::is_combining_mark, is_nfkc_quick,
};

use domain::text::{Folded, is_invisible, is_unspaced};

/// The letters of a longer word are not looked at: it is a key, a hash or a row of letters.
const LONGEST: usize = 24;

/// A word that says something about the language.
pub(super) enum Word<'w> {
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

/// Takes the words of a text one by one. Left out are links, addresses, mentions, single letters,
/// what is mostly digits, and repetitions ("ha ha ha").
pub(super) struct Words<'t> {
    tokens: std::str::SplitWhitespace<'t>,
    rest: &'t str,
    letters: Vec<char>,
    /// The word before.
    before: Vec<char>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            tokens: text.split_whitespace(),
            rest: "",
            letters: Vec::with_capacity(LONGEST + 1),
            before: Vec::with_capacity(LONGEST + 1),
        }
    }

    /// The next word. Not an iterator, because the word borrows the memory for its letters.
    pub(super) fn next(&mut self) -> Option<Word<'_>> {
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
