// Ours or theirs?
import { dashboard } from "./frame.mjs";
import { graph, row, stat } from "./panels.mjs";
import { lately, perSecond, quantile } from "./queries.mjs";

const ATTEMPTS = "gatehouse_webhook_attempts_total";
const SECONDS = "gatehouse_webhook_delivery_seconds";
const WEBHOOKS = 'queue="webhooks"';

export default dashboard({
  name: "webhooks",
  title: "webhooks",
  about: "When webhooks fail or are late: is it us, or the receivers? First attempts are ours. Outcomes of attempts and open breakers are theirs, mostly.",
  panels: [
    row("At a glance"),
    stat({
      title: "Delivered",
      says: "Webhooks delivered a second.",
      query: perSecond(`${ATTEMPTS}{outcome="delivered"}`), unit: "ops", decimals: 1,
    }),
    stat({
      title: "Attempts that failed",
      says: "Share of attempts that were not delivered. Receivers cause nearly all of them.",
      query: `1 - sum(rate(${ATTEMPTS}{outcome="delivered"}[$__rate_interval])) / sum(rate(${ATTEMPTS}[$__rate_interval]))`,
      unit: "percentunit", decimals: 1, limits: { orange: 0.1, red: 0.5 }, runbook: "WebhooksFailing",
    }),
    stat({
      title: "First attempt, p99",
      says: "Time from an event to its delivery at the first attempt. It is ours, except while the breaker of a failing receiver is open: then its first attempts wait, too.",
      query: quantile(0.99, SECONDS, { labels: 'attempt_class="first"' }),
      unit: "s", limits: { orange: 5, red: 60 }, runbook: "WebhooksFailing",
    }),
    stat({
      title: "Lag",
      says: "How long the oldest due job of the queue webhooks has waited. Retries are due later, so they do not count.",
      query: `max(time() - max by (queue) (gatehouse_queue_oldest_due_timestamp_seconds{${WEBHOOKS}}))`,
      unit: "s", decimals: 0, limits: { orange: 60, red: 300 }, runbook: "QueueLag", opens: "queues-and-workers",
    }),
    stat({
      title: "Open breakers",
      says: "Endpoints that are paused for up to five minutes, because they keep failing.",
      query: 'max(gatehouse_webhook_endpoints{state="open"})',
      unit: "short", decimals: 0, limits: { orange: 1 }, runbook: "WebhooksFailing", opens: "tenants",
    }),
    stat({
      title: "Disabled endpoints",
      says: "Endpoints that get nothing, because they answered 410, failed for five days, or somebody disabled them.",
      query: 'max(gatehouse_webhook_endpoints{state="disabled"})',
      unit: "short", decimals: 0, limits: { orange: 1 }, runbook: "EndpointDisabled", opens: "tenants",
    }),

    row("Theirs"),
    graph({
      title: "Attempts",
      says: "By outcome. status: the receiver answered, but not with 2xx. gone: it answered 410 and is disabled. connect, tls and timeout: it cannot be reached.",
      series: [["{{outcome}}", perSecond(ATTEMPTS, "outcome")]],
      unit: "ops", stack: true, coloured: true, runbook: "WebhooksFailing",
    }),
    graph({
      title: "Share that failed",
      says: "Over 15 minutes. One endpoint that fails has little weight, because its breaker opens. It needs the recording rules in alerts/.",
      series: [["failed", "gatehouse:webhooks:failed_ratio_rate15m"]],
      unit: "percentunit", max: 1, limits: { red: 0.5 }, runbook: "WebhooksFailing",
    }),
    graph({
      title: "Endpoints",
      says: "By state. failing: the last attempt failed. open: paused, because it keeps failing.",
      series: [["{{state}}", "max by (state) (gatehouse_webhook_endpoints)"]],
      unit: "short", coloured: true, runbook: "EndpointDisabled", opens: "tenants",
    }),
    graph({
      title: "Time to a retried delivery", width: 12,
      says: "Time from an event to its delivery by a retry. Retries go on for hours.",
      series: [["p50", quantile(0.5, SECONDS, { labels: 'attempt_class="retry"' })], ["p99", quantile(0.99, SECONDS, { labels: 'attempt_class="retry"' })]],
      unit: "s",
    }),
    graph({
      title: "Addresses refused", width: 12,
      says: "Over 15 minutes: requests to addresses that are not public, by reason. Somebody may try to reach your network.",
      series: [["{{reason}}", `${lately("gatehouse_egress_blocked_total", "reason")} > 0 or ${lately('gatehouse_egress_blocked_total{reason="private"}', "reason")}`]],
      unit: "short", bars: true, runbook: "EgressSpike", opens: "tenants",
    }),

    row("Ours"),
    graph({
      title: "Time to a first delivery",
      says: "Time from an event to its delivery at the first attempt. Look at open breakers, too: they delay first attempts to receivers that fail.",
      series: [0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, SECONDS, { labels: 'attempt_class="first"' })]),
      unit: "s", runbook: "WebhooksFailing",
    }),
    graph({
      title: "Lag",
      says: "How long the oldest due job has waited. Slow receivers take slots, so look at busy slots, too.",
      series: [["webhooks", `time() - max(gatehouse_queue_oldest_due_timestamp_seconds{${WEBHOOKS}})`]],
      unit: "s", limits: { orange: 60, red: 300 }, runbook: "QueueLag",
    }),
    graph({
      title: "Busy slots",
      says: "Busy slots as a share of all slots of the queue webhooks.",
      series: [["busy", `sum(gatehouse_worker_slots_busy{${WEBHOOKS}}) / sum(gatehouse_worker_slots{${WEBHOOKS}})`]],
      unit: "percentunit", max: 1, limits: { orange: 0.8, red: 0.95 }, opens: "queues-and-workers",
    }),
    graph({
      title: "Connections", width: 6,
      says: "Connections to receivers and image servers that requests can have open now, and idle ones.",
      series: [
        ["{{instance}}", "sum by (instance) (gatehouse_outbound_connections)"],
        ["{{instance}} idle", "sum by (instance) (gatehouse_outbound_idle_connections)"],
      ],
      unit: "short",
    }),
    graph({
      title: "Waits for a connection", width: 6,
      says: "Requests that waited because their team uses all its connections. gave_up: after 5 s, tried again later.",
      series: [["{{outcome}}", perSecond("gatehouse_outbound_waits_total", "outcome")]],
      unit: "ops", opens: "tenants",
    }),
    graph({
      title: "Pages that were split", width: 6,
      says: "Jobs for many items that became one job for each item, by reason. slow and failed are the receiver's fault.",
      series: [["{{reason}}", perSecond("gatehouse_webhook_pages_spread_total", "reason")]],
      unit: "ops",
    }),
    graph({
      title: "Clock of Postgres", width: 6,
      says: "How far Postgres's clock is ahead of the machine's. Webhooks are signed with Postgres's time. Receivers refuse signatures that are minutes off.",
      series: [["{{instance}}", "max by (instance) (gatehouse_clock_offset_seconds)"]],
      unit: "s", signed: true, runbook: "ClockOffset",
    }),
  ],
});
