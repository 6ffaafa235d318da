//! The descriptions of the metrics on `/metrics`. The queue describes its own metrics.

mod database;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

enum Kind {
    Counter,
    Gauge,
    Histogram,
}

use Kind::{Counter, Gauge, Histogram};

/// Kind, name, unit and help.
const METRICS: [(Kind, &str, Unit, &str); 53] = [
    (
        Counter,
        "gatehouse_http_requests_total",
        Unit::Count,
        "Requests by route, method and status class",
    ),
    (
        Histogram,
        "gatehouse_http_request_duration_seconds",
        Unit::Seconds,
        "Time from the head of a request to its answer",
    ),
    (
        Gauge,
        "gatehouse_http_connections",
        Unit::Count,
        "Open connections to the listeners",
    ),
    (
        Counter,
        "gatehouse_http_connections_refused_total",
        Unit::Count,
        "Connections refused because their address had used up its share",
    ),
    (
        Counter,
        "gatehouse_http_accept_failures_total",
        Unit::Count,
        "Failed attempts to accept a connection, nearly always because no file descriptor was free",
    ),
    (
        Counter,
        "gatehouse_http_unreadable_requests_total",
        Unit::Count,
        "Requests that were not valid HTTP/1.1 or whose head was too large, by error code",
    ),
    (
        Histogram,
        "gatehouse_accept_batch_rows",
        Unit::Count,
        "Submissions stored by one statement",
    ),
    (
        Gauge,
        "gatehouse_accept_waiting",
        Unit::Count,
        "Submissions that wait to be stored",
    ),
    (
        Gauge,
        "gatehouse_waiting_requests",
        Unit::Count,
        "Stored submissions whose answers wait for the verdict",
    ),
    (
        Histogram,
        "gatehouse_wait_seconds",
        Unit::Seconds,
        "How long answers waited for the verdict",
    ),
    (
        Counter,
        "gatehouse_waits_total",
        Unit::Count,
        "Answers that were to wait for the verdict, by how the wait ended",
    ),
    (
        Gauge,
        "gatehouse_accept_capacity",
        Unit::Count,
        "Submissions that may wait to be stored",
    ),
    (
        Counter,
        "gatehouse_accept_rejected_total",
        Unit::Count,
        "Valid submissions that were not stored, by reason",
    ),
    (
        Counter,
        "gatehouse_rate_limited_total",
        Unit::Count,
        "Requests answered with 429, by the limit that was reached",
    ),
    (
        Counter,
        "gatehouse_paced_requests_total",
        Unit::Count,
        "Requests and error answers that were delayed, by policy",
    ),
    (
        Counter,
        "gatehouse_quota_refused_total",
        Unit::Count,
        "Submissions refused because their team's quota was used up",
    ),
    (
        Counter,
        "gatehouse_sign_ins_total",
        Unit::Count,
        "Steps of people's sign-ins, by outcome",
    ),
    (
        Counter,
        "gatehouse_decisions_total",
        Unit::Count,
        "Verdicts by status and by who decided",
    ),
    (
        Histogram,
        "gatehouse_time_to_decision_seconds",
        Unit::Seconds,
        "Time from acceptance to the automatic verdict",
    ),
    (
        Gauge,
        "gatehouse_reviews_waiting",
        Unit::Count,
        "Items that wait for a person, at most 100000",
    ),
    (
        Gauge,
        "gatehouse_review_age_seconds",
        Unit::Seconds,
        "How long the oldest of them has waited",
    ),
    (
        Gauge,
        "gatehouse_reviews_overdue",
        Unit::Count,
        "Reviews that a person should have decided by now, at most 100000",
    ),
    (
        Gauge,
        "gatehouse_statistics_lag_seconds",
        Unit::Seconds,
        "Age of the time up to which everything is counted in the statistics",
    ),
    (
        Counter,
        "gatehouse_unchecked_total",
        Unit::Count,
        "Items that could not be checked completely, by what is missing",
    ),
    (
        Histogram,
        "gatehouse_provider_request_duration_seconds",
        Unit::Seconds,
        "Time of one analysis by a provider",
    ),
    (
        Counter,
        "gatehouse_provider_errors_total",
        Unit::Count,
        "Failed analyses by provider and reason",
    ),
    (
        Counter,
        "gatehouse_provider_requests_total",
        Unit::Count,
        "HTTP requests sent to a provider, by kind of content",
    ),
    (
        Counter,
        "gatehouse_provider_pieces_total",
        Unit::Count,
        "Pieces of texts: sent to a provider (asked), kept from an earlier run (kept), or to be sent again after a failure (repeated)",
    ),
    (
        Counter,
        "gatehouse_provider_tokens_total",
        Unit::Count,
        "Tokens that a provider reports as used, for questions (input) and answers (output)",
    ),
    (
        Counter,
        "gatehouse_provider_units_total",
        Unit::Count,
        "Units that a provider reports as charged, by the provider's name for them",
    ),
    (
        Counter,
        "gatehouse_provider_cache_total",
        Unit::Count,
        "Lookups of a provider's earlier answer to an equal text, by outcome",
    ),
    (
        Gauge,
        "gatehouse_provider_paused",
        Unit::Count,
        "1 while no worker asks the provider, by cause",
    ),
    (
        Counter,
        "gatehouse_images_total",
        Unit::Count,
        "Images by outcome",
    ),
    (
        Counter,
        "gatehouse_image_fetches_total",
        Unit::Count,
        "Attempts to fetch an image, by outcome",
    ),
    (
        Histogram,
        "gatehouse_image_bytes",
        Unit::Bytes,
        "Sizes of image files",
    ),
    (
        Counter,
        "gatehouse_webhook_attempts_total",
        Unit::Count,
        "Attempts to deliver a webhook, by outcome",
    ),
    (
        Histogram,
        "gatehouse_webhook_delivery_seconds",
        Unit::Seconds,
        "Time from an event to its delivery",
    ),
    (
        Counter,
        "gatehouse_webhook_pages_spread_total",
        Unit::Count,
        "Webhook jobs for many items that were split into one job per item, by reason",
    ),
    (
        Gauge,
        "gatehouse_webhook_endpoints",
        Unit::Count,
        "Endpoints of webhooks by state of their deliveries, at most 100000",
    ),
    (
        Counter,
        "gatehouse_egress_blocked_total",
        Unit::Count,
        "Requests to tenants' addresses that were refused, by reason",
    ),
    (
        Gauge,
        "gatehouse_outbound_connections",
        Unit::Count,
        "Connections to tenants' addresses that requests can have open now",
    ),
    (
        Gauge,
        "gatehouse_outbound_idle_connections",
        Unit::Count,
        "Idle connections to webhook receivers",
    ),
    (
        Counter,
        "gatehouse_outbound_waits_total",
        Unit::Count,
        "Requests that waited for a connection of their team's share, by outcome",
    ),
    (
        Gauge,
        "gatehouse_worker_slots",
        Unit::Count,
        "Jobs of a queue that this process can run at once",
    ),
    (
        Gauge,
        "gatehouse_retention_last_success_timestamp_seconds",
        Unit::Seconds,
        "Unix time at which this process last removed everything that had expired",
    ),
    (
        Gauge,
        "gatehouse_audit_unsealed_seconds",
        Unit::Seconds,
        "How old the oldest entry of the audit log is that is not sealed yet",
    ),
    (
        Gauge,
        "gatehouse_clock_offset_seconds",
        Unit::Seconds,
        "How far Postgres's clock is ahead of this machine's",
    ),
    (
        Gauge,
        "gatehouse_build_info",
        Unit::Count,
        "Always 1; the labels have the version",
    ),
    (
        Gauge,
        "gatehouse_uptime_seconds",
        Unit::Seconds,
        "Time since the process started",
    ),
    (
        Gauge,
        "gatehouse_runtime_tasks",
        Unit::Count,
        "Live tasks in the tokio runtime",
    ),
    (
        Gauge,
        "gatehouse_runtime_workers",
        Unit::Count,
        "Threads of the tokio runtime",
    ),
    (
        Gauge,
        "gatehouse_runtime_busy_ratio",
        Unit::Count,
        "Share of the last 5 s in which these threads ran tasks; 1 is all the time of all threads",
    ),
    (
        Gauge,
        "gatehouse_runtime_queue_depth",
        Unit::Count,
        "Tasks that wait in the shared queue of the runtime",
    ),
];

/// Describes them to the installed recorder.
pub(super) fn describe() {
    for (kind, name, unit, help) in METRICS.into_iter().chain(database::METRICS) {
        match kind {
            Counter => describe_counter!(name, unit, help),
            Gauge => describe_gauge!(name, unit, help),
            Histogram => describe_histogram!(name, unit, help),
        }
    }
}
