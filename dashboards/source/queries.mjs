// Parts of PromQL that many panels use.

/** Requests of applications: what the service promises to answer, and what the error budget counts. */
export const PUBLIC = 'route=~".*/(submit-media|get-media-status)"';
/** Requests of load balancers and of Prometheus. They would hide the errors of others. */
export const PROBES = "/healthz|/readyz|/metrics";
/** The queues that an item passes before its verdict. */
export const BEFORE_VERDICT = 'queue=~"analysis|images|rules"';
/** The share of requests that may fail. */
export const BUDGET = "0.001";

/** Adds the dashboard's job and instance to every selector of a query. Recorded series (with a colon) have neither. */
export function narrowed(query) {
  return query.replace(/\b(up|(?:gatehouse|process)_\w+)\b(?!:)(?:\{([^}]*)\})?/g, (_, metric, labels) =>
    `${metric}{job=~"$job", instance=~"$instance"${labels ? `, ${labels}` : ""}}`);
}

/** The increase of counters a second, added up. */
export function perSecond(counter, by = "") {
  return `sum${by && ` by (${by})`}(rate(${counter}[$__rate_interval]))`;
}

/** The increase of counters over the last 15 minutes: of what is rare, a rate would not be seen. */
export function lately(counter, by = "") {
  return `sum${by && ` by (${by})`}(increase(${counter}[15m]))`;
}

/** A quantile of a histogram. `labels` are like `queue="rules"`. */
export function quantile(q, histogram, { by = "", labels = "" } = {}) {
  const buckets = `${histogram}_bucket${labels && `{${labels}}`}`;
  return `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (rate(${buckets}[$__rate_interval])))`;
}

/** The average of a histogram's values. */
export function average(histogram, by = "") {
  return `${perSecond(`${histogram}_sum`, by)} / ${perSecond(`${histogram}_count`, by)}`;
}
