//! Metadata nested as deeply as 16 KiB allow, and as deeply as is permitted; and requests that are refused, as fast as they
//! are answered.

use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use super::{
    heavy_rules,
    team::{OwnSite, SUBMIT, Team, submission},
};
use crate::http;

/// Connections for each kind of request.
const CONNECTIONS: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// 16 KiB of arrays within arrays.
const DEEPEST: usize = 8_000;
/// The depth that is always permitted, including the object itself.
const PERMITTED: usize = 31;
/// Bytes that metadata may have, with some room.
const BYTES: usize = 16_000;

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Deep", &heavy_rules::light()).await else {
        return;
    };
    let (deepest, permitted) = (nested(DEEPEST), many(PERMITTED));
    let deep = |key: &str| with_metadata(key, &deepest);
    let permitted = |key: &str| with_metadata(key, &permitted);
    let malformed = |key: &str| {
        let body = format!(r#"{{"api_key":"{key}","body":"x","metadata":{{"a":[[[}}}}"#);
        http::submission_of(&body).into()
    };
    let wrong = |key: &str| submission(&json!({ "api_key": key, "body": 7, "metadata": [] }));
    let unknown = |_: &str| {
        let key = format!("site_{}", "0".repeat(32));
        submission(&json!({ "api_key": key, "body": "x" }))
    };
    tokio::join!(
        team.make_keys(&site),
        send(team, &site, SUBMIT, deep),
        send(team, &site, SUBMIT, permitted),
        send(team, &site, "submit what is malformed", malformed),
        send(team, &site, "submit what is wrong", wrong),
        send(team, &site, "submit with an unknown key", unknown),
    );
}

/// Sends a kind of request over several connections, without waiting for anything but answers.
async fn send(team: &Team, site: &OwnSite, what: &str, render: impl Fn(&str) -> Bytes) {
    let clients = (0..CONNECTIONS).map(|connection| {
        let render = &render;
        async move {
            let mut client = team.client(connection);
            for number in 0.. {
                let Some(key) = site.key(number) else {
                    sleep(BETWEEN_LOOKS).await;
                    continue;
                };
                team.send(&mut client, what, &render(&key)).await;
            }
        }
    });
    join_all(clients).await;
}

/// Inserts metadata as written, without parsing it.
fn with_metadata(key: &str, metadata: &str) -> Bytes {
    let body = format!(r#"{{"api_key":"{key}","body":"x","metadata":{metadata}}}"#);
    http::submission_of(&body).into()
}

/// An object with arrays nested to this depth.
fn nested(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(r#"{{"a":{open}{close}}}"#)
}

/// An object full of arrays with the greatest permitted depth.
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
