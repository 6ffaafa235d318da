//! What commands print. Files, answers of servers and rows of the database come from anyone, so characters that a terminal
//! obeys, that change the order of the text or that are invisible are printed escaped, and quotations are short.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use serde::Serialize;

/// The most characters of a message, and of a quotation in it.
const LONGEST_LINE: usize = 4_000;
const LONGEST_QUOTATION: usize = 80;

/// Prints whole lines, the result of a command.
///
/// # Errors
/// The standard output cannot be written to.
pub(crate) fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(printable(text).as_bytes())
}

/// Prints JSON and a line break.
///
/// # Errors
/// As of [`print`].
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = json(serde_json::to_string(value)?);
    Ok(writeln!(io::stdout(), "{json}")?)
}

/// Prints a line that is no result to the standard error. Nobody may be reading.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{}", line(text));
}

/// Escapes control characters except line breaks, and characters that make a text look different from what it says.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push_printable(&mut shown, c);
    }
    shown
}

fn push_printable(shown: &mut String, c: char) {
    if c != '\n' && is_unprintable(c) {
        shown.extend(c.escape_default());
    } else {
        shown.push(c);
    }
}

/// The same on one line that is not too long.
pub(crate) fn line(text: &str) -> String {
    shortened(&text.replace('\n', " "), LONGEST_LINE)
}

/// A few characters of what somebody else wrote, to recognise it.
pub(crate) fn quoted(text: &str) -> String {
    format!(
        "`{}`",
        shortened(&text.replace('\n', "\\n"), LONGEST_QUOTATION)
    )
}

/// At most this many characters with their escapes, none of which is cut in half.
fn shortened(text: &str, most: usize) -> String {
    let (mut shown, mut length) = (String::new(), 0);
    for c in text.chars() {
        let before = shown.len();
        push_printable(&mut shown, c);
        length += shown[before..].chars().count();
        if length > most {
            shown.truncate(before);
            shown.push_str("... (cut)");
            break;
        }
    }
    shown
}

/// The same JSON, in which strings have escapes in place of such characters.
pub(crate) fn json(json: String) -> String {
    // It has line breaks between its values only.
    let is_plain = |c: char| c == '\n' || !is_unprintable(c);
    if json.chars().all(is_plain) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_plain(c) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Whether a terminal obeys a character, or shows the text around it in another order or not at all: control characters,
/// Unicode's bidirectional controls, its separators of lines and paragraphs, and its `Default_Ignorable_Code_Point`s with the
/// notes between lines (U+FFF9 to U+FFFB).
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;

    /// Clears the screen, sets the title, reverses the text, and others of their kinds.
    const HOSTILE: &str =
        "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\r\u{202e}b\u{2066}\u{200b}\u{feff}\u{7f}\u{e0041}c";

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        for shown in [printable(HOSTILE), line(HOSTILE), quoted(HOSTILE)] {
            assert!(!shown.contains(is_unprintable), "{shown:?}");
            assert!(shown.contains(r"a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\r\u{202e}b"));
        }
        assert_eq!(printable("ä😀\nb"), "ä😀\nb");
        assert_eq!(line("a\nb"), "a b");
        assert_eq!(quoted("a\nb"), r"`a\nb`");
    }

    #[test]
    fn quotations_and_lines_are_short() {
        let long = "\u{1b}".repeat(100_000);
        assert_eq!(
            quoted(&long),
            format!("`{}... (cut)`", r"\u{1b}".repeat(80 / 6))
        );
        assert_eq!(
            line(&long).len(),
            6 * (LONGEST_LINE / 6) + "... (cut)".len()
        );
    }

    #[test]
    fn printed_json_means_the_same() {
        let document = value!({ HOSTILE: [HOSTILE, "ä😀\n", 1.5], "plain": null });
        for text in [
            serde_json::to_string(&document),
            serde_json::to_string_pretty(&document),
        ] {
            let printed = json(text.unwrap());
            assert!(
                !printed.replace('\n', "").contains(is_unprintable),
                "{printed:?}"
            );
            assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), document);
        }
        let plain = document["plain"].to_string();
        assert_eq!(json(plain.clone()), plain);
    }
}
