//! Halves in every place, and whole characters that look like halves.

use proptest::prelude::*;

use super::*;

const REPLACED: &str = "\u{fffd}";

fn read(json: &str) -> JsonText {
    let raw: &RawValue = serde_json::from_str(json).unwrap();
    JsonText::read(raw).unwrap()
}

fn whole(text: &str) -> JsonText {
    JsonText {
        text: text.to_owned(),
        half: None,
    }
}

#[test]
fn each_half_becomes_one_replacement_character() {
    for (json, text, half) in [
        (r#""see you \ud83d""#, "see you \u{fffd}", Half::Last),
        (r#""see you \uD83D""#, "see you \u{fffd}", Half::Last),
        (r#""\ude00 hello""#, "\u{fffd} hello", Half::First),
        (r#""a\ud83db""#, "a\u{fffd}b", Half::Inside),
        (r#""a\ude00b""#, "a\u{fffd}b", Half::Inside),
        (r#""\ud83d\n""#, "\u{fffd}\n", Half::Inside),
        (r#""\ud83d\"""#, "\u{fffd}\"", Half::Inside),
        (r#""\"\ude00""#, "\"\u{fffd}", Half::Inside),
        (r#""\\\ude00""#, "\\\u{fffd}", Half::Inside),
        (r#""\ud83d\\ude00""#, "\u{fffd}\\ude00", Half::Inside),
        (r#""\ud83d\ud83d""#, "\u{fffd}\u{fffd}", Half::Inside),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", Half::First),
        // The second of three belongs to the third.
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", Half::Inside),
        (r#""\ud83d\ude00\ude00""#, "😀\u{fffd}", Half::Inside),
        (r#""\ud83d\u0041""#, "\u{fffd}A", Half::Inside),
        (r#""\ud83dude00""#, "\u{fffd}ude00", Half::Inside),
        (r#""ab😀\ud83d""#, "ab😀\u{fffd}", Half::Last),
        (r#""\ud83d""#, REPLACED, Half::Last),
        (r#""\udfff""#, REPLACED, Half::First),
        (r#""\ud800""#, REPLACED, Half::Last),
        (r#""\udbff""#, REPLACED, Half::Last),
        (r#""\udc00""#, REPLACED, Half::First),
        // A flag, a family, and a skin tone: cut in their middle.
        (r#""\ud83c\udde9\ud83c""#, "🇩\u{fffd}", Half::Last),
        (
            r#""\ud83d\udc68\u200d\ud83d""#,
            "👨\u{200d}\u{fffd}",
            Half::Last,
        ),
        (r#""\ud83d\udc4d\ud83c""#, "👍\u{fffd}", Half::Last),
    ] {
        let expected = JsonText {
            text: text.to_owned(),
            half: Some(half),
        };
        assert_eq!(read(json), expected, "{json}");
    }
}

#[test]
fn what_is_whole_stays_as_it_is() {
    for (json, text) in [
        (r#""""#, ""),
        (r#""plain""#, "plain"),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\uD83D\uDE00\ud83d\ude00""#, "😀😀"),
        // An escaped backslash, and then letters.
        (r#""\\ud83d""#, r"\ud83d"),
        (r#""\\\\ud83d""#, r"\\ud83d"),
        (r#""\\\ud83d\ude00""#, "\\😀"),
        (r#""\ufffd""#, REPLACED),
        (r#""\ud7ff\ue000""#, "\u{d7ff}\u{e000}"),
        ("\"\u{d7ff}\u{e000}\u{fffd}\"", "\u{d7ff}\u{e000}\u{fffd}"),
        (r#""\"\/\b\f\n\r\t\u00fc""#, "\"/\u{8}\u{c}\n\r\tü"),
    ] {
        assert_eq!(read(json), whole(text), "{json}");
        assert_eq!(first_half(json), None, "{json}");
    }
}

#[test]
fn what_is_no_string_is_none() {
    for json in ["null", "1", "true", "[]", "{}", r#"["a"]"#, r#"{"a":"b"}"#] {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        assert_eq!(JsonText::read(raw), None, "{json}");
    }
}

#[test]
fn a_half_is_found_in_names_and_values_of_a_document() {
    for (json, at, half) in [
        (r#"{"a":"\ud83d"}"#, 6, Half::Last),
        (r#"{"\ude00":1}"#, 2, Half::First),
        (
            r#"{"a":["\\","\ud83d\ude00",{"b":"x\ud83dy"}]}"#,
            33,
            Half::Inside,
        ),
    ] {
        assert_eq!(first_half(json), Some((at, half)), "{json}");
    }
    for json in [
        r#"{"a":"\\ud83d"}"#,
        r#"{"\\":"\ud83d\ude00"}"#,
        "[1,{},null]",
    ] {
        assert_eq!(first_half(json), None, "{json}");
    }
}

#[test]
fn the_message_names_the_mistake_and_the_mend() {
    let message = Half::Last.to_string();
    assert!(
        message.contains("the last emoji was cut in half"),
        "{message}"
    );
    assert!(
        message.contains("Intl.Segmenter or Array.from instead of slice"),
        "{message}"
    );
}

#[test]
fn a_megabyte_of_halves_takes_no_quadratic_time() {
    let json = format!("\"{}\"", r"\ud83d".repeat(200_000));
    let read = read(&json);
    assert_eq!(read.text, REPLACED.repeat(200_000));
    assert_eq!(read.half, Some(Half::Inside));
}

/// A string of JavaScript as JSON writes it: halves as escapes, everything else as it is or as an escape.
fn json_of(units: &[u16], escaped: bool) -> String {
    let escape = |unit: u16| format!("\\u{unit:04x}");
    let strings = char::decode_utf16(units.iter().copied()).map(|unit| match unit {
        Ok(character) if !escaped && !matches!(character, '"' | '\\' | '\0'..='\u{1f}') => {
            character.to_string()
        }
        Ok(character) => {
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units);
            units.iter().copied().map(escape).collect()
        }
        Err(half) => escape(half.unpaired_surrogate()),
    });
    format!("\"{}\"", strings.collect::<String>())
}

proptest! {
    #[test]
    fn any_text_that_was_cut_anywhere_reads_as_utf_16_does(
        text in r#"[a\\"😀👨🏽é\n]{0,12}"#,
        from in 0_usize..20,
        to in 0_usize..20,
        escaped in any::<bool>(),
    ) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let to = to.min(units.len());
        let cut = &units[from.min(to)..to];
        let read = read(&json_of(cut, escaped));
        prop_assert_eq!(&read.text, &String::from_utf16_lossy(cut));
        prop_assert_eq!(read.half.is_some(), String::from_utf16(cut).is_err());
    }

    #[test]
    fn any_units_read_as_utf_16_does(
        units in prop::collection::vec(prop_oneof![0xd7fe_u16..0xe002, 0x20_u16..0x7f, any::<u16>()], 0..12),
        escaped in any::<bool>(),
    ) {
        let read = read(&json_of(&units, escaped));
        prop_assert_eq!(&read.text, &String::from_utf16_lossy(&units));
        prop_assert_eq!(read.half.is_some(), String::from_utf16(&units).is_err());
    }
}
