// Draws one incident: the panels of the real dashboards that lead from its alert to its cause. Started by tests/alerts/tour.py.
//
//   node incident.mjs queries '[["tenants", "Teams by due jobs"]]'   the SQL of panels, by place
//   node incident.mjs draw incident.json                             the picture
import { readFileSync, statSync } from "node:fs";
import { dashboards } from "../../dashboards/source/all.mjs";
import { escaped } from "./drawing.mjs";
import { body, COLUMN, LINE, STYLE, WIDTH } from "./panel.mjs";
import { Source } from "./prometheus.mjs";

/** A picture is at most so large, in bytes, because everybody who clones the repository gets all of them. */
const MOST = 200_000;
const WIDE = 12, HIGH = 8;

/** A panel of a dashboard, as wide as half of the picture. */
function found([name, title]) {
  const dashboard = dashboards.find(({ uid }) => uid === `gatehouse-${name}`);
  const panels = dashboard?.panels.filter((one) => one.title === title && one.targets) ?? [];
  // A number and its curve can have the same title.
  const panel = panels.find(({ type }) => type === "timeseries") ?? panels[0];
  if (!panel) throw new Error(`the dashboard ${name} has no panel ${title}`);
  return { ...panel, name, gridPos: { w: WIDE, h: HIGH } };
}

function queries(panels) {
  const all = panels.map(found).map(({ targets: [{ rawSql }] }, place) => [place, rawSql]);
  return Object.fromEntries(all.filter(([, sql]) => sql));
}

async function page({ title, panels, tables, prometheus, start, end, fault, looked, marks }) {
  const time = { start, end, step: 2, marks, origin: fault };
  const parts = [];
  for (const [place, panel] of panels.map(found).entries()) {
    const left = (place % 2) * WIDE * COLUMN, top = Math.floor(place / 2) * HIGH * LINE;
    // A table shows one moment, during the incident.
    const isTable = panel.type === "table";
    const inside = await body({ prometheus: new Source(prometheus), rowsOf: () => tables[place] }, panel, isTable ? { ...time, end: looked } : time);
    const when = isTable ? `, ${Math.round(looked - fault)} s after the fault` : "";
    parts.push(`<div class="panel" style="left:${left}px;top:${top}px;width:${WIDE * COLUMN - 6}px;height:${HIGH * LINE - 6}px">
<h2>${place + 1}. ${escaped(panel.title)} <span style="font-weight:400;color:#777">(dashboard ${escaped(panel.name)}${when})</span></h2>${inside}</div>`);
  }
  const said = [...marks].sort((a, b) => a.time - b.time).map(({ label, time: at }) => `${label} ${Math.round(at - fault)} s`).join(", ");
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><h1>${escaped(title)}</h1><p class="about">Seconds since the fault: ${escaped(said)}</p>
<div class="grid" style="height:${Math.ceil(panels.length / 2) * HIGH * LINE}px">${parts.join("\n")}</div>`;
}

async function draw(incident) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  try {
    const tab = await browser.newPage({ viewport: { width: WIDTH, height: 100 } });
    await tab.setContent(await page(incident));
    await tab.screenshot({ path: incident.path, fullPage: true });
  } finally {
    await browser.close();
  }
  const { size } = statSync(incident.path);
  if (size > MOST) throw new Error(`${incident.path} has ${size} bytes, more than ${MOST}`);
  console.log(`${incident.path}: ${size} bytes`);
}

const [command, given] = process.argv.slice(2);
if (command === "queries") console.log(JSON.stringify(queries(JSON.parse(given))));
else await draw(JSON.parse(readFileSync(given, "utf8")));
