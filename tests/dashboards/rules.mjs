// The rules of Grafana's dashboard-linter, and our own, for one dashboard. Each mistake is a sentence.
import { RUNBOOKS } from "../../dashboards/source/panels.mjs";

const UNITS = new Set([
  "none", "short", "percent", "percentunit", "bytes", "Bps", "s", "reqps", "ops", "bool_on_off", "dateTimeFromNow",
]);
const TYPES = new Set(["row", "stat", "timeseries", "table"]);
/** At most so many panels: an overview fits one screen. */
const MOST_ON_OVERVIEW = 12;
/** Functions that a counter may be in. */
const OF_COUNTERS = new Set(["rate", "increase", "changes"]);

export const panelsOf = (dashboard) => dashboard.panels.filter((panel) => panel.type !== "row");
export const queriesOf = (dashboard) =>
  panelsOf(dashboard).flatMap((panel) => panel.targets.map((target) => ({ panel, expr: target.expr, sql: target.rawSql })));

/** The metrics of ours in a query, with their labels' matchers. Recorded series have a colon and are none. */
export function selectors(expr) {
  return [...expr.matchAll(/\b(up|(?:gatehouse|process)_\w+)\b(?!:)(?:\{([^}]*)\})?/g)].map(([, metric, labels = ""]) => ({ metric, labels }));
}

/** Recorded series in a query. */
export const recorded = (expr) => [...expr.matchAll(/\bgatehouse:[\w:]+/g)].map(([name]) => name);

function ofVariables(dashboard, say) {
  const variables = new Map(dashboard.templating.list.map((variable) => [variable.name, variable]));
  const sources = dashboard.templating.list.filter((variable) => variable.type === "datasource");
  if (sources.length !== 1) say("has not one variable for its data source");
  const onPostgres = variables.has("postgres_datasource");
  if (onPostgres) {
    const source = variables.get("postgres_datasource");
    if (source.query !== "grafana-postgresql-datasource" || source.label !== "Postgres data source") say("variable postgres_datasource");
    return;
  }
  const source = variables.get("datasource");
  if (source?.query !== "prometheus" || source?.label !== "Data source") say("needs a variable datasource, labelled Data source");
  for (const name of ["job", "instance"]) {
    if (!variables.has(name)) say(`needs a variable ${name}`);
  }
  for (const variable of dashboard.templating.list.filter(({ type }) => type === "query")) {
    const { name } = variable;
    if (variable.label !== name[0].toUpperCase() + name.slice(1)) say(`variable ${name}: label ${variable.label}`);
    if (variable.allValue !== ".+") say(`variable ${name}: allValue must be .+`);
    if (!variable.multi || !variable.includeAll) say(`variable ${name}: must take several values, and all`);
    if (variable.refresh !== 2) say(`variable ${name}: must be read again when the time changes`);
    if (variable.datasource.uid !== "${datasource}") say(`variable ${name}: data source`);
    if (!/^label_values\(gatehouse_\w+(\{.*\})?, \w+\)$/.test(variable.query.query)) say(`variable ${name}: query ${variable.query.query}`);
  }
}

