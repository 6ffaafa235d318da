//! What `listen` shows on the terminal.

use std::{io, net::SocketAddr};

use hyper::{HeaderMap, StatusCode};

use super::{GIVE_ONE, Receiver, Secret, pretty_json::pretty, verify_signature::Verdict};
use crate::terminal::{self, printable};

/// Longer bodies are cut after this many characters. It is enough for any event with ordinary
/// metadata.
const SHOWN_BODY: usize = 4_000;

/// The first lines: where it listens, which secret it uses, and where it forwards events.
pub(super) fn banner(address: SocketAddr, receiver: &Receiver) -> io::Result<()> {
    terminal::print(&introduction(address, receiver))
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
    terminal::print(&render(headers, verdict, answer, body))
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

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_BODY) {
        Some((end, _)) => format!("{}\n... (cut)", &text[..end]),
        None => text.to_owned(),
    }
}
