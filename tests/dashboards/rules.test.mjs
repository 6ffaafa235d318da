// The rules find each mistake that they are there for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dashboards } from "../../dashboards/source/all.mjs";
import { mistakes } from "./rules.mjs";

const uids = dashboards.map(({ uid }) => uid);
const named = (name) => structuredClone(dashboards.find(({ uid }) => uid === `gatehouse-${name}`));
const graph = (dashboard) => dashboard.panels.find(({ type }) => type === "timeseries");
const query = (expr) => (dashboard) => {
  graph(dashboard).targets[0].expr = expr;
};
const OURS = 'job=~"$job", instance=~"$instance"';

test("the dashboards have no mistakes", () => {
  assert.deepEqual(dashboards.flatMap((dashboard) => mistakes(dashboard, uids)), []);
});

const broken = [
  ["can be edited", "api", (d) => { d.editable = true; }],
  ["allValue must be .+", "api", (d) => { d.templating.list[1].allValue = ".*"; }],
  ["read again when the time changes", "api", (d) => { d.templating.list[2].refresh = 1; }],
  ["needs a variable instance", "api", (d) => { d.templating.list.splice(2, 1); }],
  ["labelled Data source", "api", (d) => { d.templating.list[0].label = "Source"; }],
  ["has no title", "api", (d) => { graph(d).title = ""; }],
  ["has no description", "api", (d) => { graph(d).description = ""; }],
  ["unit undefined", "api", (d) => { delete graph(d).fieldConfig.defaults.unit; }],
  ["unit dtdurations", "api", (d) => { graph(d).fieldConfig.defaults.unit = "dtdurations"; }],
  ["data source that is chosen", "api", (d) => { graph(d).datasource = { type: "prometheus", uid: "abc" }; }],
  ["has no query", "api", (d) => { graph(d).targets = []; }],
  ["link /d/gatehouse-nothing", "api", (d) => { graph(d).links = [{ url: "/d/gatehouse-nothing?x" }]; }],
  ["link https://example.com", "api", (d) => { graph(d).links = [{ url: "https://example.com" }]; }],
  ["two panels have one id", "api", (d) => { d.panels[1].id = d.panels[2].id; }],
  ["is on another panel", "api", (d) => { d.panels[2].gridPos = d.panels[1].gridPos; }],
  ["does not link to the others", "api", (d) => { d.links = []; }],
  ["annotations", "api", (d) => { d.annotations.list = []; }],
  ["13 panels", "overview", (d) => { d.panels.push({ ...structuredClone(d.panels[0]), id: 99, gridPos: { x: 0, y: 99, w: 4, h: 4 } }); }],
  ["does not match the variable job", "api", query("sum(rate(gatehouse_rate_limited_total[$__rate_interval]))")],
  ["rate over 5m", "api", query(`rate(gatehouse_rate_limited_total{${OURS}}[5m])`)],
  ["irate shows", "api", query(`irate(gatehouse_rate_limited_total{${OURS}}[$__rate_interval])`)],
  ["is not in rate or increase", "api", query(`sum(gatehouse_rate_limited_total{${OURS}})`)],
  ["needs sum by (le)", "api", query(`histogram_quantile(0.9, gatehouse_job_wait_seconds_bucket{${OURS}})`)],
  ["brackets do not match", "api", query(`sum(gatehouse_accept_waiting{${OURS}}`)],
  ['no variable for queue=~"$queue"', "api", query(`sum(gatehouse_queue_jobs{${OURS}, queue=~"$queue"})`)],
  ["reads media", "tenants", (d) => { d.panels[1].targets[0].rawSql = "select count(*) from media"; }],
  ["has no limit", "tenants", (d) => { d.panels[1].targets[0].rawSql = "select team from ops.due_jobs"; }],
];

for (const [mistake, name, breaks] of broken) {
  test(`found: ${mistake}`, () => {
    const dashboard = named(name);
    breaks(dashboard);
    const found = mistakes(dashboard, uids);
    assert.ok(found.some((sentence) => sentence.includes(mistake)), `found only ${JSON.stringify(found)}`);
  });
}
