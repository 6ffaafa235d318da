//! A wrong value is answered with the right ones.

use super::printed;

const ID: &str = "01980f6d-00aa-7bbb-8ccc-0123456789ab";

/// Arguments with a wrong value, and a part of the error.
const WRONG: &[(&[&str], &str)] = &[
    (&["openapi", "x"], "[possible values: public, management]"),
    (
        &["worker", "--queues", "x"],
        "[possible values: images, analysis, rules,",
    ),
    (
        &["queue", "jobs", "--queue", "x"],
        "[possible values: images, analysis, rules,",
    ),
    (
        &["queue", "pause", "--queue", "x"],
        "hash-scans, recoveries, statistics, reviews, bulk-decisions, erasures, closures, removals]",
    ),
    (
        &["queue", "jobs", "--state", "x"],
        "[possible values: due, running, scheduled, doomed]",
    ),
    (
        &["queue", "dead", "--cause", "x"],
        "[possible values: exhausted, aborted, undecodable, worker_lost]",
    ),
    (
        &["queue", "dead", "--limit", "x"],
        "a whole number from 1 to 10000",
    ),
    (
        &["queue", "pause", "--queue", "rules", "--for", "x"],
        "250ms, 5s, 10m, 2h, 1d",
    ),
    (
        &["admin", "subscribe", "--team", "x", "--plan", ID],
        "an id such as 018f3f3e-",
    ),
    (
        &["admin", "change-plan", "--plan", "x"],
        "an id such as 018f3f3e-",
    ),
    (
        &[
            "admin",
            "subscribe",
            "--team",
            ID,
            "--plan",
            ID,
            "--state",
            "x",
        ],
        "[possible values: active, past_due, cancelled]",
    ),
    (
        &[
            "admin",
            "create-token",
            "--name",
            "a",
            "--scopes",
            "teams:read,x",
        ],
        "[possible values: all, teams:read, teams:write,",
    ),
    (
        &["up", "--providers", "x"],
        "[possible values: builtin, openai]",
    ),
    (
        &["up", "--concurrency", "x"],
        "a whole number from 1 to 10000",
    ),
    (
        &["up", "--concurrency", "0"],
        "a whole number from 1 to 10000",
    ),
    (
        &["up", "--body-bytes-per-second", "x"],
        "a whole number from 0 to 4294967295",
    ),
    (
        &["up", "--listen", "localhost:80"],
        "such as 127.0.0.1:8080",
    ),
    (&["up", "--proxies", "x"], "such as 10.1.0.7 or 10.1.0.0/16"),
    (
        &["up", "--openai-url", "ftp://x/"],
        "a URL such as https://",
    ),
    (
        &["up", "--webhook-url", "ftp://127.0.0.1/"],
        "begin it with https:// or http://",
    ),
    (&["listen", "--listen", "9000"], "such as 127.0.0.1:8080"),
];

#[test]
fn a_wrong_value_is_answered_with_the_right_ones() {
    for (arguments, told) in WRONG {
        let (_, error, done) = printed(&[], arguments);
        assert!(!done && error.contains(told), "{arguments:?}: {error}");
        assert!(
            !error.contains(" tip: this value comes"),
            "{arguments:?}: {error}"
        );
    }
}
