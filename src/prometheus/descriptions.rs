//! The descriptions of the metrics on `/metrics`: the name and the help of each. The queue describes its own metrics.

use metrics::{describe_counter, describe_gauge, describe_histogram};

const COUNTERS: [&str; 26] = [
    "gatehouse_http_requests_total: Requests by route, method and status class",
    "gatehouse_http_connections_refused_total: Connections refused because their address had used up its share",
    "gatehouse_http_accept_failures_total: Failed attempts to accept a connection, nearly always because no file descriptor \
     was free",
    "gatehouse_http_unreadable_requests_total: Requests that were not valid HTTP/1.1 or whose head was too large, by error code",
    "gatehouse_waits_total: Answers that were to wait for the verdict, by how the wait ended",
    "gatehouse_accept_rejected_total: Valid submissions that were not stored, by reason",
    "gatehouse_rate_limited_total: Requests answered with 429, by the limit that was reached",
    "gatehouse_paced_requests_total: Requests and error answers that were delayed, by policy",
    "gatehouse_quota_refused_total: Submissions refused because their team's quota was used up",
    "gatehouse_sign_ins_total: Steps of people's sign-ins, by outcome",
    "gatehouse_decisions_total: Verdicts by status and by who decided",
    "gatehouse_unchecked_total: Items that could not be checked completely, by what is missing",
    "gatehouse_provider_errors_total: Failed analyses by provider and reason",
    "gatehouse_provider_requests_total: HTTP requests sent to a provider, by kind of content",
    "gatehouse_provider_pieces_total: Pieces of texts: sent to a provider (asked), kept from an earlier run (kept), or to \
     be sent again after a failure (repeated)",
    "gatehouse_provider_tokens_total: Tokens that a provider reports as used, for questions (input) and answers (output)",
    "gatehouse_provider_units_total: Units that a provider reports as charged, by the provider's name for them",
    "gatehouse_provider_cache_total: Lookups of a provider's earlier answer to an equal text, by outcome",
    "gatehouse_images_total: Images by outcome",
    "gatehouse_image_fetches_total: Attempts to fetch an image, by outcome",
    "gatehouse_webhook_attempts_total: Attempts to deliver a webhook, by outcome",
    "gatehouse_webhook_pages_spread_total: Webhook jobs for many items that were split into one job per item, by reason",
    "gatehouse_egress_blocked_total: Requests to tenants' addresses that were refused, by reason",
    "gatehouse_outbound_waits_total: Requests that waited for a connection of their team's share, by outcome",
    "gatehouse_db_errors_total: Failed statements and connections, by class of the SQLSTATE",
    "gatehouse_sql_statements_total: Statements that this process sent to Postgres",
];

const GAUGES: [&str; 36] = [
    "gatehouse_http_connections: Open connections to the listeners",
    "gatehouse_accept_waiting: Submissions that wait to be stored",
    "gatehouse_waiting_requests: Stored submissions whose answers wait for the verdict",
    "gatehouse_accept_capacity: Submissions that may wait to be stored",
    "gatehouse_reviews_waiting: Items that wait for a person, at most 100000",
    "gatehouse_review_age_seconds: How long the oldest of them has waited",
    "gatehouse_reviews_overdue: Reviews that a person should have decided by now, at most 100000",
    "gatehouse_statistics_lag_seconds: Age of the time up to which everything is counted in the statistics",
    "gatehouse_provider_paused: 1 while no worker asks the provider, by cause",
    "gatehouse_webhook_endpoints: Endpoints of webhooks by state of their deliveries, at most 100000",
    "gatehouse_outbound_connections: Connections to tenants' addresses that requests can have open now",
    "gatehouse_outbound_idle_connections: Idle connections to webhook receivers",
    "gatehouse_worker_slots: Jobs of a queue that this process can run at once",
    "gatehouse_retention_last_success_timestamp_seconds: Unix time at which this process last removed everything that had \
     expired",
    "gatehouse_audit_unsealed_seconds: How old the oldest entry of the audit log is that is not sealed yet",
    "gatehouse_clock_offset_seconds: How far Postgres's clock is ahead of this machine's",
    "gatehouse_build_info: Always 1; the labels have the version",
    "gatehouse_uptime_seconds: Time since the process started",
    "gatehouse_runtime_tasks: Live tasks in the tokio runtime",
    "gatehouse_runtime_workers: Threads of the tokio runtime",
    "gatehouse_runtime_busy_ratio: Share of the last 5 s in which these threads ran tasks; 1 is all the time of all threads",
    "gatehouse_runtime_queue_depth: Tasks that wait in the shared queue of the runtime",
    "gatehouse_db_pool_connections: Connections of the process's pool, by state",
    "gatehouse_db_connections_allowed: Connections that Postgres allows, without those for administrators",
    "gatehouse_db_connections_used: Connections to Postgres that are open, of all clients",
    "gatehouse_db_connections_wanted: Connections that all processes together may open",
    "gatehouse_db_connections_scarce: 1 while Postgres has almost no free connections",
    "gatehouse_oldest_transaction_seconds: How long the oldest open transaction of a client has been open",
    "gatehouse_dead_tuples: Rows of a table that vacuum has not yet removed",
    "gatehouse_database_bytes: Size of the database",
    "gatehouse_wal_bytes_total: Write-ahead log that the server has written",
    "gatehouse_wal_files_bytes: Size of the files of the write-ahead log",
    "gatehouse_wal_target_bytes: Size up to which these files may grow while nothing else needs them",
    "gatehouse_wal_slot_bytes: Write-ahead log that the replication slot furthest behind needs",
    "gatehouse_wal_archive_failing: 1 while the last try to archive a file of the write-ahead log failed",
    "gatehouse_wal_archive_failures_total: Failed tries to archive a file of the write-ahead log",
];

const HISTOGRAMS: [&str; 8] = [
    "gatehouse_http_request_duration_seconds: Time from the head of a request to its answer",
    "gatehouse_accept_batch_rows: Submissions stored by one statement",
    "gatehouse_wait_seconds: How long answers waited for the verdict",
    "gatehouse_time_to_decision_seconds: Time from acceptance to the automatic verdict",
    "gatehouse_provider_request_duration_seconds: Time of one analysis by a provider",
    "gatehouse_image_bytes: Sizes of image files",
    "gatehouse_webhook_delivery_seconds: Time from an event to its delivery",
    "gatehouse_db_acquire_seconds: Time until a pool gave a caller a connection",
];

/// Describes them to the installed recorder.
pub(super) fn describe() {
    for (name, help) in COUNTERS.into_iter().filter_map(parts) {
        describe_counter!(name, help);
    }
    for (name, help) in GAUGES.into_iter().filter_map(parts) {
        describe_gauge!(name, help);
    }
    for (name, help) in HISTOGRAMS.into_iter().filter_map(parts) {
        describe_histogram!(name, help);
    }
}

fn parts(row: &'static str) -> Option<(&'static str, &'static str)> {
    row.split_once(": ")
}
