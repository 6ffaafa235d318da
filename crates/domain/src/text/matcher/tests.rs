//! What is found, and what must not be.

use proptest::prelude::*;

use super::*;

fn found(terms: &[&str], bounds: Bounds, text: &str) -> Vec<(usize, String)> {
    let terms = terms.iter().enumerate().map(|(owner, &text)| Term {
        text,
        bounds,
        owner,
    });
    let matcher = Matcher::new(terms).unwrap();
    let readings = Readings::new(text);
    let mut hits = Vec::new();
    matcher.find(&readings, |owner, hit| {
        hits.push((owner, text[readings.original_span(hit.folded)].to_owned()));
        Answer::Enough
    });
    hits
}

#[test]
fn whole_words_are_found_behind_disguises() {
    for text in [
        "blockedword",
        "a BlockedWord.",
        "bl0ckedw0rd",
        "b10ckedword",
        "bl0ck3dw0rd!",
        "BL0CKEDW0RD",
        "b.l.o.c.k.e.d.w.o.r.d",
        "this is a b l o c k e d w o r d here",
        "b-l-o-c-k-e-d-w-o-r-d",
        "blo\u{200B}ckedword",
        "blöckédwörd",
        "blосkеdwоrd",
        "ｂｌｏｃｋｅｄｗｏｒｄ",
        "𝐛𝐥𝐨𝐜𝐤𝐞𝐝𝐰𝐨𝐫𝐝",
        "blooockedworrrd",
        "_blockedword_",
        "«blockedword»",
        "blockedword's",
        "b\u{0336}l\u{0336}o\u{0336}ckedword",
        "нет,blockedword",
    ] {
        assert!(
            !found(&["blockedword"], Bounds::Word, text).is_empty(),
            "{text}"
        );
    }
}

#[test]
fn words_inside_words_are_not_found() {
    for text in [
        "Scunthorpe",
        "class",
        "assess",
        "cl\u{200B}ass",
        "cláss",
        "brass1",
        "gr\u{AD}ass",
        "g r a s s",
        "assassin",
        "passed",
        "c l a s s",
        "as",
        "a55",
        "as soon as",
        "Sсunthorpe",
        "assе",
    ] {
        assert_eq!(found(&["ass", "cunt"], Bounds::Word, text), [], "{text}");
    }
}

#[test]
fn substrings_are_found_on_the_folded_reading_only() {
    assert_eq!(
        found(&["lock"], Bounds::Anything, "unBLÖCKED"),
        [(0, "LÖCK".to_owned())]
    );
    assert_eq!(found(&["lock"], Bounds::Anything, "bl0cked"), []);
}

#[test]
fn phrases_and_scripts_without_spaces_are_found() {
    assert_eq!(found(&["two words"], Bounds::Word, "two  words").len(), 1);
    assert_eq!(found(&["two words"], Bounds::Word, "Two\nWords").len(), 1);
    assert_eq!(found(&["屏蔽"], Bounds::Word, "这是屏蔽词").len(), 1);
    assert_eq!(found(&["запрет"], Bounds::Word, "это ЗАПРЕТ.").len(), 1);
    assert_eq!(found(&["запрет"], Bounds::Word, "запретить").len(), 0);
    assert_eq!(
        found(
            &["금지"],
            Bounds::Word,
            "\u{1100}\u{1173}\u{11B7}\u{110C}\u{1175}"
        )
        .len(),
        1
    );
    assert_eq!(found(&["c++"], Bounds::Word, "in C++, too").len(), 1);
}

#[test]
fn a_word_of_a_script_that_looks_like_latin_is_no_latin_term() {
    for (term, text, count) in [
        ("ho", "Фильм длинный, но хороший", 0),
        ("ho", "я знаю но", 0),
        ("ho", "но", 1),
        ("ho", "you но", 1),
        ("но", "длинный но хороший", 1),
        ("pot", "мой рот болит", 0),
        ("va", "πρέπει να φύγω", 0),
        ("pot", "a рot of gold, мой", 1),
    ] {
        assert_eq!(
            found(&[term], Bounds::Word, text).len(),
            count,
            "{term}: {text}"
        );
    }
}

#[test]
fn overlapping_terms_are_all_found_and_an_owner_can_have_enough() {
    let hits = found(
        &["cat", "cat sat", "sat", "at"],
        Bounds::Word,
        "the cat sat, a cat",
    );
    assert_eq!(hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn terms_of_nothing_visible_are_not_findable() {
    assert!(!Matcher::is_findable("\u{200B} \u{301}"));
    assert!(Matcher::is_findable("🔥"));
}

proptest! {
    #[test]
    fn a_word_is_found_wherever_it_stands_alone_and_hits_are_on_character_boundaries(
        before in "\\PC{0,20}", word in "[a-zA-Z]{3,8}|[а-я]{3,8}|\\p{Han}{1,4}", after in "\\PC{0,20}",
    ) {
        let text = format!("{before} , {word} , {after}");
        let hits = found(&[&word], Bounds::Word, &text);
        prop_assert!(!hits.is_empty());
    }

    #[test]
    fn any_term_in_any_text_is_searched_without_panic(term in "\\PC{1,8}", text in "\\PC{0,60}") {
        found(&[&term], Bounds::Word, &text);
        found(&[&term], Bounds::Anything, &text);
    }
}

#[test]
fn a_state_for_each_prefix() {
    for (texts, states) in [
        (&[][..], 0),
        (&["abc"], 3),
        (&["abd", "abc", "abc"], 4),
        (&["b", "ab", "abc"], 4),
    ] {
        assert_eq!(trie_states(texts), states, "{texts:?}");
    }
}
