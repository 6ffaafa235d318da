// Are the promises kept now? At most 12 panels, so that it fits one screen.
import { dashboard } from "./frame.mjs";
import { graph, list, stat } from "./panels.mjs";
import { BEFORE_VERDICT, BUDGET, PUBLIC, perSecond, quantile } from "./queries.mjs";

const SUBMIT = 'route=~".*/submit-media"';
const recorded = (window) => `gatehouse:requests:error_ratio_rate${window}`;

export default dashboard({
  name: "overview",
  title: "overview",
  about: "Are the promises kept now? If a number is not green, open the dashboard that its panel links to.",
  panels: [
    stat({
      title: "Error budget left",
      says: "One request in a thousand of submit-media and get-media-status may fail with 5xx. The share of this budget that is left of the last three days. At 0 % the promise is broken. It needs the recording rules in alerts/.",
      query: `1 - ${recorded("3d")} / ${BUDGET}`,
      unit: "percentunit", decimals: 1, limits: { red: 0, orange: 0.25, worse: "lower" },
      runbook: "BudgetBurn", opens: "api",
    }),
    stat({
      title: "Submissions, p99",
      says: "99 of 100 submissions are answered faster than this. More than a second is too slow.",
      query: quantile(0.99, "gatehouse_http_request_duration_seconds", { labels: SUBMIT }),
      unit: "s", limits: { orange: 0.25, red: 1 },
      runbook: "SubmitSlow", opens: "api",
    }),
    stat({
      title: "Oldest undecided item",
      says: "How long the oldest item that is due for analysis or judgement has waited. It also grows while nobody can read the queues.",
      query: `max(time() - max by (queue) (gatehouse_queue_oldest_due_timestamp_seconds{${BEFORE_VERDICT}}))`,
      unit: "s", decimals: 0, limits: { orange: 60, red: 300 },
      runbook: "QueueLag", opens: "queues-and-workers",
    }),
    stat({
      title: "Webhooks, p99",
      says: "Time from an event to its delivery at the first attempt, for 99 of 100 webhooks. Retries do not count, because receivers cause them. A pause of a failing receiver counts.",
      query: quantile(0.99, "gatehouse_webhook_delivery_seconds", { labels: 'attempt_class="first"' }),
      unit: "s", limits: { orange: 5, red: 60 },
      runbook: "WebhooksFailing", opens: "webhooks",
    }),
    stat({
      title: "Dead jobs",
      says: "Jobs that used up their attempts, in all queues. They stay until somebody replays or discards them.",
      query: 'sum(max by (queue) (gatehouse_queue_jobs{state="dead"}))',
      unit: "short", decimals: 0, limits: { orange: 1 },
      runbook: "JobsDied", opens: "queues-and-workers",
    }),
    stat({
      title: "Processes up",
      says: "Processes that Prometheus can read.",
      query: "sum(up)",
      unit: "short", decimals: 0, limits: { red: 1, worse: "lower" },
      runbook: "RestartLoop", opens: "queues-and-workers",
    }),
    graph({
      title: "Budget burn",
      says: "How many times faster than allowed the error budget is used. At 1 it lasts exactly its period. 14.4 wakes somebody if it lasts an hour, 6 if it lasts six hours.",
      series: ["5m", "1h", "6h"].map((window) => [`over ${window}`, `${recorded(window)} / ${BUDGET}`]),
      unit: "short", limits: { orange: 6, red: 14.4 },
      runbook: "BudgetBurn", opens: "api",
    }),
    graph({
      title: "Submissions and verdicts",
      says: "Accepted submissions, and verdicts by status. While both are equal, nothing piles up.",
      series: [
        ["accepted", perSecond(`gatehouse_http_requests_total{${SUBMIT}, code_class="2xx"}`)],
        ["{{status}}", perSecond("gatehouse_decisions_total", "status")],
      ],
      unit: "ops", coloured: true, opens: "analysis",
    }),
    graph({
      title: "Answers that failed",
      says: "Requests of applications by class of status. 5xx is our fault. 4xx is the client's, or a limit.",
      series: [["{{code_class}}", perSecond(`gatehouse_http_requests_total{${PUBLIC}, code_class=~"4xx|5xx"}`, "code_class")]],
      unit: "reqps", coloured: true,
      runbook: "BudgetBurn", opens: "api",
    }),
    graph({
      title: "Lag",
      says: "How long the oldest due job of each queue has waited. If it grows, look at busy slots: either more workers help, or what they wait for is slow.",
      series: [["{{queue}}", "time() - max by (queue) (gatehouse_queue_oldest_due_timestamp_seconds)"]],
      unit: "s", limits: { orange: 60, red: 300 },
      runbook: "QueueLag", opens: "queues-and-workers",
    }),
    graph({
      title: "Time to a verdict",
      says: "Time from acceptance to the machine's verdict. Reviews by people do not count.",
      series: [["p50", quantile(0.5, "gatehouse_time_to_decision_seconds")], ["p99", quantile(0.99, "gatehouse_time_to_decision_seconds")]],
      unit: "s", opens: "analysis",
    }),
    list({
      title: "Processes",
      says: "Every process with its version, and how long it has run. Two versions for longer than an upgrade takes are a mistake.",
      query: "gatehouse_uptime_seconds * on (job, instance) group_left (version) gatehouse_build_info",
      labels: ["job", "instance", "version"], value: "up for", unit: "s", limits: { orange: 300, worse: "lower" },
      runbook: "VersionSkew",
    }),
  ],
});
