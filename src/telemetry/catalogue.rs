//! The descriptions of the metrics on `/metrics`. The queue describes its own metrics.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

enum Kind {
    Counter,
    Gauge,
    Histogram,
}

use Kind::{Counter, Gauge, Histogram};

/// Kind, name, unit and help.
const METRICS: [(Kind, &str, Unit, &str); 39] = [
    (
        Counter,
        "gatehouse_http_requests_total",
        Unit::Count,
        "Requests, by route, method and class of the answer",
    ),
    (
        Histogram,
        "gatehouse_http_request_duration_seconds",
        Unit::Seconds,
        "From the head of a request to its answer",
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
        "Connections refused because their address had its share",
    ),
    (
        Counter,
        "gatehouse_http_accept_failures_total",
        Unit::Count,
        "Connections that could not be accepted, nearly always for want of file descriptors",
    ),
    (
        Counter,
        "gatehouse_http_unreadable_requests_total",
        Unit::Count,
        "Requests that were not valid HTTP/1.1 or whose head was too large, by the code of the answer",
    ),
    (
        Histogram,
        "gatehouse_accept_batch_rows",
        Unit::Count,
        "Submissions in one accepting statement",
    ),
    (
        Gauge,
        "gatehouse_accept_waiting",
        Unit::Count,
        "Submissions that wait for a statement",
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
        "Requests and refusals that waited for their turn",
    ),
    (
        Counter,
        "gatehouse_quota_refused_total",
        Unit::Count,
        "Submissions over their team's quota",
    ),
    (
        Counter,
        "gatehouse_decisions_total",
        Unit::Count,
        "Verdicts, by status and by who decided",
    ),
    (
        Histogram,
        "gatehouse_time_to_decision_seconds",
        Unit::Seconds,
        "From acceptance to the machine's verdict",
    ),
    (
        Counter,
        "gatehouse_unchecked_total",
        Unit::Count,
        "Items of which something could not be checked, by what",
    ),
    (
        Histogram,
        "gatehouse_provider_request_duration_seconds",
        Unit::Seconds,
        "One analysis by a provider",
    ),
    (
        Counter,
        "gatehouse_provider_errors_total",
        Unit::Count,
        "Failed analyses, by provider and reason",
    ),
    (
        Counter,
        "gatehouse_provider_requests_total",
        Unit::Count,
        "HTTP requests sent to a provider, by what it was shown",
    ),
    (
        Counter,
        "gatehouse_provider_pieces_total",
        Unit::Count,
        "Pieces of texts: shown to a provider, kept from an earlier run, or to be shown again after a failure",
    ),
    (
        Counter,
        "gatehouse_provider_tokens_total",
        Unit::Count,
        "Tokens that a provider says it has used, of questions (input) and answers (output)",
    ),
    (
        Counter,
        "gatehouse_provider_units_total",
        Unit::Count,
        "Units that a provider says it charges for, by its name for them",
    ),
    (
        Counter,
        "gatehouse_provider_cache_total",
        Unit::Count,
        "Looks for an earlier answer of a provider to an equal text, by outcome",
    ),
    (
        Gauge,
        "gatehouse_provider_paused",
        Unit::Count,
        "1 while a provider is not asked, by cause",
    ),
    (
        Counter,
        "gatehouse_images_total",
        Unit::Count,
        "Images, by what became of them",
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
        "From an event to its delivery",
    ),
    (
        Counter,
        "gatehouse_webhook_pages_spread_total",
        Unit::Count,
        "Jobs that told of many items and whose rest became a job for each, by reason",
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
        "Connections to tenants' addresses that requests may have open now",
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
        "Jobs of a queue that this process may run at once",
    ),
    (
        Gauge,
        "gatehouse_db_pool_connections",
        Unit::Count,
        "Connections of the process's pool, by state",
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
        "Always 1; the labels tell what runs",
    ),
    (
        Gauge,
        "gatehouse_uptime_seconds",
        Unit::Seconds,
        "Since the process started",
    ),
    (
        Gauge,
        "gatehouse_runtime_tasks",
        Unit::Count,
        "Tasks alive in the tokio runtime",
    ),
];

/// Describes them to the installed recorder.
pub(super) fn describe() {
    for (kind, name, unit, help) in METRICS {
        match kind {
            Counter => describe_counter!(name, unit, help),
            Gauge => describe_gauge!(name, unit, help),
            Histogram => describe_histogram!(name, unit, help),
        }
    }
}
