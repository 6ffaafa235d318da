//! Texts that are shown in another direction than they are written: turned by a control character, or
//! written upside down from the last letter to the first.

use icu_properties::props::{BidiClass, EnumeratedProperty as _};

use super::{
    fold::Folded,
    invisible_characters::is_invisible,
    upside_down_letters::{is_turned, turned},
};

/// A character with its place in the original, and what it is read as.
type Read = (usize, char, char);

/// The parts of a text that are shown in another direction, as they are shown; none if there are none.
pub(super) fn reversed(original: &str) -> Option<Folded> {
    let mut read = Vec::new();
    read_overridden(original, &mut read);
    read_upside_down(original, &mut read);
    (!read.is_empty()).then(|| Folded::of(original.len(), read.into_iter()))
}

/// Adds a part. A space keeps it apart from the one before.
fn add(part: &mut Vec<Read>, read: &mut Vec<Read>) {
    if let Some(&(at, original, _)) = part.first() {
        read.push((at, original, ' '));
    }
    read.append(part);
}

/// How deep overrides may lie in each other. UAX 9 allows 125. No text needs more than two.
const DEEPEST: usize = 8;

/// The reading of a control.
enum Control {
    /// It begins a part, which another direction may override.
    Begin(Option<Direction>),
    End,
    /// The end of a paragraph ends all parts.
    EndAll,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    LeftToRight,
    RightToLeft,
}

impl Control {
    fn of(c: char) -> Option<Self> {
        Some(match c {
            '\u{202A}' | '\u{202B}' | '\u{2066}'..='\u{2068}' => Self::Begin(None),
            '\u{202D}' => Self::Begin(Some(Direction::LeftToRight)),
            '\u{202E}' => Self::Begin(Some(Direction::RightToLeft)),
            '\u{202C}' | '\u{2069}' => Self::End,
            '\n' | '\r' | '\u{85}' | '\u{2029}' => Self::EndAll,
            _ => return None,
        })
    }
}

/// Adds the parts between a control that overrides the direction and its end, in the order in which they are shown.
/// Everything in such a part is shown from right to left (RLO), or from left to right (LRO), whatever its letters are (UAX 9).
fn read_overridden(original: &str, read: &mut Vec<Read>) {
    // The level of each part that is open: 0 is not overridden, an odd one is shown from right to left.
    let mut open: Vec<usize> = Vec::new();
    // Controls that were too deep.
    let mut ignored = 0_usize;
    let mut part: Vec<(usize, Read)> = Vec::new();
    for (at, c) in original.char_indices() {
        let level = open.last().copied().unwrap_or_default();
        match Control::of(c) {
            Some(Control::Begin(_)) if open.len() >= DEEPEST => ignored += 1,
            Some(Control::Begin(None)) => open.push(level),
            Some(Control::Begin(Some(Direction::RightToLeft))) => open.push((level + 1) | 1),
            Some(Control::Begin(Some(Direction::LeftToRight))) => open.push((level + 2) & !1),
            Some(Control::End) if ignored > 0 => ignored -= 1,
            Some(Control::End) => drop(open.pop()),
            Some(Control::EndAll) => {
                ignored = 0;
                open.clear();
            }
            None if level > 0 && !is_invisible(c) => part.push((level, (at, c, c))),
            None => {}
        }
        if open.last().is_none_or(|level| *level == 0) {
            finish(&mut part, read);
        }
    }
    finish(&mut part, read);
}

