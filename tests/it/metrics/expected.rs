//! Every counter with the values that its labels can have, and the processes that have it.

use std::collections::BTreeSet;

use super::page::Labels;
use Process::{Api, Both, Worker};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Api,
    Worker,
    Both,
}

impl Process {
    fn includes(self, process: Self) -> bool {
        self == Self::Both || self == process
    }
}

pub(super) struct Counter {
    pub(super) name: &'static str,
    process: Process,
    labels: &'static [(&'static str, &'static [&'static str])],
}

impl Counter {
    /// All combinations of the values.
    fn series(&self) -> BTreeSet<Labels> {
        let mut all = BTreeSet::from([Labels::new()]);
        for (label, values) in self.labels {
            all = all
                .iter()
                .flat_map(|series| {
                    values.iter().map(|value| {
                        let mut series = series.clone();
                        series.insert((*label).to_owned(), (*value).to_owned());
                        series
                    })
                })
                .collect();
        }
        all
    }
}

const fn counter(
    name: &'static str,
    process: Process,
    labels: &'static [(&'static str, &'static [&'static str])],
) -> Counter {
    Counter {
        name,
        process,
        labels,
    }
}

const QUEUES: (&str, &[&str]) = (
    "queue",
    &[
        "analysis",
        "backtests",
        "bulk-decisions",
        "closures",
        "erasures",
        "hash-imports",
        "hash-scans",
        "images",
        "recoveries",
        "removals",
        "reviews",
        "rules",
        "statistics",
        "webhooks",
    ],
);
const STATUSES: (&str, &[&str]) = ("status", &["approved", "pending_review", "rejected"]);
const PROVIDERS: (&str, &[&str]) = ("provider", &["builtin"]);

/// What fresh processes do not show: units of providers that charge such, the first retention, ten
/// minutes after the start, spans that a collector does not take, and archiving, which the tests' server does not do.
pub(super) const LATER: [&str; 5] = [
    "gatehouse_provider_units_total",
    "gatehouse_retention_last_success_timestamp_seconds",
    "gatehouse_spans_dropped_total",
    "gatehouse_wal_archive_failing",
    "gatehouse_wal_archive_failures_total",
];

