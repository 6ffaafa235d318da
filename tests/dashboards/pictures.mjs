// Makes a picture of each dashboard from the results of its queries. Started by scripts/picture-dashboards.
import { statSync } from "node:fs";
import { chromium } from "playwright-core";
import { dashboards } from "../../dashboards/source/all.mjs";
import { load, Prometheus, rowsOf, sleep, trouble } from "./busy.mjs";
import { escaped } from "./drawing.mjs";
import { body, COLUMN, LINE, STYLE, WIDTH } from "./panel.mjs";

const directory = process.argv[2];
const SECONDS = Number(process.env.SECONDS ?? 240);
/** A picture is at most so large, in bytes, because everybody who clones the repository gets all of them. */
const MOST = 500_000;
async function page(prometheus, dashboard, time) {
  const marks = [];
  for (const { expr } of dashboard.annotations.list) {
    for (const { points } of await prometheus.range(expr, time.start, time.end, time.step)) if (points[0][0] > time.start) marks.push({ time: points[0][0] });
  }
  const parts = [];
  let lowest = 0;
  for (const panel of dashboard.panels) {
    const { x, y, w, h } = panel.gridPos;
    lowest = Math.max(lowest, y + h);
    const place = `left:${x * COLUMN}px;top:${y * LINE}px;width:${w * COLUMN - 6}px;height:${h * LINE - 6}px`;
    parts.push(panel.type === "row"
      ? `<div class="row" style="${place}">${escaped(panel.title)}</div>`
      : `<div class="panel" style="${place}"><h2>${escaped(panel.title)}</h2>${await body({ prometheus, rowsOf }, panel, { ...time, marks })}</div>`);
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
