//! Small words that some languages write together with the next or the last word: Arabic conjunctions,
//! prepositions and the article, and Korean particles and calls.
//!
//! A whole word may have them attached. Only such small words count, because a longer part makes
//! another word: Korean 시발 is an insult, and 시발점 is a starting point.

use std::ops::Range;

use super::word_boundary::{is_arabic, is_hangul};

/// The fewest letters of an Arabic word that prefixes are looked for at, and of a Korean one in
/// syllables. With fewer, letter and word often make another word.
const FEWEST_ARABIC: usize = 3;
const FEWEST_HANGUL: usize = 2;

/// The longest prefix or particles, in characters.
const LONGEST: usize = 6;

/// "And" or "so" come first.
const CONJUNCTIONS: [char; 2] = ['و', 'ف'];
/// "In", "like", "for", "the", and their combinations.
const PREFIXES: [&str; 8] = ["", "ب", "ك", "ل", "ال", "بال", "كال", "لل"];

/// Calls and strengthening words before a Korean word.
const CALLS: [&str; 33] = [
    "야", "아", "어", "오", "와", "워", "헐", "아이", "아오", "에이", "어휴", "아니", "이", "그",
    "저", "개", "이런", "저런", "그런", "왜", "너", "니", "네", "내", "또", "참", "좀", "걍",
    "미친", "존나", "졸라", "진짜", "완전",
];
/// Particles and the copula after a Korean word. Up to three follow each other.
const PARTICLES: [&str; 66] = [
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "에게",
    "에게서",
    "에서",
    "께",
    "께서",
    "한테",
    "로",
    "으로",
    "와",
    "과",
    "랑",
    "이랑",
    "하고",
    "도",
    "만",
    "까지",
    "부터",
    "마다",
    "조차",
    "마저",
    "밖에",
    "뿐",
    "보다",
    "처럼",
    "같이",
    "같은",
    "라고",
    "이라고",
    "란",
    "이란",
    "라는",
    "이라는",
    "라도",
    "이라도",
    "나",
    "이나",
    "야",
    "아",
    "여",
    "이여",
    "이야",
    "들",
    "님",
    "씨",
    "네",
    "요",
    "이요",
    "다",
    "이다",
    "입니다",
    "인",
    "예요",
    "이에요",
    "였다",
    "이었다",
    "놈",
    "새끼",
    "년아",
];
const MOST_PARTICLES: usize = 3;

/// Whether only a small word stands between the beginning of a word and a term in it. `is_start` tells
/// whether a word begins at a place.
pub(super) fn is_begun(text: &str, at: &Range<usize>, is_start: impl Fn(usize) -> bool) -> bool {
    if text.as_bytes()[at.start].is_ascii() {
        return false;
    }
    let term = &text[at.clone()];
    let is_own: fn(char) -> bool = match term.chars().next() {
        Some(first) if is_arabic(first) && has_letters(term, FEWEST_ARABIC) => is_arabic,
        Some(first) if is_hangul(first) && has_letters(term, FEWEST_HANGUL) => is_hangul,
        Some(_) | None => return false,
    };
    let mut start = at.start;
    for c in text[..at.start]
        .chars()
        .rev()
        .take(LONGEST)
        .take_while(|c| is_own(*c))
    {
        start -= c.len_utf8();
        if is_start(start) {
            let small = &text[start..at.start];
            return if is_hangul(c) {
                CALLS.contains(&small)
            } else {
                let rest = small.strip_prefix(CONJUNCTIONS);
                PREFIXES.contains(&small) || rest.is_some_and(|rest| PREFIXES.contains(&rest))
            };
        }
    }
    false
}

/// Whether only particles stand between a term and the end of its word. `is_end` tells whether a word
/// ends at a place.
pub(super) fn is_ended(text: &str, at: &Range<usize>, is_end: impl Fn(usize) -> bool) -> bool {
    if text.as_bytes()[at.end - 1].is_ascii() {
        return false;
    }
    let term = &text[at.clone()];
    if !(term.ends_with(is_hangul) && has_letters(term, FEWEST_HANGUL)) {
        return false;
    }
    let mut end = at.end;
    for c in text[at.end..]
        .chars()
        .take(LONGEST)
        .take_while(|c| is_hangul(*c))
    {
        end += c.len_utf8();
        if is_end(end) {
            return are_particles(&text[at.end..end], MOST_PARTICLES);
        }
    }
    false
}

/// Whether a term has at least so many characters. Takes the same time for every term.
fn has_letters(term: &str, fewest: usize) -> bool {
    term.chars().nth(fewest - 1).is_some()
}

/// Whether a text is a row of at most so many particles. It has at most [`LONGEST`] syllables, so the
/// ways to divide it are few.
fn are_particles(text: &str, most: usize) -> bool {
    text.is_empty()
        || (most > 0
            && PARTICLES.iter().any(|particle| {
                let rest = text.strip_prefix(particle);
                rest.is_some_and(|rest| are_particles(rest, most - 1))
            }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_attached_and_others_make_another_word() {
        for (text, term, expected) in [
            ("كلب", "كلب", true),
            ("والكلب", "كلب", true),
            ("للكلب", "كلب", true),
            ("وبالكلب", "كلب", true),
            ("فكلب", "كلب", true),
            ("كلبان", "كلب", false),
            ("مكلب", "كلب", false),
            ("اكلب", "كلب", false),
            ("وكس", "كس", false),
            ("야시발아", "시발", true),
            ("시발은요", "시발", true),
            ("시발놈들아", "시발", true),
            ("시발점", "시발", false),
            ("다시발표", "시발", false),
            ("이시발점", "시발", false),
        ] {
            let start = text.find(term).unwrap();
            let at = start..start + term.len();
            let begins = start == 0 || is_begun(text, &at, |place| place == 0);
            let ends = at.end == text.len() || is_ended(text, &at, |place| place == text.len());
            assert_eq!(begins && ends, expected, "{text}");
        }
    }
}
