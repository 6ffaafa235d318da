//! Tables and properties of the loose reading.

use proptest::prelude::*;

use super::*;
use crate::text::Folded;
use crate::text::disguised_parts::windows;

fn read(text: &str, choice: Choice) -> Loose {
    Loose::new(text, whole(text), choice).0
}

fn whole(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

/// Whether a text contains a term as a whole word.
fn holds(text: &str, term: &str) -> bool {
    let term = Loose::of_term(term);
    [Choice::First, Choice::Second].into_iter().any(|choice| {
        let text = read(text, choice);
        text.text()
            .match_indices(term.text())
            .any(|(at, found)| text.holds_word(at..at + found.len(), &term.runs()))
    })
}

#[test]
fn disguises_are_undone() {
    for (text, loose) in [
        ("bl0ck3dw0rd", "blockedword"),
        ("b10ck", "biock"),
        ("$h!t h@t", "shit hat"),
        ("b.l.o.c.k!", "block!"),
        ("b l o c k now", "block now"),
        ("b - l - 0 - c - k", "block"),
        ("b.l-o_c k", "block"),
        ("blooock", "block"),
        ("b l o c k  t h i s", "block this"),
        ("bl*ock bl🔥ock bl-o-ck b[l]ock", "block block block block"),
        ("fu.nk fu.nky.", "funk fu.nky."),
        ("|\\/|ock |_|p 8|_|(|<", "mock up buk"),
        ("🇧🇱🇴🇨🇰 🇧🇱", "block 🇧🇱"),
    ] {
        assert_eq!(read(text, Choice::First).text(), loose);
    }
    assert_eq!(read("k1ll", Choice::Second).text(), "kl");
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "nothing to see here.",
        "call 555 0137 or 90 or 1,000,000",
        "stop! now! really?",
        "i'm a person | you are to",
        "the pen.is blue",
        "plan a b",
        "1 2 3 4 5",
        "屏蔽 词",
        "",
    ] {
        assert_eq!(
            read(text, Choice::First).text(),
            text.replace("ll", "l").replace("ee", "e"),
            "{text}"
        );
    }
}

#[test]
fn only_where_it_could_read_differently_it_is_read() {
    for text in [
        "nothing to see here. it's (really) so, is it?",
        "call 555 0137 or 1,000 or 90%!",
        "plan a b",
    ] {
        let read = readings(text, windows(text, 0)).count();
        assert_eq!(read, 0, "{text}");
    }
    let text = format!("{} bl0ck {}", "word ".repeat(1_000), "word ".repeat(1_000));
    let lengths: Vec<_> = readings(&text, windows(&text, 5))
        .map(|loose| loose.text().len())
        .collect();
    assert!(matches!(lengths[..], [1..=100]), "{lengths:?}");
}

#[test]
fn case_33_a_text_of_nothing_but_disguises_is_read_twice_at_most() {
    for part in [
        "1 ",
        "a1",
        "a b ",
        "a.b",
        "a!",
        "|\\/|",
        "🇦",
        "a🔥",
        "aaaa ",
        "b.l-o c k ",
        "((",
        "a|b|",
        "!!!a",
        "1a.",
    ] {
        let text = part.repeat(100_000 / part.len());
        let windows = windows(&text, 100);
        assert!(
            windows.is_sorted_by(|one, next| one.end < next.start),
            "{part}"
        );
        let read: usize = readings(&text, windows)
            .map(|loose| loose.text().len())
            .sum();
        assert!(read <= 2 * text.len(), "{part}: {read}");
    }
}

#[test]
fn runs_tell_a_stretched_letter_from_a_doubled_one() {
    for (text, word, expected) in [
        ("good", "god", false),
        ("god", "good", false),
        ("gooood", "good", true),
        ("gooood", "god", true),
        ("fuun", "fun", true),
        ("asss", "ass", true),
        ("as", "ass", false),
        ("two   words", "two words", true),
    ] {
        assert_eq!(holds(text, word), expected, "{text} {word}");
    }
}

#[test]
fn words_begin_and_end_at_the_edges_of_what_was_joined() {
    for (text, word, expected) in [
        ("b l o c k", "block", true),
        ("a b l o c k", "block", true),
        ("b l o c k i", "block", true),
        ("g r a s p", "rasp", false),
        ("b l o c k s", "block", false),
        ("un-bl0ck", "block", true),
        ("bl0ck123", "block", true),
        ("123bl0ck", "block", true),
        ("cl@ss", "ass", false),
        ("🇬🇷🇦🇸🇵", "rasp", false),
        ("idiot77", "idiot", true),
    ] {
        assert_eq!(holds(text, word), expected, "{text} {word}");
    }
}

proptest! {
    // Disguises are rare in random texts.
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_place_leads_back_to_character_boundaries(
        text in "(\\PC|[abi1!3@ .'/|\\\\-]|🇧|🔥){0,50}", second in any::<bool>(),
    ) {
        let reading = read(&text, if second { Choice::Second } else { Choice::First });
        let places: Vec<usize> = reading.text().char_indices().map(|(at, _)| at)
            .chain([reading.text().len()]).collect();
        for (at, &start) in places.iter().enumerate() {
            for &end in &places[at + 1..] {
                let span = reading.folded_span(start..end);
                prop_assert!(text.get(span).is_some_and(|part| !part.is_empty()));
            }
        }
        prop_assert_eq!(reading.cells.len(), reading.text().len());
    }

    #[test]
    fn the_quick_look_misses_no_disguise(
        before in "[a-c ]{0,60}", text in "(\\PC|[a-c15!|@$ ./*'-]|🇧){0,12}", after in "[a-c ]{0,60}", term in "[a-c]{3,5}",
    ) {
        let text = Folded::new(&format!("{before}{text}{after}"));
        let term = Loose::of_term(&term);
        let found = |windows: Vec<Range<usize>>| {
            readings(text.text(), windows).any(|loose| {
                loose.text().match_indices(term.text())
                    .any(|(at, found)| loose.holds_word(at..at + found.len(), &term.runs()))
            })
        };
        let is_plain = text.text().contains(term.text());
        if found(whole(text.text())) && !is_plain {
            prop_assert!(found(windows(text.text(), 5)));
        }
    }
}
