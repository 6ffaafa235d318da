//! What `listen` shows on the terminal. Bodies and headers come from anyone, so characters that a terminal obeys, that change
//! the order of the text or that are invisible are shown escaped.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
};

use hyper::{HeaderMap, StatusCode};

use super::{GIVE_ONE, Receiver, Secret, pretty::pretty, verify::Verdict};

/// Longer bodies are cut after this many characters. It is enough for any event with ordinary
/// metadata.
const SHOWN_BODY: usize = 4_000;

/// The first lines: where it listens, which secret it uses, and where it forwards events.
pub(super) fn banner(address: SocketAddr, receiver: &Receiver) -> io::Result<()> {
    io::stdout().write_all(introduction(address, receiver).as_bytes())
}

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
    answer: (StatusCode, &str),
    body: &[u8],
) -> io::Result<()> {
    io::stdout().write_all(render(headers, verdict, answer, body).as_bytes())
}

pub(super) fn render(
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

/// Escapes control characters, and characters that make a text look different from what it says.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' || is_deceptive(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character reorders text, breaks lines or cannot be seen: Unicode's bidirectional controls, its separators of
/// lines and paragraphs, and its `Default_Ignorable_Code_Point`s with the notes between lines (U+FFF9 to U+FFFB).
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_BODY) {
        Some((end, _)) => format!("{}\n... (cut)", &text[..end]),
        None => text.to_owned(),
    }
}
