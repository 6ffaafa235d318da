//! Tables and properties of the loose reading.

use proptest::prelude::*;

use super::*;
use crate::text::disguise::may_be_disguised;

fn read(text: &str) -> Loose {
    Loose::new(text, One::IsI)
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
        ("blooock", "block"),
        ("b l o c k  t h i s", "block this"),
    ] {
        let reading = read(text);
        assert_eq!(reading.text(), loose);
        assert!(reading.differs(), "{text}");
    }
    assert_eq!(Loose::new("k1ll", One::IsL).text(), "kl");
    assert!(read("k1ll").is_ambiguous());
    assert!(!read("k0ll").is_ambiguous());
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "nothing to see here.",
        "call 555 0137 or 90 or 1,000,000",
        "stop! now! really?",
        "i'm a person | you are too",
        "galaxy a55",
        "plan a b",
        "1 2 3 4 5",
        "屏蔽 词",
        "",
    ] {
        assert!(!read(text).differs(), "{text}");
    }
}

#[test]
fn runs_tell_a_stretched_letter_from_a_doubled_one() {
    let holds = |text: &str, word: &str| {
        let (text, word) = (read(text), read(word));
        text.text()
            .find(word.text())
            .is_some_and(|at| text.holds_word(at..at + word.text().len(), &word.runs()))
    };
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
fn words_begin_and_end_at_the_edges_of_spelled_out_letters() {
    let words_at = |text: &str, word: &str| {
        let reading = read(text);
        let at = reading.text().find(word).unwrap();
        reading.holds_word(at..at + word.len(), &read(word).runs())
    };
    assert!(words_at("b l o c k", "block"));
    assert!(words_at("a b l o c k", "block"));
    assert!(words_at("b l o c k i", "block"));
    assert!(!words_at("g r a s p", "rasp"));
    assert!(!words_at("b l o c k s", "block"));
}

proptest! {
    // Disguises are rare among arbitrary texts.
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_place_leads_back_to_character_boundaries(
        text in "(\\PC|[abi1!3@ .'-]){0,50}", is_l in any::<bool>(),
    ) {
        let reading = Loose::new(&text, if is_l { One::IsL } else { One::IsI });
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
    fn the_quick_look_misses_no_disguise(text in "(\\PC|[a-c15!|@$ .-]){0,12}") {
        let text = crate::text::Folded::new(&text);
        if read(text.text()).differs() {
            prop_assert!(may_be_disguised(text.text()));
        }
    }
}
