// Checks dashboards/*.json with the rules, and that every metric of the catalogue is on a dashboard. Started by scripts/dashboards.
import { readdirSync, readFileSync } from "node:fs";
import { mistakes, panelsOf, queriesOf, selectors } from "./rules.mjs";

const dashboards = readdirSync("dashboards").filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(`dashboards/${name}`, "utf8")));
const uids = dashboards.map(({ uid }) => uid);
const found = dashboards.flatMap((dashboard) => mistakes(dashboard, uids));
if (uids.length !== 7) found.push(`there are ${uids.length} dashboards`);

// Names of metrics are literals where they are described, or begin literals with the description: "name: description".
const sources = ["src", "crates/queue/src", "crates/telemetry/src"].flatMap((directory) =>
  readdirSync(directory, { recursive: true }).map((name) => `${directory}/${name}`)
    .filter((path) => /^(src\/prometheus|crates\/).*\.rs$/.test(path) && !path.endsWith("tests.rs")));
const described = new Set(sources.flatMap((path) => [...readFileSync(path, "utf8").matchAll(/"(gatehouse_[a-z_]+)(?:"|: )/g)].map(([, name]) => name)));
const shown = new Set(dashboards.flatMap(queriesOf).flatMap(({ expr }) => (expr ? selectors(expr) : []))
  .map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, "")));
for (const metric of described) if (!shown.has(metric)) found.push(`${metric} is on no dashboard`);
for (const metric of shown) {
  const known = described.has(metric) || metric === "up" || metric.startsWith("process_");
  if (!known) found.push(`${metric} is on a dashboard, but no process has it`);
}

for (const mistake of new Set(found)) console.error(mistake);
if (found.length > 0) process.exit(1);
const panels = dashboards.flatMap(panelsOf).length;
console.log(`${dashboards.length} dashboards, ${panels} panels, ${dashboards.flatMap(queriesOf).length} queries: no mistakes`);
