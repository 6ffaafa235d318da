//! Sentences of other languages, and English as people chat. They were written for these tests. The
//! weights were not trained with them, except that common short texts ("ok") occur everywhere.

use proptest::prelude::*;

use super::*;

/// A language's name, and its sentences, one a line.
type Table = (&'static str, &'static str);

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("sentences/", $name, ".txt")))),*]
    };
}

const LANGUAGES: [Table; 32] = tables![
    "albanian",
    "arabic",
    "catalan",
    "chinese",
    "croatian",
    "czech",
    "danish",
    "dutch",
    "finnish",
    "french",
    "german",
    "hindi",
    "hungarian",
    "indonesian",
    "italian",
    "japanese",
    "korean",
    "norwegian",
    "polish",
    "portuguese",
    "romanian",
    "romanised_arabic",
    "romanised_greek",
    "romanised_hindi",
    "romanised_russian",
    "russian",
    "spanish",
    "swahili",
    "swedish",
    "tagalog",
    "turkish",
    "vietnamese",
];

const ENGLISH: &str = include_str!("sentences/english.txt");

/// A kilobyte of plain English.
const PAGE: &str = "We met at the station yesterday and walked along the river until it got dark. The \
    shops were closed, so we had soup at home and talked about the trip next month. My brother wants \
    to drive, but the train is cheaper and you can read on the way. If the weather stays like this, we \
    could also go by bike. Please let me know what you think before Friday, because the tickets get \
    more expensive every day. The last time we waited too long and had to pay twice as much. Mum says \
    hello and asks whether you still have her blue umbrella. I told her that you would bring it back \
    soon. The dog is fine again, he only ate something bad in the park. The doctor gave him some drops \
    and now he sleeps all day. Work is busy as always, nobody knows when the new office will be ready. \
    They said in spring, but I doubt it. Anyway, see you on Sunday, and do not forget the photos from \
    the wedding. ";

/// Sentences that must be found between English ones.
const HIDDEN: [&str; 4] = [
    "Ich weiß wo du wohnst und ich bringe dich um. ",
    "Te voy a matar, hijo de puta. ",
    "Я знаю, где ты живёшь, и убью тебя. ",
    "我知道你住在哪里，我要杀了你。",
];

fn is_foreign(text: &str) -> bool {
    !super::super::is_mostly_latin(text) || !is_readable(text)
}

#[test]
fn no_sentence_of_another_language_is_readable() {
    let mut missed = Vec::new();
    for (language, sentences) in LANGUAGES {
        assert!(sentences.lines().count() >= 10, "{language}");
        for sentence in sentences.lines() {
            if !is_foreign(sentence) {
                missed.push(format!("{language}: {sentence}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}: {missed:#?}", missed.len());
}

#[test]
fn capitals_and_missing_marks_do_not_hide_a_language() {
    for sentence in [
        "ICH BRINGE DICH UM",
        "TE VOY A MATAR",
        "Te Voy A Matar",
        "ich weiss nicht was du meinst",
        "que tengas un buen dia manana",
        "I\u{200B}ch bri\u{200B}nge dich um",
        "𝐈𝐜𝐡 𝐛𝐫𝐢𝐧𝐠𝐞 𝐝𝐢𝐜𝐡 𝐮𝐦",
        "Iсh bringе diсh um, du Huгеnsohn",
        "#ich #bringe #dich #um",
        "ich.bringe.dich.um",
    ] {
        assert!(is_foreign(sentence), "{sentence}");
    }
}

#[test]
fn english_as_people_chat_is_readable() {
    let mut unread = Vec::new();
    for text in ENGLISH.lines() {
        if is_foreign(text) {
            unread.push(text);
        }
    }
    assert!(unread.is_empty(), "{unread:#?}");
}

#[test]
fn what_has_no_language_is_readable() {
    for text in [
        "",
        " ",
        "12345",
        "1,299.00",
        "🔥🔥",
        "https://example.com/wie-geht-es-dir-heute-mein-freund",
        "www.ich-bringe-dich-um.example",
        "@ich_bringe_dich_um",
        "mail an.mich.bitte@example.de",
        "018f3c2e-7a91-7c55-b0a4-5f1e2d3c4b5a",
        "aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Q=",
        "site_4fGh7JkLmN0pQrStUvWxYz12",
        "k1ll y0u",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "!!!???",
    ] {
        assert!(!is_foreign(text), "{text}");
    }
}

#[test]
fn a_sentence_of_another_language_in_a_long_english_text_is_not_missed() {
    let long = PAGE.repeat(20);
    assert!(!is_foreign(&long));
    let middle = long.len() / 2;
    let middle = middle + long[middle..].find(". ").unwrap() + 2;
    for sentence in HIDDEN {
        for at in [0, middle, long.len()] {
            let mixed = format!("{}{sentence}{}", &long[..at], &long[at..]);
            assert!(is_foreign(&mixed), "{sentence} at {at}");
        }
    }
}

#[test]
fn names_and_borrowed_words_do_not_make_english_unreadable() {
    for part in [
        "Jürgen Müller from Düsseldorf called. ",
        "I ordered crème brûlée and a café au lait. ",
        "We met Zlatan Ibrahimović and Robert Lewandowski. ",
        "She said gracias and I said de nada. ",
        "My abuela makes the best enchiladas. ",
        "The word for it is Schadenfreude. ",
        "He wrote привет on the card. ",
        "Her name is 田中さくら. ",
    ] {
        let mixed = format!("{}{part}{}", &PAGE[..300], &PAGE[300..]);
        assert!(!is_foreign(&mixed), "{part}");
        assert!(!is_foreign(part), "{part}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_the_same_again(text in "(\\PC|ich |you |'|\u{300}|\u{200B}|а){0,60}") {
        prop_assert_eq!(is_readable(&text), is_readable(&text));
    }

    #[test]
    fn english_before_and_after_does_not_hide_a_sentence(
        before in 0..60_usize, after in 0..60_usize, sentence in 0..HIDDEN.len(),
    ) {
        let english: Vec<_> = PAGE.split(' ').collect();
        let (before, after) = (english[..before].join(" "), english[..after].join(" "));
        let text = format!("{before} {} {after}", HIDDEN[sentence]);
        prop_assert!(is_foreign(&text), "{}", text);
    }
}

/// `cargo test --release -p gatehouse-domain -- --ignored --nocapture time_for`
#[test]
#[ignore = "prints a time, tests nothing"]
fn time_for_a_kilobyte() {
    for (name, text) in [
        ("English", PAGE.repeat(100)),
        ("100 KB without spaces", "ab".repeat(51_200)),
        ("links", "https://example.com/a ".repeat(4_600)),
        ("accents", " naïve café".repeat(8_000)),
    ] {
        let start = std::time::Instant::now();
        let rounds = 20_u32;
        for _ in 0..rounds {
            std::hint::black_box(is_readable(std::hint::black_box(&text)));
        }
        let each = start.elapsed() / rounds;
        let kilobytes = f64::from(u32::try_from(text.len()).unwrap()) / 1024.0;
        println!("{name}: {:.1} µs/KB", each.as_secs_f64() * 1e6 / kilobytes);
    }
}