function ofQuery(dashboard, expr, say) {
  for (const { metric, labels } of selectors(expr)) {
    for (const name of ["job", "instance"]) {
      if (!labels.includes(`${name}=~"$${name}"`)) say(`${metric} does not match the variable ${name}`);
    }
  }
  for (const [, name, variable] of expr.matchAll(/(\w+)=~"\$(\w+)"/g)) {
    if (name !== variable || !dashboard.templating.list.some((v) => v.name === variable)) say(`there is no variable for ${name}=~"$${variable}"`);
  }
  for (const [, call, range] of expr.matchAll(/\b(rate|irate|increase|changes)\(.*?\[(.*?)\]/g)) {
    if (call === "irate") say("irate shows only the last two samples");
    else if (call === "rate" ? range !== "$__rate_interval" : range !== "15m") say(`${call} over ${range}`);
  }
  for (const [, before, counter] of expr.matchAll(/(\w*)\(?\s*(\b(?:gatehouse|process)_\w+_total)\b/g)) {
    if (!OF_COUNTERS.has(before)) say(`counter ${counter} is not in rate or increase`);
  }
  for (const [quantile] of expr.matchAll(/histogram_quantile\([^)]*\)?/g)) {
    if (!/sum by \(le\b/.test(quantile) || !/_bucket\b/.test(expr)) say("histogram_quantile needs sum by (le) of _bucket");
  }
  let depth = 0;
  for (const character of expr.replace(/"[^"]*"/g, "")) {
    depth += { "(": 1, ")": -1 }[character] ?? 0;
    if (depth < 0) break;
  }
  if (depth !== 0) say("brackets do not match");
}

function ofPanel(dashboard, panel, uids, say) {
  if (!TYPES.has(panel.type)) say(`type ${panel.type}`);
  if (!panel.title) say("has no title");
  if (!panel.description || !/[.!?:]$/.test(panel.description)) say("has no description of whole sentences");
  if (!UNITS.has(panel.fieldConfig.defaults.unit)) say(`unit ${panel.fieldConfig.defaults.unit}`);
  for (const { properties } of panel.fieldConfig.overrides) {
    for (const { id, value } of properties) if (id === "unit" && !UNITS.has(value)) say(`unit ${value}`);
  }
  const onPostgres = dashboard.templating.list[0].name === "postgres_datasource";
  const uid = onPostgres ? "${postgres_datasource}" : "${datasource}";
  if (panel.datasource.uid !== uid) say("does not use the data source that is chosen");
  if (!panel.targets?.length) say("has no query");
  for (const target of panel.targets ?? []) {
    if (target.datasource.uid !== uid) say("a query does not use the data source that is chosen");
    if (onPostgres) {
      for (const [, from] of target.rawSql.matchAll(/\b(?:from|join)\s+([\w.]+)/g)) {
        if (!from.startsWith("ops.") && !/extract\(epoch from$/.test(target.rawSql.split(from)[0].trim())) say(`reads ${from}`);
      }
      if (!/\blimit \d+\b|\b(sum|count|min)\(/.test(target.rawSql)) say("has no limit");
    } else {
      ofQuery(dashboard, target.expr, say);
    }
  }
  for (const { url } of panel.links) {
    const [, opened] = url.match(/^\/d\/([\w-]+)\?/) ?? [];
    if (opened ? !uids.includes(opened) : !url.startsWith(`${RUNBOOKS}#gatehouse`)) say(`link ${url}`);
  }
}

/** Every mistake in a dashboard. `uids` are those of all. */
export function mistakes(dashboard, uids) {
  const found = [];
  const say = (what) => found.push(`${dashboard.uid}: ${what}`);
  if (!/^gatehouse-[a-z-]{3,30}$/.test(dashboard.uid)) say("uid");
  if (dashboard.editable !== false) say("can be edited");
  if (!dashboard.title || !dashboard.description) say("has no title or description");
  if (!dashboard.tags.includes("gatehouse")) say("does not have the tag gatehouse, by which dashboards link to each other");
  if (!dashboard.links.some((link) => link.type === "dashboards" && link.tags.includes("gatehouse") && link.keepTime)) say("does not link to the others");
  ofVariables(dashboard, say);
  if (!dashboard.templating.list.some(({ name }) => name === "postgres_datasource")) {
    const names = dashboard.annotations.list.map(({ name }) => name).join();
    if (names !== "Version change,Restart") say(`annotations: ${names}`);
  }
  const panels = panelsOf(dashboard);
  if (dashboard.uid === "gatehouse-overview" && panels.length > MOST_ON_OVERVIEW) say(`${panels.length} panels`);
  if (new Set(dashboard.panels.map(({ id }) => id)).size !== dashboard.panels.length) say("two panels have one id");
  const cells = new Set();
  for (const { gridPos: { x, y, w, h }, title } of dashboard.panels) {
    if (x + w > 24) say(`${title} is too wide`);
    for (let column = x; column < x + w; column++) {
      for (let line = y; line < y + h; line++) {
        const cell = `${column} ${line}`;
        if (cells.has(cell)) say(`${title} is on another panel`);
        cells.add(cell);
      }
    }
  }
  for (const panel of panels) ofPanel(dashboard, panel, uids, (what) => say(`${panel.title}: ${what}`));
  return [...new Set(found)];
}
