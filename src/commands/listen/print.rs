//! What `listen` shows on the terminal.

use std::net::SocketAddr;

use hyper::{HeaderMap, StatusCode};
use serde::de::IgnoredAny;

use super::{GIVE_ONE, Receiver, Secret, Verdict};
use crate::terminal::printable;

/// Longer bodies are cut after this many characters. It is enough for any event with ordinary
/// metadata.
const SHOWN_BODY: usize = 4_000;

/// The first lines: where it listens, which secret it uses, and where it forwards events.
pub(super) fn introduction(address: SocketAddr, receiver: &Receiver) -> String {
    let passing = match &receiver.forward {
        Some(target) => format!(", forwarding to {target}"),
        None => String::new(),
    };
    let verifying = match (&receiver.secret, receiver.secret.load()) {
        (Secret::Given(_), _) => "Verifying with the given secret.".to_owned(),
        (Secret::InFile(path), Ok(_)) => {
            format!("Verifying with the secret in {}.", path.display())
        }
        (Secret::InFile(_), Err(reason)) => {
            format!(
                "NO SECRET YET: signatures are not verified until it can be read. {reason}.\n{GIVE_ONE}."
            )
        }
        (Secret::Unknown, _) => format!("NO SECRET: signatures are not verified.\n{GIVE_ONE}."),
    };
    format!("Listening on http://{address}{passing}. Ctrl-C stops.\n{verifying}\n\n")
}

/// One received event. `answer` is the status, and who answered or why nobody did. It is empty if
/// this command answered.
pub(super) fn event(
    headers: &HeaderMap,
    verdict: &Verdict,
    (status, from): (StatusCode, &str),
    body: &[u8],
) -> String {
    let header = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("-")
    };
    let event = header("x-service-event");
    let delivery = header("x-service-delivery-id");
    let answer = format!("{} {}", status.as_u16(), printable(from));
    let body = pretty(body).unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let (answer, body) = (answer.trim_end(), cut(&printable(&body)));
    format!("{event}  delivery {delivery}  answered {answer}\n{verdict}\n{body}\n\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_BODY) {
        Some((end, _)) => format!("{}\n... (cut)", &text[..end]),
        None => text.to_owned(),
    }
}

const INDENT: &str = "  ";

/// The body with a line for each member and each item. `None` if it is not JSON.
fn pretty(body: &[u8]) -> Option<String> {
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
