// Makes a picture of each dashboard from the results of its queries. Started by scripts/picture-dashboards.
import { statSync } from "node:fs";
import { chromium } from "playwright-core";
import { dashboards } from "../../dashboards/source/all.mjs";
import { load, Prometheus, rowsOf, sleep, trouble } from "./busy.mjs";
import { escaped, graph, stat, table } from "./drawing.mjs";

const directory = process.argv[2];
const SECONDS = Number(process.env.SECONDS ?? 240);
/** A picture is at most so large, in bytes, because everybody who clones the repository gets all of them. */
const MOST = 400_000;
const WIDTH = 1440, COLUMN = (WIDTH - 16) / 24, LINE = 30;

const STYLE = `
body { margin: 0; padding: 8px; width: ${WIDTH - 16}px; background: #f4f5f5; font: 13px/1.3 "DejaVu Sans", sans-serif; color: #24292e; }
h1 { font-size: 18px; margin: 4px 4px 2px; } .about { margin: 0 4px 10px; color: #555; }
.grid { position: relative; } .panel { position: absolute; box-sizing: border-box; background: #fff; border: 1px solid #d8dadd; border-radius: 2px; overflow: hidden; }
.panel h2 { font-size: 12.5px; font-weight: 600; margin: 6px 10px 4px; white-space: nowrap; }
.row { position: absolute; font-weight: 600; padding: 6px 4px; }
.number { font-size: 30px; text-align: center; padding-top: 16px; } .none { text-align: center; color: #999; padding-top: 20px; }
svg text { font-size: 10.5px; fill: #666; } .legend { padding: 0 8px; font-size: 10.5px; line-height: 1.45; height: 46px; overflow: hidden; }
.legend span { margin-right: 10px; white-space: nowrap; } .legend i { display: inline-block; width: 12px; height: 3px; margin-right: 4px; vertical-align: middle; }
table { border-collapse: collapse; width: 100%; font-size: 11px; } th, td { text-align: left; padding: 4px 8px; border-top: 1px solid #eceded; white-space: nowrap; }
td { max-width: 330px; overflow: hidden; text-overflow: ellipsis; }`;

const named = (format, metric) => format.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? "");

async function body(prometheus, panel, time) {
  const [{ rawSql, expr }] = panel.targets;
  if (rawSql) {
    const rows = rowsOf(rawSql);
    return panel.type === "stat" ? stat(panel, Number(Object.values(rows[0] ?? {})[0])) : table(panel, rows);
  }
  if (panel.type === "stat") return stat(panel, (await prometheus.query(expr, time.end))[0]?.value);
  if (panel.type === "table") {
    const names = panel.transformations[0].options;
    const columns = Object.entries(names.indexByName).sort(([, a], [, b]) => a - b).map(([name]) => name);
    const samples = await prometheus.query(expr, time.end);
    return table(panel, samples.map(({ metric, value }) => Object.fromEntries(columns.map((name) => [names.renameByName[name], name === "Value" ? value : metric[name]]))));
  }
  const curves = [];
  for (const target of panel.targets) {
    for (const { metric, points } of await prometheus.range(target.expr, time.start, time.end, time.step)) {
      curves.push({ name: named(target.legendFormat, metric), points });
    }
  }
  return graph(panel, curves, { ...time, width: panel.gridPos.w * COLUMN - 10 });
}

async function page(prometheus, dashboard, time) {
  const marks = [];
  for (const { expr } of dashboard.annotations.list) {
    for (const { points } of await prometheus.range(expr, time.start, time.end, time.step)) if (points[0][0] > time.start) marks.push(points[0][0]);
  }
  const parts = [];
  let lowest = 0;
  for (const panel of dashboard.panels) {
    const { x, y, w, h } = panel.gridPos;
    lowest = Math.max(lowest, y + h);
    const place = `left:${x * COLUMN}px;top:${y * LINE}px;width:${w * COLUMN - 6}px;height:${h * LINE - 6}px`;
    parts.push(panel.type === "row"
      ? `<div class="row" style="${place}">${escaped(panel.title)}</div>`
      : `<div class="panel" style="${place}"><h2>${escaped(panel.title)}</h2>${await body(prometheus, panel, { ...time, marks })}</div>`);
  }
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><h1>${escaped(dashboard.title)}</h1><p class="about">${escaped(dashboard.description)}</p>
<div class="grid" style="height:${lowest * LINE}px">${parts.join("\n")}</div>`;
}

const prometheus = await Prometheus.start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
try {
  const start = Date.now() / 1000 + 12;
  const loaded = load(SECONDS, 25);
  await sleep((SECONDS - 12) * 1000);
  trouble();
  await sleep(8000);
  const end = Date.now() / 1000;
  const time = { start, end, step: Math.max(2, Math.round((end - start) / 150)) };
  const tab = await browser.newPage({ viewport: { width: WIDTH, height: 100 } });
  for (const dashboard of dashboards) {
    await tab.setContent(await page(prometheus, dashboard, time));
    const path = `${directory}/dashboard-${dashboard.uid.replace("gatehouse-", "")}.png`;
    await tab.screenshot({ path, fullPage: true });
    const { size } = statSync(path);
    if (size > MOST) throw new Error(`${path} has ${size} bytes, more than ${MOST}`);
    console.log(`${path}: ${size} bytes`);
  }
  await loaded;
} finally {
  await browser.close();
  prometheus.stop();
}
