// Asks a Prometheus as Grafana does.

export class Source {
  constructor(address) {
    this.address = address;
  }

  async #get(path, parameters) {
    const answer = await fetch(`http://${this.address}/api/v1/${path}`, { method: "POST", body: new URLSearchParams(parameters) });
    const { error, data } = await answer.json();
    if (error) throw new Error(error);
    return data.result;
  }

  /** The samples of a query at a time: {metric, value}. */
  async query(expr, time = Date.now() / 1000) {
    return (await this.#get("query", { query: substituted(expr), time })).map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** The curves of a query: {metric, points: [seconds, value][]}. */
  async range(expr, start, end, step) {
    const result = await this.#get("query_range", { query: substituted(expr), start, end, step });
    return result.map(({ metric, values }) => ({ metric, points: values.map(([time, value]) => [time, Number(value)]) }));
  }
}

/** As Grafana does when everything is chosen. */
function substituted(expr) {
  const query = expr.replaceAll("$__rate_interval", "20s").replace(/\$(job|instance|queue)\b/g, ".+");
  if (query.includes("$")) throw new Error(`an unknown variable: ${query}`);
  return query;
}