pub(super) const COUNTERS: [Counter; 35] = [
    counter(
        "gatehouse_accept_rejected_total",
        Api,
        &[(
            "reason",
            &["failed", "overloaded", "refused", "unavailable", "untried"],
        )],
    ),
    counter(
        "gatehouse_waits_total",
        Api,
        &[("outcome", &["decided", "over", "refused", "unnoticed"])],
    ),
    counter(
        "gatehouse_db_errors_total",
        Both,
        &[(
            "class",
            &[
                "08", "22", "23", "25", "26", "28", "40", "42", "53", "54", "55", "57", "58", "XX",
                "io", "other", "pool",
            ],
        )],
    ),
    counter(
        "gatehouse_decisions_total",
        Api,
        &[STATUSES, ("type", &["manual"])],
    ),
    counter(
        "gatehouse_decisions_total",
        Worker,
        &[STATUSES, ("type", &["ai", "rule"])],
    ),
    counter(
        "gatehouse_egress_blocked_total",
        Both,
        &[(
            "reason",
            &[
                "link_local",
                "loopback",
                "metadata",
                "multicast",
                "name",
                "port",
                "private",
                "reserved",
                "scheme",
                "translated",
                "url",
                "user_info",
            ],
        )],
    ),
    counter("gatehouse_http_accept_failures_total", Both, &[]),
    counter("gatehouse_http_connections_refused_total", Both, &[]),
    counter(
        "gatehouse_http_unreadable_requests_total",
        Both,
        &[("code", &["head_too_large", "invalid_request"])],
    ),
    counter(
        "gatehouse_image_fetches_total",
        Worker,
        &[(
            "outcome",
            &[
                "busy",
                "connect",
                "encoded",
                "fetched",
                "protocol",
                "redirect",
                "refused",
                "status",
                "timeout",
                "tls",
                "too_large",
            ],
        )],
    ),
    counter(
        "gatehouse_images_total",
        Worker,
        &[(
            "outcome",
            &[
                "examined",
                "not_fetched",
                "too_large",
                "undecodable",
                "unsupported",
            ],
        )],
    ),
    counter("gatehouse_job_checkpoints_total", Both, &[QUEUES]),
    counter(
        "gatehouse_job_retries_total",
        Both,
        &[
            QUEUES,
            (
                "reason",
                &[
                    "effect",
                    "error",
                    "outage",
                    "panic",
                    "timeout",
                    "worker_lost",
                ],
            ),
        ],
    ),
    counter(
        "gatehouse_jobs_dead_total",
        Both,
        &[
            QUEUES,
            (
                "reason",
                &["aborted", "exhausted", "undecodable", "worker_lost"],
            ),
        ],
    ),
    counter("gatehouse_jobs_enqueued_total", Both, &[QUEUES]),
    counter("gatehouse_jobs_fenced_total", Both, &[]),
    counter(
        "gatehouse_jobs_finished_total",
        Both,
        &[
            QUEUES,
            ("outcome", &["again", "dead", "done", "released", "retry"]),
        ],
    ),
    counter("gatehouse_jobs_handed_over_total", Both, &[QUEUES]),
    counter("gatehouse_jobs_rescued_total", Both, &[]),
    counter(
        "gatehouse_outbound_waits_total",
        Both,
        &[("outcome", &["gave_up", "served"])],
    ),
    counter(
        "gatehouse_paced_requests_total",
        Api,
        &[(
            "policy",
            &["management_team", "refusals", "team_status", "team_submit"],
        )],
    ),
    counter(
        "gatehouse_provider_cache_total",
        Worker,
        &[PROVIDERS, ("outcome", &["failed", "hit", "miss"])],
    ),
    counter(
        "gatehouse_provider_errors_total",
        Worker,
        &[
            PROVIDERS,
            (
                "reason",
                &[
                    "denied",
                    "failed",
                    "limited",
                    "malformed",
                    "refused",
                    "timed_out",
                    "unreachable",
                ],
            ),
        ],
    ),
    counter(
        "gatehouse_provider_pieces_total",
        Worker,
        &[PROVIDERS, ("what", &["asked", "kept", "repeated"])],
    ),
    counter(
        "gatehouse_provider_requests_total",
        Worker,
        &[PROVIDERS, ("modality", &["image", "text"])],
    ),
    counter(
        "gatehouse_provider_tokens_total",
        Worker,
        &[PROVIDERS, ("kind", &["input", "output"])],
    ),
    counter(
        "gatehouse_queue_bound_seconds_total",
        Both,
        &[
            QUEUES,
            (
                "by",
                &[
                    "cap",
                    "database",
                    "endpoint_pace",
                    "provider_limit",
                    "slots",
                    "team_share",
                ],
            ),
        ],
    ),
    counter("gatehouse_quota_refused_total", Api, &[]),
    counter(
        "gatehouse_rate_limited_total",
        Api,
        &[(
            "policy",
            &[
                "management_address",
                "management_team",
                "management_token",
                "status",
                "submit",
                "team_status",
                "team_submit",
            ],
        )],
    ),
    counter(
        "gatehouse_sign_ins_total",
        Api,
        &[(
            "outcome",
            &[
                "code",
                "overloaded",
                "password",
                "sign_on",
                "sign_on_failed",
                "throttled",
                "wrong_code",
                "wrong_password",
            ],
        )],
    ),
    counter("gatehouse_sql_statements_total", Both, &[]),
    counter(
        "gatehouse_unchecked_total",
        Worker,
        &[(
            "what",
            &[
                "categories_not_scored",
                "category_not_scored",
                "image_not_analysed",
                "image_not_examined",
                "image_not_scored",
                "provider_failed",
                "rules_too_heavy",
                "text_not_examined",
                "text_not_scored",
            ],
        )],
    ),
    counter("gatehouse_wal_bytes_total", Both, &[]),
    counter(
        "gatehouse_webhook_attempts_total",
        Worker,
        &[(
            "outcome",
            &[
                "connect",
                "delivered",
                "gone",
                "protocol",
                "refused",
                "status",
                "timeout",
                "tls",
            ],
        )],
    ),
    counter(
        "gatehouse_webhook_pages_spread_total",
        Worker,
        &[("reason", &["failed", "idle", "rerun", "slow"])],
    ),
];

/// The series that a process has of a counter.
pub(super) fn series(name: &str, process: Process) -> BTreeSet<Labels> {
    COUNTERS
        .iter()
        .filter(|counter| counter.name == name && counter.process.includes(process))
        .flat_map(Counter::series)
        .collect()
}