/// Adds a part as it is shown, if that differs from how it is written.
fn finish(part: &mut Vec<(usize, Read)>, read: &mut Vec<Read>) {
    let mut letters = part.iter().map(|(_, (_, c, _))| BidiClass::for_char(*c));
    let is_rtl = |class| matches!(class, BidiClass::RightToLeft | BidiClass::ArabicLetter);
    let first = letters.find(|class| is_rtl(*class) || *class == BidiClass::LeftToRight);
    // Readers of Hebrew and Arabic begin on the right.
    let own = usize::from(first.is_some_and(is_rtl));
    let deepest = part.iter().map(|(level, _)| *level).max();
    for least in (1..=deepest.unwrap_or_default() + own).rev() {
        for run in part.chunk_by_mut(|one, next| (one.0 + own >= least) == (next.0 + own >= least))
        {
            if run[0].0 + own >= least {
                run.reverse();
            }
        }
    }
    let is_moved = !part.is_sorted_by_key(|(_, (at, _, _))| *at);
    let mut shown: Vec<Read> = part.drain(..).map(|(_, read)| read).collect();
    if is_moved {
        add(&mut shown, read);
    }
}

/// Adds all stretches of whole words of a line in which every letter can be turned and some are.
fn read_upside_down(original: &str, read: &mut Vec<Read>) {
    let mut stretch = Stretch::default();
    for (at, c) in original.char_indices() {
        if c == '\n' {
            stretch.finish(read);
        } else if let Some(letter) = turned(c) {
            stretch.push((at, c, letter));
        } else if c.is_alphanumeric() {
            stretch.word.is_other = true;
        }
        if !c.is_alphanumeric() && !is_turned(c) {
            stretch.end_word(read);
        }
    }
    stretch.finish(read);
}

/// Words that can be turned, one after another.
#[derive(Default)]
struct Stretch {
    whole: Vec<Read>,
    has_turned: bool,
    word: Word,
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    letters: Vec<Read>,
    has_turned: bool,
    /// Whether it has a letter that cannot be turned.
    is_other: bool,
}

impl Stretch {
    fn push(&mut self, letter: Read) {
        self.word.has_turned |= is_turned(letter.1);
        self.word.letters.push(letter);
    }

    fn end_word(&mut self, read: &mut Vec<Read>) {
        let word = std::mem::take(&mut self.word);
        if word.is_other {
            return self.finish(read);
        }
        self.has_turned |= word.has_turned;
        self.whole.extend(word.letters);
    }

    /// Ends the stretch, and adds it from its last letter to its first.
    fn finish(&mut self, read: &mut Vec<Read>) {
        if !self.word.letters.is_empty() {
            self.end_word(read);
        }
        let mut whole = std::mem::take(&mut self.whole);
        if std::mem::take(&mut self.has_turned) {
            whole.reverse();
            add(&mut whole, read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(original: &str) -> Option<String> {
        reversed(original).map(|folded| folded.text().trim().to_owned())
    }

    #[test]
    fn what_is_turned_is_read_as_it_is_shown() {
        for (text, expected) in [
            (
                "a \u{202E}drowdab",
                Some("drowdab".chars().rev().collect::<String>()),
            ),
            ("a \u{202E}drow\u{202C} here", Some("word".to_owned())),
            ("\u{202E}drow\n\u{202E}kcolb", Some("word block".to_owned())),
            // Turned twice, it is shown as it is written.
            (
                "\u{202E}cba \u{202D}word\u{202C}",
                Some("word abc".to_owned()),
            ),
            ("\u{202D}בלכ", Some("כלב".to_owned())),
            ("\u{202D}word", None),
            ("pɹoʍpɐq", Some("badword".to_owned())),
            ("¡sɹǝpɹnɯ so pɹoʍ ɐ", Some("a word os murders!".to_owned())),
            ("ʌery well", None),
            ("əʌ", None),
            ("an ordinary text", None),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn case_33_a_text_of_nothing_but_controls_is_read_once() {
        for part in [
            "\u{202E}a",
            "\u{202E}\u{202D}",
            "ɐ",
            "ɐ\n",
            "\u{202E}ɐ",
            "\u{202C}a\u{202E}",
        ] {
            let text = part.repeat(100_000 / part.len());
            let read = reversed(&text).map_or(0, |folded| folded.text().len());
            assert!(read <= 3 * text.len(), "{part:?}");
        }
    }
}
