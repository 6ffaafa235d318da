// Who fails, and why?
import { dashboard } from "./frame.mjs";
import { graph, row, stat } from "./panels.mjs";
import { average, PROBES, PUBLIC, perSecond, quantile } from "./queries.mjs";

const OTHERS = `route!~"${PROBES}"`;
const SECONDS = "gatehouse_http_request_duration_seconds";
const REQUESTS = "gatehouse_http_requests_total";

export default dashboard({
  name: "api",
  title: "API",
  about: "Which requests fail or are slow, and why: by route and class of status, the way of a submission into Postgres, limits, and connections.",
  panels: [
    row("At a glance"),
    stat({
      title: "Requests",
      says: "Requests of all routes, without probes and scrapes.",
      query: perSecond(`${REQUESTS}{${OTHERS}}`), unit: "reqps", decimals: 1,
    }),
    stat({
      title: "Failed",
      says: "Share of submissions and status queries answered with 5xx. The promise is 0.1 %.",
      query: `sum(rate(${REQUESTS}{${PUBLIC}, code_class="5xx"}[$__rate_interval])) / sum(rate(${REQUESTS}{${PUBLIC}}[$__rate_interval]))`,
      unit: "percentunit", decimals: 2, limits: { orange: 0.0005, red: 0.001 },
      runbook: "BudgetBurn",
    }),
    stat({
      title: "Slower than 1 s",
      says: "Share of submissions and status queries that took more than a second.",
      query: `1 - sum(rate(${SECONDS}_bucket{${PUBLIC}, le="1"}[$__rate_interval])) / sum(rate(${SECONDS}_count{${PUBLIC}}[$__rate_interval]))`,
      unit: "percentunit", decimals: 2, limits: { orange: 0.005, red: 0.01 },
      runbook: "SubmitSlow",
    }),
    stat({
      title: "Refused by limits",
      says: "Requests answered with 429, by all limits together.",
      query: perSecond("gatehouse_rate_limited_total"), unit: "reqps", decimals: 1,
    }),
    stat({
      title: "Waiting to be stored",
      says: "Submissions that wait, as a share of those that may wait. At 100 % the API answers 503.",
      query: "max(gatehouse_accept_waiting / gatehouse_accept_capacity)",
      unit: "percentunit", decimals: 0, limits: { orange: 0.5, red: 0.9 },
      runbook: "BudgetBurn", opens: "database",
    }),
    stat({
      title: "Connections",
      says: "Open connections of clients, to all listeners.",
      query: "sum(gatehouse_http_connections)", unit: "short", decimals: 0,
    }),

    row("Requests"),
    graph({
      title: "Requests by route",
      says: "The ten busiest routes. Requests of unknown paths have the route unknown.",
      series: [["{{method}} {{route}}", `topk(10, ${perSecond(`${REQUESTS}{${OTHERS}}`, "route, method")} > 0)`]],
      unit: "reqps",
    }),
    graph({
      title: "Answers by class",
      says: "Without probes and scrapes, which always succeed and would hide errors.",
      series: [["{{code_class}}", perSecond(`${REQUESTS}{${OTHERS}}`, "code_class")]],
      unit: "reqps", stack: true, coloured: true, runbook: "BudgetBurn",
    }),
    graph({
      title: "5xx by route",
      says: "Which routes fail. overloaded: Postgres is slow or away. Anything else is a bug: look for the request id in the log.",
      series: [["{{method}} {{route}}", perSecond(`${REQUESTS}{${OTHERS}, code_class="5xx"}`, "route, method") + " > 0 or " + perSecond(`${REQUESTS}{${PUBLIC}, code_class="5xx"}`, "route, method")]],
      unit: "reqps", runbook: "BudgetBurn", opens: "database",
    }),
    graph({
      title: "Latency of submissions",
      says: "Time from the head of a request to its answer. A submission is answered when Postgres has stored it.",
      series: [0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, SECONDS, { labels: 'route=~".*/submit-media"' })]),
      unit: "s", runbook: "SubmitSlow",
    }),
    graph({
      title: "Latency by route, p99",
      says: "The ten slowest routes. Long requests of few people can be slow without harm.",
      series: [["{{method}} {{route}}", `topk(10, ${quantile(0.99, SECONDS, { by: "route, method", labels: OTHERS })} > 0)`]],
      unit: "s", runbook: "SubmitSlow",
    }),
    graph({
      title: "Probes and scrapes",
      says: "Requests of load balancers and of Prometheus, and the share of them that failed. A process that is not ready answers 503.",
      series: [
        ["{{route}}", perSecond(`${REQUESTS}{route=~"${PROBES}"}`, "route")],
        ["failed", perSecond(`${REQUESTS}{route=~"${PROBES}", code_class="5xx"}`)],
      ],
      unit: "reqps",
    }),

    row("Accepting submissions"),
    graph({
      title: "Waiting",
      says: "Submissions that wait to be stored, in each process, and how many may wait.",
      series: [
        ["{{instance}}", "sum by (instance) (gatehouse_accept_waiting)"],
        ["capacity of {{instance}}", "sum by (instance) (gatehouse_accept_capacity)"],
      ],
      unit: "short", runbook: "BudgetBurn", opens: "database",
    }),
    graph({
      title: "Rows per statement",
      says: "Submissions that one statement stores. It grows under load: that is how one Postgres stores thousands a second.",
      series: [["average", average("gatehouse_accept_batch_rows")], ["p99", quantile(0.99, "gatehouse_accept_batch_rows")]],
      unit: "short", decimals: 1,
    }),
    graph({
      title: "Not stored",
      says: "Valid submissions that were not stored. overloaded: more arrive than Postgres can commit. unavailable: Postgres does not answer. refused, failed and untried: Postgres fails on single submissions.",
      series: [["{{reason}}", perSecond("gatehouse_accept_rejected_total", "reason")]],
      unit: "reqps", runbook: "BudgetBurn", opens: "database",
    }),

    graph({
      title: "Requests that wait for a verdict",
      says: "Submissions with Prefer: wait whose answers wait, in each process.",
      series: [["{{instance}}", "sum by (instance) (gatehouse_waiting_requests)"]],
      unit: "short",
    }),
    graph({
      title: "Waiting for a verdict",
      says: "How long these answers waited, since their items were stored.",
      series: [
        ["p50", quantile(0.5, "gatehouse_wait_seconds")],
        ["p99", quantile(0.99, "gatehouse_wait_seconds")],
      ],
      unit: "s",
    }),
    graph({
      title: "Waits that ended without a verdict",
      says: "over: there was no verdict in time. unnoticed: it was there, but no other process had told of it. refused: too many waited.",
      series: [["{{outcome}}", perSecond('gatehouse_waits_total{outcome!="decided"}', "outcome")]],
      unit: "reqps",
    }),

    row("Limits"),
    graph({
      title: "Refused with 429",
      says: "Requests over a limit, by the limit: of a key (submit, status), of a team, or of the management interface. Who it is: dashboard Tenants.",
      series: [["{{policy}}", perSecond("gatehouse_rate_limited_total", "policy")]],
      unit: "reqps", opens: "tenants",
    }),
    graph({
      title: "Delayed",
      says: "Requests of teams that sent many at once, and answers to addresses that are refused often.",
      series: [["{{policy}}", perSecond("gatehouse_paced_requests_total", "policy")]],
      unit: "reqps",
    }),
    graph({
      title: "Quota used up",
      says: "Submissions refused because the team's quota of its billing period is used up.",
      series: [["refused", perSecond("gatehouse_quota_refused_total")]],
      unit: "reqps", opens: "tenants",
    }),

    row("Connections and people"),
    graph({
      title: "Connections of clients",
      says: "Open connections of each process.",
      series: [["{{instance}}", "sum by (instance) (gatehouse_http_connections)"]],
      unit: "short",
    }),
    graph({
      title: "Connections that failed",
      says: "refused: one address has used up its share. not accepted: no file descriptor was free, so raise ulimit -n. Others were not valid HTTP, by error code.",
      series: [
        ["refused", perSecond("gatehouse_http_connections_refused_total")],
        ["not accepted", perSecond("gatehouse_http_accept_failures_total")],
        ["{{code}}", perSecond("gatehouse_http_unreadable_requests_total", "code")],
      ],
      unit: "ops",
    }),
    graph({
      title: "Sign-ins",
      says: "Steps of people's sign-ins by outcome. Many wrong passwords or throttled attempts: somebody guesses.",
      series: [["{{outcome}}", perSecond("gatehouse_sign_ins_total", "outcome")]],
      unit: "ops",
    }),
  ],
});
