//! Metadata nested as deeply as 16 KiB allow, and as deeply as is permitted; and requests that are refused, as fast as they
//! are answered.

use std::cell::Cell;

use bytes::Bytes;
use futures::future::join_all;
use serde_json::json;

use super::{
    heavy,
    team::{Team, submission},
};

/// Connections for each kind of request.
const CONNECTIONS: usize = 4;
/// 16 KiB of arrays within arrays.
const DEEPEST: usize = 8_000;
/// What is permitted at least, the object itself included.
const PERMITTED: usize = 31;
/// Bytes that metadata may have, with some room.
const BYTES: usize = 16_000;

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Deep", &heavy::light()).await else {
        return;
    };
    let keys = &site.keys;
    let deep = each(keys, |key| with_metadata(key, &nested(DEEPEST)));
    let permitted = each(keys, |key| with_metadata(key, &many(PERMITTED)));
    let malformed = each(keys, |key| {
        let body = format!(r#"{{"api_key":"{key}","body":"x","metadata":{{"a":[[[}}}}"#);
        crate::http::submission_of(&body).into()
    });
    let refused = each(keys, |key| {
        submission(&json!({ "api_key": key, "body": 7, "metadata": [] }))
    });
    let unknown = vec![submission(
        &json!({ "api_key": format!("site_{}", "0".repeat(32)), "body": "x" }),
    )];
    let kinds = [
        ("submit", deep),
        ("submit", permitted),
        ("submit what is malformed", malformed),
        ("submit what is wrong", refused),
        ("submit with an unknown key", unknown),
    ];
    join_all(kinds.map(|(what, requests)| send(team, what, requests))).await;
}

/// Sends them by turns, without waiting for anything but answers.
async fn send(team: &Team, what: &str, requests: Vec<Bytes>) {
    let number = Cell::new(0_usize);
    let clients = (0..CONNECTIONS).map(|connection| {
        let (requests, number) = (&requests, &number);
        async move {
            let mut client = team.client(connection);
            while !requests.is_empty() {
                let turn = number.replace(number.get() + 1) % requests.len();
                team.send(&mut client, what, &requests[turn]).await;
            }
        }
    });
    join_all(clients).await;
}

fn each(keys: &[String], render: impl Fn(&str) -> Bytes) -> Vec<Bytes> {
    keys.iter().map(|key| render(key)).collect()
}

/// Metadata goes in as it is written: nothing parses it here.
fn with_metadata(key: &str, metadata: &str) -> Bytes {
    let body = format!(r#"{{"api_key":"{key}","body":"x","metadata":{metadata}}}"#);
    crate::http::submission_of(&body).into()
}

/// Arrays within arrays within an object, so many.
fn nested(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(r#"{{"a":{open}{close}}}"#)
}

/// An object that is full of arrays as deep as they may be.
fn many(depth: usize) -> String {
    let one = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
    let count = BYTES / (one.len() + 1);
    format!(r#"{{"a":[{}]}}"#, vec![one; count].join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_metadata_are_json_within_16_kib() {
        for (metadata, depth) in [(nested(DEEPEST), DEEPEST), (many(PERMITTED), PERMITTED)] {
            assert!(metadata.len() <= 16 << 10, "{}", metadata.len());
            let deepest = metadata.chars().scan(0_usize, |open, character| {
                match character {
                    '[' | '{' => *open += 1,
                    ']' | '}' => *open -= 1,
                    _ => {}
                }
                Some(*open)
            });
            assert_eq!(deepest.max(), Some(depth));
        }
        assert!(serde_json::from_str::<serde_json::Value>(&many(PERMITTED)).is_ok());
    }
}
