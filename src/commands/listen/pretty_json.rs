//! JSON with line breaks, otherwise byte for byte as received. Parsing it would change some numbers
//! and texts, and the signature is over the received bytes.

use serde::de::IgnoredAny;

const INDENT: &str = "  ";

/// The body with a line for each member and each item. `None` if it is not JSON.
pub(super) fn pretty(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<IgnoredAny>(body).ok()?;
    let text = str::from_utf8(body).ok()?;
    let mut lines = Lines::default();
    let mut tokens = text.chars().peekable();
    while let Some(c) = tokens.next() {
        match c {
            '"' => {
                lines.text.push(c);
                let mut is_escaped = false;
                for c in tokens.by_ref() {
                    lines.text.push(c);
                    match c {
                        '"' if !is_escaped => break,
                        '\\' => is_escaped = !is_escaped,
                        _ => is_escaped = false,
                    }
                }
            }
            '{' | '[' => {
                while tokens.next_if(char::is_ascii_whitespace).is_some() {}
                lines.text.push(c);
                match tokens.next_if(|c| matches!(c, '}' | ']')) {
                    Some(close) => lines.text.push(close),
                    None => lines.begin(1),
                }
            }
            '}' | ']' => {
                lines.begin(-1);
                lines.text.push(c);
            }
            ',' => {
                lines.text.push(c);
                lines.begin(0);
            }
            ':' => lines.text.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            // Numbers, true, false and null.
            c => lines.text.push(c),
        }
    }
    Some(lines.text)
}

#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn begin(&mut self, deeper: isize) {
        self.depth = self.depth.saturating_add_signed(deeper);
        self.text.push('\n');
        self.text.push_str(&INDENT.repeat(self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_stay_as_they_came() {
        let body = br#"{"n":[1.0,1e3,12345678901234567890123,-0.10],"t":"a\u00fc\"}{,:\\","e":{ },"l":[],"n":1.0}"#;
        let shown = r#"{
  "n": [
    1.0,
    1e3,
    12345678901234567890123,
    -0.10
  ],
  "t": "a\u00fc\"}{,:\\",
  "e": {},
  "l": [],
  "n": 1.0
}"#;
        assert_eq!(pretty(body).unwrap(), shown);
        assert_eq!(pretty(shown.as_bytes()).unwrap(), shown);
        for scalar in ["1.0", "null", "\"a b\""] {
            assert_eq!(pretty(scalar.as_bytes()).unwrap(), scalar);
        }
        for wrong in [&b""[..], b"{", b"{} {}", b"\xff"] {
            assert_eq!(pretty(wrong), None);
        }
    }
}
