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

mod weights;
mod words;

use words::{Word, Words};

/// What a run of words must collect to count as another language, whatever is around it: two or
/// three plain words, because none says more than [`weights::MOST`].
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
                weights::evidence(letters)
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

#[cfg(test)]
mod tests;
