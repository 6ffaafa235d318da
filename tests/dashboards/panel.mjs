// A panel with the results of its queries, as HTML of a page that is photographed.
import { graph, stat, table } from "./drawing.mjs";

export const WIDTH = 1440, COLUMN = (WIDTH - 16) / 24, LINE = 30;

export const STYLE = `
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

/** The inside of a panel. `rowsOf` runs its SQL, or has its rows. */
export async function body({ prometheus, rowsOf }, panel, time) {
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
