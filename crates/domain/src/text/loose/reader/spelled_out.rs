//! Words that are spelled out: "b - l - o - c - k".

use std::ops::Range;

use super::Reading;

/// The fewest single letters in a row that are read as a spelled-out word.
const SPELLED_LETTERS: usize = 3;

/// The same, if the separators differ.
const SPELLED_UNEVENLY: usize = 4;

/// The widest separation of letters, in characters: "b - l - o".
const WIDEST_GAP: usize = 3;

impl Reading<'_> {
    /// The single letters in a row from a word on: three with equal separators, or four with any.
    pub(super) fn spelled_from(&self, first: Range<usize>) -> Vec<usize> {
        let letters = self.singles_from(first.clone(), true);
        if letters.len() >= SPELLED_LETTERS {
            return letters;
        }
        let mut letters = self.singles_from(first, false);
        if letters.len() < SPELLED_UNEVENLY {
            letters.clear();
        }
        letters
    }

    fn singles_from(&self, first: Range<usize>, evenly: bool) -> Vec<usize> {
        let mut letters = Vec::new();
        let mut before: Option<Range<usize>> = None;
        let mut word = Some(first);
        while let Some(single) = word.filter(|word| word.len() == 1) {
            if let Some(&last) = letters.last() {
                let gap = last + 1..single.start;
                let is_alike =
                    before.is_none_or(|before| self.signs(before).eq(self.signs(gap.clone())));
                let is_wide = gap.len() > 1 && self.signs(gap.clone()).all(|c| c == ' ');
                if !self.may_separate(gap.clone()) || (!is_alike && (evenly || is_wide)) {
                    break;
                }
                before = Some(gap);
            }
            letters.push(single.start);
            word = self.word_from(single.end);
        }
        letters
    }

    pub(super) fn signs(&self, gap: Range<usize>) -> impl Iterator<Item = char> {
        self.glyphs[gap].iter().map(|glyph| glyph.c)
    }

    /// Whether a gap can separate the letters of one word: it is short, and contains no apostrophe.
    pub(super) fn may_separate(&self, gap: Range<usize>) -> bool {
        (1..=WIDEST_GAP).contains(&gap.len()) && !self.signs(gap).any(|c| c == '\'')
    }

    /// Takes spelled-out letters as one word. The word begins at the first letter, or after a
    /// leading "a" or "i", which are words of their own, or at a space among other separators. The
    /// end works the same way.
    pub(super) fn join(&mut self, letters: &[usize]) {
        let is_own_word = |at: usize| matches!(self.glyphs[at].c, 'a' | 'i');
        let last = letters.len() - 1;
        let own_first = is_own_word(letters[0]);
        let own_last = is_own_word(letters[last]);
        let is_space = |nth: usize| {
            self.signs(letters[nth] + 1..letters[nth + 1])
                .any(|c| c == ' ')
        };
        let spaces: Vec<bool> = (0..last).map(is_space).collect();
        let is_mixed = spaces.contains(&true) && spaces.contains(&false);
        for (nth, &at) in letters.iter().enumerate() {
            let c = self.letter(at);
            let starts = nth == 0 || (nth == 1 && own_first) || (is_mixed && spaces[nth - 1]);
            let ends = nth == last || (nth + 1 == last && own_last) || (is_mixed && spaces[nth]);
            self.push(at, c, starts, ends);
        }
    }
}
