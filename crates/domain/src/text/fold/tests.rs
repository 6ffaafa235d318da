//! What folds alike. Every place must lead back to the original.

use proptest::prelude::*;

use super::*;

#[test]
fn what_readers_read_alike_is_folded_alike() {
    for (text, folded) in [
        ("Hello\tWORLD", "hello world"),
        ("blo\u{200B}ck\u{AD}ed", "blocked"),
        ("b\u{0336}l\u{0336}öckéd", "blocked"),
        ("ｂｌｏｃｋ 𝐛𝓵𝔬𝖼𝗸 ⓑⓛⓞⓒⓚ 🅑🅛🅞🅒🅚", "block block block block"),
        ("Ьlосkеd wоrd ꮪtupid ꓡoser", "blocked word stupid loser"),
        ("ΒLΟCΚ", "block"),
        ("ﬁne ﬀ", "fine ff"),
        ("STRASSE straße", "strasse strasse"),
        ("İstanbul ısı", "istanbul isi"),
        ("한국어 각", "한국어 각"),
        ("\u{1112}\u{1161}\u{11AB}", "한"),
        ("がぎ か\u{3099}", "がぎ が"),
        ("हिन्दी", "हिन्दी"),
        ("שָׁלוֹם", "שלומ"),
        ("ВОДА вода", "boдa boдa"),
        ("ΜΑΛΆΚΑΣ μαλάκας", "maλakaσ maλakaσ"),
        ("كـــلب ﻛﻠﺐ", "كلب كلب"),
        ("ممکن ممكن علی علي على", "ممكن ممكن على على على"),
        ("ƀąđŵőřđ ɍɇⱥƈⱨ", "badword reach"),
        ("ᗷᗩᗪᗯOᖇᗪ", "badword"),
        ("bad\u{FFF9}wo\u{8}rd", "badword"),
        ("a\u{2800}b", "a b"),
        ("ᾳ", "a"),
        ("don’t — “so”", "don't - \"so\""),
        ("", ""),
    ] {
        assert_eq!(Folded::new(text).text(), folded);
    }
}

#[test]
fn a_place_is_found_again_in_the_original() {
    let original = "Ünder: b\u{200B}lö\u{0301}ck!";
    let folded = Folded::new(original);
    let at = folded.text().find("block").unwrap();
    let span = folded.original_span(at..at + 5);
    assert_eq!(&original[span.clone()], "b\u{200B}lö\u{0301}ck");
    assert_eq!(folded.folded_span(&span), at..at + 5);

    // A syllable that was composed stands for all its parts.
    let parts = "\u{1112}\u{1161}\u{11AB}";
    let folded = Folded::new(parts);
    assert_eq!(folded.original_span(0..folded.text().len()), 0..parts.len());
}

proptest! {
    #[test]
    fn every_place_of_any_text_leads_back_to_character_boundaries(
        text in "(\\PC|[a-c \u{200B}\u{0301}\u{1112}\u{1161}\u{11AB}がﬁ]){0,40}",
    ) {
        let folded = Folded::new(&text);
        let places: Vec<usize> =
            folded.text().char_indices().map(|(at, _)| at).chain([folded.text().len()]).collect();
        for (at, &start) in places.iter().enumerate() {
            for &end in &places[at + 1..] {
                let span = folded.original_span(start..end);
                prop_assert!(text.get(span.clone()).is_some_and(|part| !part.is_empty()));
                let back = folded.folded_span(&span);
                prop_assert!(back.start <= start && end <= back.end);
            }
        }
    }

    #[test]
    fn ascii_is_folded_in_one_go_as_it_is_character_by_character(
        text in "([a-zA-Z0-9 .\n\u{8}]|[a-c]{6}|[а-г]|[αβ]|ძ|é){0,40}",
    ) {
        let fast = Folded::new(&text);
        let slow = Folded::of(text.len(), text.char_indices().map(|(at, c)| (at, c, c)));
        prop_assert_eq!(fast.text(), slow.text());
        let mixed = |folded: &Folded| folded.mixed().iter().map(Mixed::at).collect::<Vec<_>>();
        prop_assert_eq!(mixed(&fast), mixed(&slow));
        for at in 0..fast.text().len() {
            prop_assert_eq!(fast.original_span(at..at + 1), slow.original_span(at..at + 1));
        }
    }

    #[test]
    fn folding_again_changes_nothing(text in "\\PC{0,60}") {
        let once = Folded::new(&text);
        let twice = Folded::new(once.text());
        prop_assert_eq!(twice.text(), once.text());
    }
}
