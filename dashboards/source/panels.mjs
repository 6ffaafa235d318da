// Kinds of panels. Every panel has a title, a description (`says`) and a unit.
import { narrowed } from "./queries.mjs";

const PROMETHEUS = { type: "prometheus", uid: "${datasource}" };
const POSTGRES = { type: "grafana-postgresql-datasource", uid: "${postgres_datasource}" };

export const RUNBOOKS = "https://github.com/gatehouse-dev/gatehouse/blob/main/docs/runbooks.md";

const GREEN = "green", ORANGE = "orange", RED = "red";

/** Green below `orange`, and so on. A limit that falls (`worse: "lower"`) is red below `red`. */
function thresholds({ orange, red, worse = "higher" } = {}) {
  const step = (color, value) => ({ color, value });
  const steps = worse === "higher" ? [step(GREEN, null)] : [step(red === undefined ? ORANGE : RED, null)];
  if (worse === "higher") {
    if (orange !== undefined) steps.push(step(ORANGE, orange));
    if (red !== undefined) steps.push(step(RED, red));
  } else {
    if (red !== undefined) steps.push(step(ORANGE, red));
    steps.push(step(GREEN, orange ?? red));
  }
  return { mode: "absolute", steps };
}

function links({ runbook, opens }) {
  const all = [];
  if (opens) all.push({ title: `Open ${opens}`, url: `/d/gatehouse-${opens}?\${__url_time_range}&\${__all_variables}`, targetBlank: false });
  if (runbook) all.push({ title: `Runbook: ${runbook}`, url: `${RUNBOOKS}#gatehouse${runbook.toLowerCase()}`, targetBlank: true });
  return all;
}

function panel(type, given, targets, defaults, options) {
  const { title, says, width, height } = given;
  const datasource = given.sql ? POSTGRES : PROMETHEUS;
  return {
    type,
    title,
    description: says,
    datasource,
    gridPos: { h: height, w: width, x: 0, y: 0 },
    links: links(given),
    targets: targets.map((target, i) => ({ refId: String.fromCharCode(65 + i), datasource, ...target })),
    fieldConfig: { defaults, overrides: given.overrides ?? [] },
    options,
  };
}

const NUMBER = {
  reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
  colorMode: "value",
  graphMode: "none",
  textMode: "value",
  justifyMode: "auto",
  orientation: "auto",
  wideLayout: true,
  showPercentChange: false,
  percentChangeColorMode: "standard",
};

/** One number. `query` is evaluated at the end of the chosen time. */
export function stat(given) {
  const { query, unit, decimals, limits, width = 4, height = 4 } = given;
  return panel(
    "stat",
    { ...given, width, height },
    [{ expr: narrowed(query), instant: true, range: false, legendFormat: given.title }],
    { unit, ...(decimals === undefined ? {} : { decimals }), thresholds: thresholds(limits), color: { mode: "thresholds" }, noValue: "no data" },
    NUMBER,
  );
}

/** Always the same colours for what is good and bad. */
const COLOURS = {
  "2xx": GREEN, "4xx": ORANGE, "5xx": RED,
  delivered: GREEN, working: GREEN, approved: GREEN, done: GREEN, fetched: GREEN, examined: GREEN,
  rejected: RED, dead: RED, disabled: RED, failing: ORANGE, open: "dark-orange", pending_review: "blue", retry: ORANGE,
};

/** Curves. `series` has a query for each legend. With `stack`, areas add up. `signed`: they can be below 0. */
export function graph(given) {
  const { series, unit, signed = false, max, limits, stack = false, bars = false, width = 8, height = 8, decimals } = given;
  const named = Object.keys(COLOURS).filter((name) => series.some(([legend]) => legend.includes(`{{`) || legend === name));
  const colours = given.coloured ? named.map((name) => ({
    matcher: { id: "byName", options: name },
    properties: [{ id: "color", value: { mode: "fixed", fixedColor: COLOURS[name] } }],
  })) : [];
  return panel(
    "timeseries",
    { ...given, width, height, overrides: [...colours, ...(given.overrides ?? [])] },
    series.map(([legend, query]) => ({ expr: narrowed(query), legendFormat: legend, range: true })),
    {
      unit,
      ...(signed ? {} : { min: 0 }),
      ...(max === undefined ? {} : { max }),
      ...(decimals === undefined ? {} : { decimals }),
      thresholds: thresholds(limits),
      color: { mode: "palette-classic" },
      custom: {
        drawStyle: bars ? "bars" : "line",
        lineInterpolation: "linear",
        lineWidth: 1,
        fillOpacity: stack || bars ? 40 : 8,
        showPoints: "never",
        spanNulls: false,
        stacking: { mode: stack ? "normal" : "none", group: "A" },
        thresholdsStyle: { mode: limits ? "dashed" : "off" },
      },
    },
    {
      legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
      tooltip: { mode: "multi", sort: "desc" },
    },
  );
}

const cells = (columns) => Object.entries(columns ?? {}).map(([name, { unit, limits, width }]) => ({
  matcher: { id: "byName", options: name },
  properties: [
    ...(unit ? [{ id: "unit", value: unit }] : []),
    ...(width ? [{ id: "custom.width", value: width }] : []),
    ...(limits ? [{ id: "thresholds", value: thresholds(limits) }, { id: "custom.cellOptions", value: { type: "color-text" } }] : []),
  ],
}));

const TABLE = { frameIndex: 0, showHeader: true, cellHeight: "sm" };

/** The labels of a query's series, as they are now. `labels` are the columns, `value` is the name of the last. */
export function list(given) {
  const { query, labels, value, unit, limits, width = 8, height = 8 } = given;
  const shown = { Value: value, ...Object.fromEntries(labels.map((label) => [label, label])) };
  const made = panel(
    "table",
    { ...given, width, height, overrides: cells({ [value]: { unit, limits } }) },
    [{ expr: narrowed(query), instant: true, range: false, format: "table", legendFormat: "" }],
    { unit, thresholds: thresholds(), custom: { align: "auto" } },
    TABLE,
  );
  return {
    ...made,
    transformations: [{
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries([...labels, "Value"].map((name, i) => [name, i])),
        renameByName: shown,
      },
    }],
  };
}

/** Rows of a SQL query on Postgres, which reads views of the schema `ops` only. */
export function rows(given) {
  const { sql, columns, unit = "none", width = 12, height = 8 } = given;
  return panel(
    "table",
    { ...given, width, height, overrides: cells(columns) },
    [{ rawSql: sql, rawQuery: true, editorMode: "code", format: "table" }],
    { unit, thresholds: thresholds(), custom: { align: "auto" } },
    TABLE,
  );
}

/** One number of a SQL query. */
export function figure(given) {
  const { sql, unit, limits, width = 6, height = 4 } = given;
  return panel(
    "stat",
    { ...given, width, height },
    [{ rawSql: sql, rawQuery: true, editorMode: "code", format: "table" }],
    { unit, thresholds: thresholds(limits), color: { mode: "thresholds" }, noValue: "no data" },
    NUMBER,
  );
}

/** A heading over the panels that follow. */
export function row(title) {
  return { type: "row", title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y: 0 }, panels: [] };
}
