//! Texts that are shown in another direction than they are written: turned by a control character, or
//! written upside down from the last letter to the first.

mod bidi_override;
mod upside_down;

use super::fold::Folded;

pub(super) use upside_down::is_turned;

/// A character with its place in the original, and what it is read as.
type Read = (usize, char, char);

/// The parts of a text that are shown in another direction, as they are shown; none if there are none.
pub(super) fn reversed(original: &str) -> Option<Folded> {
    let mut read = Vec::new();
    bidi_override::read(original, &mut read);
    upside_down::read(original, &mut read);
    (!read.is_empty()).then(|| Folded::of(original.len(), read.into_iter()))
}

/// Adds a part. A space keeps it apart from the one before.
fn add(part: &mut Vec<Read>, read: &mut Vec<Read>) {
    if let Some(&(at, original, _)) = part.first() {
        read.push((at, original, ' '));
    }
    read.append(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(original: &str) -> Option<String> {
        reversed(original).map(|folded| folded.text().trim().to_owned())
    }

    #[test]
    fn what_is_turned_is_read_as_it_is_shown() {
        for (text, expected) in [
            (
                "a \u{202E}drowdab",
                Some("drowdab".chars().rev().collect::<String>()),
            ),
            ("a \u{202E}drow\u{202C} here", Some("word".to_owned())),
            ("\u{202E}drow\n\u{202E}kcolb", Some("word block".to_owned())),
            // Turned twice, it is shown as it is written.
            (
                "\u{202E}cba \u{202D}word\u{202C}",
                Some("word abc".to_owned()),
            ),
            ("\u{202D}בלכ", Some("כלב".to_owned())),
            ("\u{202D}word", None),
            ("pɹoʍpɐq", Some("badword".to_owned())),
            ("¡sɹǝpɹnɯ so pɹoʍ ɐ", Some("a word os murders!".to_owned())),
            ("ʌery well", None),
            ("əʌ", None),
            ("an ordinary text", None),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn case_33_a_text_of_nothing_but_controls_is_read_once() {
        for part in [
            "\u{202E}a",
            "\u{202E}\u{202D}",
            "ɐ",
            "ɐ\n",
            "\u{202E}ɐ",
            "\u{202C}a\u{202E}",
        ] {
            let text = part.repeat(100_000 / part.len());
            let read = reversed(&text).map_or(0, |folded| folded.text().len());
            assert!(read <= 3 * text.len(), "{part:?}");
        }
    }
}
