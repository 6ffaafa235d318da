// Is Postgres the limit?
import { dashboard } from "./frame.mjs";
import { graph, row, stat } from "./panels.mjs";
import { lately, perSecond, quantile } from "./queries.mjs";

const ACQUIRE = "gatehouse_db_acquire_seconds";
const TRANSACTION = "max(gatehouse_oldest_transaction_seconds)";
const RETENTION = "time() - max(gatehouse_retention_last_success_timestamp_seconds)";

export default dashboard({
  name: "database",
  title: "database",
  about: "Is Postgres the limit? Time to get a connection, errors, old transactions, dead rows and growth. If Postgres is slow, more workers make it worse.",
  panels: [
    row("At a glance"),
    stat({
      title: "Connection, p99",
      says: "Time until a connection of the pool is free. It grows first when Postgres is the limit.",
      query: quantile(0.99, ACQUIRE),
      unit: "s", limits: { orange: 0.05, red: 0.5 }, runbook: "DatabaseErrors",
    }),
    stat({
      title: "Errors",
      says: "Failed statements over 15 minutes, without refusals that are part of normal work (classes 22, 23 and 40).",
      query: 'sum(increase(gatehouse_db_errors_total{class!~"22|23|40"}[15m]))',
      unit: "short", decimals: 0, limits: { orange: 1, red: 100 }, runbook: "DatabaseErrors",
    }),
    stat({
      title: "Busy connections",
      says: "Busy connections as a share of the pools' open ones.",
      query: 'sum(gatehouse_db_pool_connections{state="busy"}) / sum(gatehouse_db_pool_connections)',
      unit: "percentunit", decimals: 0, limits: { orange: 0.8, red: 0.95 },
    }),
    stat({
      title: "Oldest transaction",
      says: "Age of the oldest open transaction of the server. It keeps dead rows and delays statistics and recoveries. No data: gatehouse check says which grant is missing.",
      query: TRANSACTION,
      unit: "s", decimals: 0, limits: { orange: 60, red: 300 }, runbook: "OldTransaction",
    }),
    stat({
      title: "Size",
      says: "Size of the database.",
      query: "max(gatehouse_database_bytes)", unit: "bytes", decimals: 1, runbook: "DiskGrowth",
    }),
    stat({
      title: "Last retention",
      says: "How long ago old rows were last deleted. It runs every ten minutes.",
      query: RETENTION,
      unit: "s", decimals: 0, limits: { orange: 1800, red: 3600 }, runbook: "RetentionLate",
    }),

    row("Is it slow?"),
    graph({
      title: "Time to a connection",
      says: "Time until a connection of the pool is free.",
      series: [0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, ACQUIRE)]),
      unit: "s", runbook: "DatabaseErrors",
    }),
    graph({
      title: "Connections",
      says: "Connections of each process's pool. All busy for long: Postgres is slow, or the pool is too small.",
      series: [["{{instance}} {{state}}", "sum by (instance, state) (gatehouse_db_pool_connections)"]],
      unit: "short", stack: true,
    }),
    graph({
      title: "Claim, p99",
      says: "Time in which workers get jobs. The same statement all the time, so it shows Postgres's speed.",
      series: [["{{queue}}", quantile(0.99, "gatehouse_queue_claim_seconds", { by: "queue" })]],
      unit: "s", opens: "queues-and-workers",
    }),
    graph({
      title: "Statements", width: 12,
      says: "Statements a second, of all processes.",
      series: [["statements", perSecond("gatehouse_sql_statements_total")]],
      unit: "ops",
    }),
    graph({
      title: "Statements for each item", width: 12,
      says: "Statements as a multiple of accepted submissions. It falls under load, because statements serve many items at once.",
      series: [["statements", `${perSecond("gatehouse_sql_statements_total")} / ${perSecond('gatehouse_http_requests_total{route=~".*/submit-media", code_class="2xx"}')}`]],
      unit: "short", decimals: 1,
    }),

    row("Does it fail?"),
    graph({
      title: "Errors by class",
      says: "Failed statements over 15 minutes by class of SQLSTATE. 53: no connections, memory or disk. 57: it shuts down or starts. 25: the session is on a read-only server. 08 and io: the connection broke. pool: no connection in time.",
      series: [["{{class}}", `${lately("gatehouse_db_errors_total", "class")} > 0 or ${lately('gatehouse_db_errors_total{class=~"53|57"}', "class")}`]],
      unit: "short", bars: true, runbook: "DatabaseErrors",
    }),
    graph({
      title: "Submissions not stored",
      says: "overloaded and unavailable: Postgres is slow or away. Clients got 503 and try again.",
      series: [["{{reason}}", perSecond('gatehouse_accept_rejected_total{reason=~"overloaded|unavailable"}', "reason")]],
      unit: "reqps", runbook: "BudgetBurn", opens: "api",
    }),
    graph({
      title: "Clock of Postgres",
      says: "How far Postgres's clock is ahead of the machine's.",
      series: [["{{instance}}", "max by (instance) (gatehouse_clock_offset_seconds)"]],
      unit: "s", signed: true, runbook: "ClockOffset",
    }),

    row("Does it grow?"),
    graph({
      title: "Oldest transaction",
      says: "Age of the oldest open transaction. Over five minutes, end it: pg_stat_activity says whose it is.",
      series: [["oldest", TRANSACTION]],
      unit: "s", limits: { orange: 60, red: 300 }, runbook: "OldTransaction",
    }),
    graph({
      title: "Dead rows",
      says: "Rows that vacuum has still to remove. They grow while a transaction stays open.",
      series: [["{{table}}", "max by (table) (gatehouse_dead_tuples)"]],
      unit: "short", runbook: "OldTransaction",
    }),
    graph({
      title: "Size",
      says: "Size of the database. Compare it with the disk.",
      series: [["size", "max(gatehouse_database_bytes)"]],
      unit: "bytes", runbook: "DiskGrowth",
    }),
    graph({
      title: "Connections of the server",
      says: "Open connections of all clients, those that all processes together may open, and those that Postgres allows. Near the limit, the processes take turns and are slower.",
      series: [
        ["open", "max(gatehouse_db_connections_used)"],
        ["wanted", "max(gatehouse_db_connections_wanted)"],
        ["allowed", "max(gatehouse_db_connections_allowed)"],
        ["processes that take turns", "sum(gatehouse_db_connections_scarce)"],
      ],
      unit: "short", runbook: "ConnectionsScarce",
    }),
    graph({
      title: "WAL",
      says: "Write-ahead log written a second. Replicas and archives must keep up with it.",
      series: [["written", "max(rate(gatehouse_wal_bytes_total[$__rate_interval]))"]],
      unit: "Bps", runbook: "DiskGrowth",
    }),
    graph({
      title: "Files of the WAL",
      says: "Size of pg_wal, the size up to which Postgres lets it grow, and what the replication slot furthest behind needs. Far over the target: a slot, or an archive that fails. No files: gatehouse check says which grant is missing.",
      series: [
        ["files", "max(gatehouse_wal_files_bytes)"],
        ["target", "max(gatehouse_wal_target_bytes)"],
        ["needed by a slot", "max(gatehouse_wal_slot_bytes)"],
      ],
      unit: "bytes", runbook: "WalGrowth",
    }),
    graph({
      title: "Archiving",
      says: "Failed tries over 15 minutes, and 1 while the last try failed. Meanwhile no backup gets newer, and pg_wal grows.",
      series: [
        ["failed tries", "max(increase(gatehouse_wal_archive_failures_total[15m]))"],
        ["failing", "max(gatehouse_wal_archive_failing)"],
      ],
      unit: "short", limits: { red: 1 }, runbook: "ArchivingFails",
    }),
    graph({
      title: "Last retention",
      says: "How long ago old rows were last deleted.",
      series: [["age", RETENTION]],
      unit: "s", limits: { red: 3600 }, runbook: "RetentionLate",
    }),
    graph({
      title: "Audit log not sealed",
      says: "Age of the oldest entry of the audit log that is not sealed. Normally a few seconds.",
      series: [["oldest", "max(gatehouse_audit_unsealed_seconds)"]],
      unit: "s", limits: { red: 600 }, runbook: "AuditUnsealed",
    }),
    graph({
      title: "Lag of the statistics",
      says: "Age of the time up to which everything is counted. Normally at most 90 s. An open transaction holds it back.",
      series: [["lag", "min(gatehouse_statistics_lag_seconds)"]],
      unit: "s", limits: { red: 900 }, runbook: "OldTransaction",
    }),
  ],
});
