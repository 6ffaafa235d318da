//! base64 as programs write it, and as they damage it.

use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

const LIMIT: usize = 10_000;

fn decode(text: &str) -> Result<Vec<u8>, Undecodable> {
    Encoded::of(text)?.decode(LIMIT)
}

fn mistake(text: &str) -> String {
    match decode(text) {
        Err(Undecodable::Invalid(message)) => message,
        other => panic!("{text}: {other:?}"),
    }
}

/// Has all digits of both alphabets, and every length of the last group.
fn files() -> impl Iterator<Item = Vec<u8>> {
    let bytes = [0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff, 0x00, 0x10, 0x83];
    let bytes: Vec<u8> = bytes
        .into_iter()
        .chain(0..=255)
        .cycle()
        .take(9_000)
        .collect();
    [1, 2, 3, 57, 58, 3_071, 3_072, 3_073, 6_144, 9_000]
        .into_iter()
        .map(move |length| bytes[..length].to_vec())
}

fn in_lines(text: &str, width: usize, end: &str) -> String {
    let lines = text.as_bytes().chunks(width);
    lines
        .map(|line| str::from_utf8(line).unwrap().to_owned() + end)
        .collect()
}

#[test]
fn the_same_file_is_read_however_it_is_written() {
    for file in files() {
        let standard = STANDARD.encode(&file);
        let written = [
            standard.clone(),
            STANDARD_NO_PAD.encode(&file),
            URL_SAFE.encode(&file),
            URL_SAFE_NO_PAD.encode(&file),
            in_lines(&standard, 76, "\n"),
            in_lines(&standard, 64, "\r\n"),
            in_lines(&URL_SAFE.encode(&file), 61, "\n\t"),
            in_lines(&standard, 1, " "),
            format!("\n\n  {standard}\u{c}"),
            format!("data:image/jpeg;base64,{standard}"),
            format!("DATA:image/jpeg;BASE64,{standard}"),
            format!("Data:Image/JPEG;Base64,{}", in_lines(&standard, 76, "\n")),
            format!("data:;base64,{}", URL_SAFE_NO_PAD.encode(&file)),
            format!("data:image/png;charset=utf-8;name=a.png; base64 ,{standard}"),
            format!(" \ndata:image/jpeg;base64,{standard}\n"),
            format!("data:image/jpeg;base64,{}", standard.replace('=', "%3D")),
            format!(
                "data:image/jpeg;base64,{}",
                standard
                    .replace('+', "%2b")
                    .replace('/', "%2F")
                    .replace('=', "%3d")
            ),
            format!(
                "data:image/jpeg;base64,{}",
                in_lines(&standard, 76, "%0D%0A")
            ),
        ];
        for text in written {
            assert!(decode(&text) == Ok(file.clone()), "{text}");
        }
    }
}

#[test]
fn a_mistake_is_named_with_its_mend() {
    for (text, message) in [
        ("%%%", "is not base64: its character 1 is '%'"),
        ("AAAA AAA!", "is not base64: its character 9 is '!'"),
        ("AAé=", "is not base64: its character 3 is 'é'"),
        ("AAAA\u{0}", r"is not base64: its character 5 is '\0'"),
        (
            "AAAA\u{1b}[2J",
            r"is not base64: its character 5 is '\u{1b}'",
        ),
        (
            "https://example.com/a.png",
            "is a URL: give it in content_url",
        ),
        (
            "AA==AAAA",
            "is not base64: it goes on after its padding (=)",
        ),
        (
            "AAAA=AAA",
            "is not base64: it goes on after its padding (=)",
        ),
        (
            "AAAAA",
            "is not base64: it has one character too many or was cut off, because the last of its groups of four has one",
        ),
        ("AA===", "is not base64: its end is damaged or was cut off"),
        ("AB==", "is not base64: its end is damaged or was cut off"),
        ("====", "is not base64: its end is damaged or was cut off"),
        (" \n\t", "is not base64: it has only white space"),
        (
            "data:image/png,AAAA",
            "is a data URI without ;base64 before its comma: it must be data:image/...;base64,...",
        ),
        (
            "data:image/png;base64x,AAAA",
            "is a data URI without ;base64 before its comma: it must be data:image/...;base64,...",
        ),
        (
            "data:image/png;base64",
            "is a data URI without a comma: it must be data:image/...;base64,...",
        ),
    ] {
        assert_eq!(mistake(text), message, "{text}");
    }
    // An empty file.
    assert_eq!(decode("data:image/png;base64, "), Ok(Vec::new()));
    // A percent sign that escapes nothing.
    assert!(mistake("data:image/png;base64,AA%zz").contains("escapes no character"));
    assert!(mistake("AA%3D%3D").contains("character 3 is '%'"));
}

#[test]
fn padding_at_the_end_of_a_chunk_ends_the_file() {
    let chunk = format!("{}==", "A".repeat(CHUNK - 2));
    assert!(decode(&format!("\n{chunk}")).is_ok());
    assert!(mistake(&format!("\n{chunk}AAAA")).contains("goes on after its padding"));
    assert!(mistake(&format!("\n{chunk}====")).contains("damaged"));
}

#[test]
fn only_decoded_bytes_count_towards_the_limit() {
    let file = vec![7; LIMIT];
    let text = STANDARD.encode(&file);
    assert!(decode(&in_lines(&text, 1, "\n\n\n\n")) == Ok(file.clone()));
    assert!(decode(&format!("{}{text}", " ".repeat(1 << 20))) == Ok(file));
    let larger = STANDARD.encode(vec![7; LIMIT + 3]);
    assert_eq!(decode(&larger), Err(Undecodable::TooLarge));
    assert_eq!(
        decode(&in_lines(&larger, 76, "\n")),
        Err(Undecodable::TooLarge)
    );
}

#[test]
fn sixteen_mebibytes_of_white_space_are_read_once_and_take_no_memory() {
    let began = std::time::Instant::now();
    assert!(mistake(&" ".repeat(16 << 20)).contains("only white space"));
    assert!(mistake(&format!("{}!", "\n".repeat(16 << 20))).contains("is '!'"));
    // Debug builds are slow; quadratic time would take days.
    assert!(began.elapsed().as_secs() < 60);
}

proptest! {
    #[test]
    fn white_space_anywhere_changes_nothing(
        file in prop::collection::vec(any::<u8>(), 1..200),
        places in prop::collection::vec((any::<prop::sample::Index>(), "[ \t\r\n\u{c}]{1,3}"), 0..20),
        in_urls in any::<bool>(),
    ) {
        let mut text = if in_urls { URL_SAFE_NO_PAD.encode(&file) } else { STANDARD.encode(&file) };
        for (place, white) in places {
            text.insert_str(place.index(text.len() + 1), &white);
        }
        prop_assert_eq!(decode(&text), Ok(file));
    }

    #[test]
    fn whatever_is_given_there_is_a_file_or_a_mistake(text in r"(data:;base64,)?[A-Da+/_=%0-9 \n!é-]{0,40}") {
        if let Err(Undecodable::Invalid(message)) = decode(&text) {
            prop_assert!(message.starts_with("is "), "{}", message);
        }
    }
}
