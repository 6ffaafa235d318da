// Runs every query of every dashboard while a service is busy: none may be wrong, and each must have a value or be listed in
// silent.json. Started by scripts/test-dashboards.
import { readFileSync } from "node:fs";
import { dashboards } from "../../dashboards/source/all.mjs";
import { load, Prometheus, rowsOf, sleep, trouble } from "./busy.mjs";
import { panelsOf, recorded } from "./rules.mjs";

// Statistics are up to two minutes old.
const SECONDS = 150;
const silent = JSON.parse(readFileSync("tests/dashboards/silent.json", "utf8"));
const prometheus = await Prometheus.start();
const faults = [], empty = [];
let queries = 0;
try {
  const loaded = load(SECONDS, 20);
  await sleep((SECONDS - 10) * 1000);
  trouble();
  await sleep(6000);
  for (const dashboard of dashboards) {
    for (const { name, expr } of dashboard.annotations.list) {
      await prometheus.query(expr).catch((error) => faults.push(`${dashboard.title}, annotation ${name}: ${error.message}`));
    }
    for (const panel of panelsOf(dashboard)) {
      const where = `${dashboard.uid.replace("gatehouse-", "")}: ${panel.title}`;
      for (const { expr, rawSql } of panel.targets) {
        queries += 1;
        try {
          const found = expr ? (await prometheus.query(expr)).filter(({ value }) => Number.isFinite(value)) : rowsOf(rawSql);
          if (found.length > 0) continue;
        } catch (error) {
          faults.push(`${where}: ${error.message}: ${expr ?? rawSql}`);
          continue;
        }
        const reason = silent[where]
          ?? (recorded(expr ?? "").length > 0 && !prometheus.hasRules ? "deploy/alerts/gatehouse.rules.yml is missing" : null);
        if (reason) empty.push(`${where}: ${reason}`);
        else faults.push(`${where} has no value: ${expr ?? rawSql}`);
      }
    }
  }
  await loaded;
} finally {
  prometheus.stop();
}
for (const fault of faults) console.error(fault);
console.log(`${queries} queries, ${queries - empty.length - faults.length} with values; empty for a known reason:`);
for (const line of new Set(empty)) console.log(`  ${line}`);
process.exit(faults.length > 0 ? 1 : 0);
