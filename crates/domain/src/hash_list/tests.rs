//! Which lines of a file are read, passed over or refused.

use super::*;

const HASH: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";

fn read(line: &str) -> Result<Option<Line>, LineFault> {
    parse_line(line.as_bytes(), HashAlgorithm::Pdq)
}

#[test]
fn a_line_is_a_hash_and_perhaps_a_word_about_it() {
    let upper = HASH.to_uppercase();
    for (line, is_pdq, note) in [
        (HASH.to_owned(), true, None),
        (format!("{upper}\r"), true, None),
        (format!("\u{feff}{HASH},"), true, None),
        (
            format!(" {HASH} , from a report, twice "),
            true,
            Some("from a report, twice"),
        ),
        (
            format!("\"{HASH}\",\"said \"\"no\"\"\""),
            true,
            Some("said \"no\""),
        ),
        (format!("pdq:{HASH},a:b"), true, Some("a:b")),
        (format!("SHA256: {HASH}"), false, None),
    ] {
        let read = read(&line).unwrap().unwrap();
        assert_eq!(read.hashes.pdq().is_some(), is_pdq, "{line}");
        assert_eq!(read.hashes.sha256().is_some(), !is_pdq, "{line}");
        assert_eq!(read.note.as_ref().map(Reason::as_str), note, "{line}");
    }
    let bare = parse_line(HASH.as_bytes(), HashAlgorithm::Sha256);
    let sha256 = bare.unwrap().unwrap().hashes.sha256();
    assert_eq!(sha256, Some(HASH.parse().unwrap()));
}

#[test]
fn lines_that_say_nothing_are_passed_over() {
    for line in ["", "  \r", "# from the exchange", "\u{feff}"] {
        assert_eq!(read(line), Ok(None), "{line:?}");
    }
}

#[test]
fn a_line_without_a_hash_is_refused() {
    let long = format!("{HASH},{}", "x".repeat(MAX_LINE_BYTES));
    let wordy = format!("{HASH},{}", "x".repeat(1_001));
    for (line, fault) in [
        ("hash,note", LineFault::NoHash),
        (&HASH[1..], LineFault::NoHash),
        (",note", LineFault::NoHash),
        ("d41d8cd98f00b204e9800998ecf8427e", LineFault::NoHash),
        (
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            LineFault::UnknownKind,
        ),
        (&wordy, LineFault::Note),
        (&format!("{HASH},a\0"), LineFault::Note),
        (&long, LineFault::TooLong),
    ] {
        assert_eq!(read(line), Err(fault), "{line}");
    }
    let bytes = [HASH.as_bytes(), b",\xff"].concat();
    let read = parse_line(&bytes, HashAlgorithm::Pdq);
    assert_eq!(read, Err(LineFault::NotUnicode));
}
