//! Texts of 100 KB that are as slow to judge as the accepted patterns make them, beside a backlog of ordinary texts.

use rand::RngExt as _;
use serde_json::{Value, json};

use super::{
    heavy_rules,
    team::{Team, one_byte, submission},
};

/// As long as a text may be.
const TEXT: usize = 102_400;
/// Copies of a class in a pattern. Its last state depends on all of the text before.
const COPIES: usize = 930;
/// Patterns that are tried first. With all repetitions written out, a group may have 30,000 positions.
const PATTERNS: usize = 30;
const CONNECTIONS: usize = 6;

pub(super) async fn attack(team: &Team) {
    let mut count = PATTERNS;
    let slow = loop {
        if let Some(site) = team.site(&format!("Slow {count}"), &patterns(count)).await {
            break site;
        }
        if count == 1 {
            team.note("no pattern was accepted".to_owned());
            return;
        }
        count /= 2;
    };
    team.note(format!("{count} patterns of {COPIES} positions"));
    let Some(ordinary) = team.site("Ordinary", &heavy_rules::light()).await else {
        return;
    };
    let text = text(team);
    let next = |number: u64| {
        let key = slow.key(number)?;
        Some(submission(&json!({ "api_key": key, "body": text })))
    };
    let ordinary_next = |number| ordinary.key(number).map(|key| one_byte(&key));
    tokio::join!(
        team.make_keys(&slow),
        team.make_keys(&ordinary),
        team.submit(CONNECTIONS, next),
        team.submit(CONNECTIONS, ordinary_next),
    );
}

/// Each must remember the position of every `a`, in exponentially many combinations, so no
/// automaton can be built ahead of time.
fn patterns(count: usize) -> Value {
    let rules = (0..count).map(|number| {
        json!({
            "name": format!("Slow {number}"), "type": "regex",
            "pattern": format!("[ab]*a[ab]{{{}}}c", COPIES + number), "effect": "review",
        })
    });
    rules.collect()
}

/// The text contains `c`, so no pattern is excluded early, but never at the position that a pattern
/// needs.
fn text(team: &Team) -> String {
    let mut random = team.random();
    let letters = (1..TEXT).map(|_| if random.random::<bool>() { 'a' } else { 'b' });
    std::iter::once('c').chain(letters).collect()
}
