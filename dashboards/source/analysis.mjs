// Which provider?
import { dashboard } from "./frame.mjs";
import { graph, row, stat } from "./panels.mjs";
import { perSecond, quantile } from "./queries.mjs";

const SECONDS = "gatehouse_provider_request_duration_seconds";

export default dashboard({
  name: "analysis",
  title: "analysis",
  about: "Which provider is slow, fails or is paused, what could not be checked because of it, and what the verdicts are.",
  panels: [
    row("At a glance"),
    stat({
      title: "Paused providers",
      says: "Providers that no worker asks now, because of a limit or after five failures in a row.",
      query: "count(max by (provider) (gatehouse_provider_paused) == 1) or vector(0)",
      unit: "short", decimals: 0, limits: { red: 1 }, runbook: "ProviderPaused",
    }),
    stat({
      title: "Analyses that failed",
      says: "Failed analyses as a share of all.",
      query: `sum(rate(gatehouse_provider_errors_total[$__rate_interval])) / sum(rate(${SECONDS}_count[$__rate_interval]))`,
      unit: "percentunit", decimals: 1, limits: { orange: 0.01, red: 0.1 }, runbook: "ProviderPaused",
    }),
    stat({
      title: "Unchecked items",
      says: "Items of which something could not be checked, as a share of all verdicts of the machine. The site's on_failure decided them.",
      query: 'sum(rate(gatehouse_unchecked_total[$__rate_interval])) / sum(rate(gatehouse_decisions_total{type!="manual"}[$__rate_interval]))',
      unit: "percentunit", decimals: 1, limits: { orange: 0.01, red: 0.05 }, runbook: "UncheckedShare",
    }),
    stat({
      title: "Time to a verdict, p99",
      says: "Time from acceptance to the machine's verdict.",
      query: quantile(0.99, "gatehouse_time_to_decision_seconds"),
      unit: "s", limits: { orange: 10, red: 60 }, runbook: "QueueLag", opens: "queues-and-workers",
    }),
    stat({
      title: "Waiting for a person",
      says: "Items that wait for review.",
      query: "max(gatehouse_reviews_waiting)",
      unit: "short", decimals: 0, runbook: "ReviewAge", opens: "tenants",
    }),
    stat({
      title: "Oldest review",
      says: "How long the oldest of them has waited. Which team it belongs to: dashboard Tenants.",
      query: "max(gatehouse_review_age_seconds)",
      unit: "s", decimals: 0, limits: { orange: 86400, red: 259200 }, runbook: "ReviewAge", opens: "tenants",
    }),

    row("Providers"),
    graph({
      title: "Time of an analysis",
      says: "Time of one analysis by each provider.",
      series: [["{{provider}} p50", quantile(0.5, SECONDS, { by: "provider" })], ["{{provider}} p99", quantile(0.99, SECONDS, { by: "provider" })]],
      unit: "s", runbook: "ProviderPaused",
    }),
    graph({
      title: "Failures",
      says: "Failed analyses by reason. denied: a wrong key or account. limited: our limit at the provider. malformed: an answer that we do not understand.",
      series: [["{{provider}} {{reason}}", perSecond("gatehouse_provider_errors_total", "provider, reason")]],
      unit: "ops", runbook: "ProviderPaused",
    }),
    graph({
      title: "Paused",
      says: "1 while no worker asks the provider: because of a limit, or because its breaker is open.",
      series: [["{{provider}} {{cause}}", "max by (provider, cause) (gatehouse_provider_paused)"]],
      unit: "bool_on_off", max: 1, runbook: "ProviderPaused",
    }),
    graph({
      title: "Requests to providers", width: 6,
      says: "HTTP requests, failed ones included. This is what providers count.",
      series: [["{{provider}} {{modality}}", perSecond("gatehouse_provider_requests_total", "provider, modality")]],
      unit: "reqps",
    }),
    graph({
      title: "Pieces of texts", width: 6,
      says: "asked: sent. kept: an earlier run of the item had the answer. repeated: sent again after a failure.",
      series: [["{{provider}} {{what}}", perSecond("gatehouse_provider_pieces_total", "provider, what")]],
      unit: "ops",
    }),
    graph({
      title: "Tokens and units", width: 6,
      says: "What providers report as used or charged. Providers that report nothing stay at 0.",
      series: [
        ["{{provider}} {{kind}} tokens", perSecond("gatehouse_provider_tokens_total", "provider, kind")],
        ["{{provider}} {{unit}}", `${perSecond("gatehouse_provider_units_total", "provider, unit")} or label_replace(vector(0), "unit", "units", "", "")`],
      ],
      unit: "ops",
    }),
    graph({
      title: "Answers for equal texts", width: 6,
      says: "Lookups of an earlier answer, for sites with answer_cache_seconds. A hit asks no provider.",
      series: [["{{provider}} {{outcome}}", perSecond("gatehouse_provider_cache_total", "provider, outcome")]],
      unit: "ops",
    }),

    row("Verdicts"),
    graph({
      title: "Verdicts",
      says: "By status, and by who decided: the machine by scores (ai) or rules (rule), or a person (manual).",
      series: [["{{status}} {{type}}", perSecond("gatehouse_decisions_total", "status, type")]],
      unit: "ops", stack: true,
    }),
    graph({
      title: "Approved share",
      says: "Approved items as a share of the machine's verdicts, over an hour. A jump without a change of rules: a provider scores differently. It needs the recording rules in alerts/.",
      series: [["approved", "gatehouse:approved:ratio_rate1h"]],
      unit: "percentunit", max: 1, coloured: true, runbook: "ApprovedShift",
    }),
    graph({
      title: "Unchecked share",
      says: "Items of which something could not be checked, over 15 minutes. It needs the recording rules in alerts/.",
      series: [["unchecked", "gatehouse:unchecked:ratio_rate15m"]],
      unit: "percentunit", limits: { red: 0.05 }, runbook: "UncheckedShare",
    }),
    graph({
      title: "What was not checked",
      says: "By what is missing. provider_failed: no provider answered. rules_too_heavy: a rule group needs more than the limits allow. image_*: the image could not be fetched or read.",
      series: [["{{what}}", perSecond("gatehouse_unchecked_total", "what")]],
      unit: "ops", runbook: "UncheckedShare",
    }),
    graph({
      title: "Time to a verdict",
      says: "Time from acceptance to the machine's verdict.",
      series: [0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, "gatehouse_time_to_decision_seconds")]),
      unit: "s", runbook: "QueueLag",
    }),
    graph({
      title: "Reviews",
      says: "Items that wait for a person, and reviews that a person should have decided by now.",
      series: [["waiting", "max(gatehouse_reviews_waiting)"], ["overdue", "max(gatehouse_reviews_overdue)"]],
      unit: "short", runbook: "ReviewsOverdue", opens: "tenants",
    }),

    row("Images"),
    graph({
      title: "Images",
      says: "examined, or why not.",
      series: [["{{outcome}}", perSecond("gatehouse_images_total", "outcome")]],
      unit: "ops", coloured: true,
    }),
    graph({
      title: "Fetches",
      says: "Attempts to fetch an image from its URL. busy: the team had no free connection. refused: the address is not public.",
      series: [["{{outcome}}", perSecond("gatehouse_image_fetches_total", "outcome")]],
      unit: "ops", coloured: true,
    }),
    graph({
      title: "Size of images",
      says: "Size of image files, fetched or sent.",
      series: [["p50", quantile(0.5, "gatehouse_image_bytes")], ["p99", quantile(0.99, "gatehouse_image_bytes")]],
      unit: "bytes",
    }),
  ],
});
