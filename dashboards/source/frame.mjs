// What all dashboards share: variables, annotations, links, and where panels are.
import { narrowed } from "./queries.mjs";

const PROMETHEUS = { type: "prometheus", uid: "${datasource}" };

function chosen(name, selector, label = name) {
  const query = `label_values(${selector}, ${name})`;
  return {
    name,
    label: label[0].toUpperCase() + label.slice(1),
    type: "query",
    datasource: PROMETHEUS,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: true,
    multi: true,
    allValue: ".+",
    current: { text: ["All"], value: ["$__all"] },
  };
}

const prometheus = { name: "datasource", label: "Data source", type: "datasource", query: "prometheus", refresh: 1 };
const postgres = {
  name: "postgres_datasource",
  label: "Postgres data source",
  type: "datasource",
  query: "grafana-postgresql-datasource",
  refresh: 1,
};
const job = chosen("job", "gatehouse_build_info");
const instance = chosen("instance", 'gatehouse_build_info{job=~"$job"}');
const queue = chosen("queue", 'gatehouse_queue_jobs{job=~"$job", instance=~"$instance"}');

function annotation(name, iconColor, expr, titleFormat, textFormat) {
  return { name, datasource: PROMETHEUS, enable: true, hide: false, iconColor, expr: narrowed(expr), step: "30s", titleFormat, textFormat };
}

const annotations = [
  annotation(
    "Version change",
    "purple",
    "count by (version) (gatehouse_build_info) unless on (version) count by (version) (gatehouse_build_info offset 2m)",
    "Version {{version}}",
    "The first process of this version started.",
  ),
  annotation("Restart", "orange", "changes(process_start_time_seconds[2m]) > 0", "Restart", "{{instance}} restarted."),
];

/** Puts panels from left to right. A panel that does not fit, and every heading, begins a new line. */
function placed(panels) {
  let x = 0, y = 0, lowest = 0;
  return panels.map((panel, i) => {
    const { w, h } = panel.gridPos;
    if (panel.type === "row" || x + w > 24) {
      x = 0;
      y = lowest;
    }
    const gridPos = { h, w, x, y };
    x += w;
    lowest = Math.max(lowest, y + h);
    return { id: i + 1, ...panel, gridPos };
  });
}

/** A dashboard. `about` is the question that it answers. */
export function dashboard({ name, title, about, panels, queues = false, onPostgres = false }) {
  return {
    uid: `gatehouse-${name}`,
    title: `Gatehouse: ${title}`,
    description: about,
    tags: ["gatehouse"],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    time: { from: onPostgres ? "now-24h" : "now-3h", to: "now" },
    refresh: onPostgres ? "1m" : "30s",
    timezone: "browser",
    templating: { list: onPostgres ? [postgres] : [prometheus, job, instance, ...(queues ? [queue] : [])] },
    annotations: { list: onPostgres ? [] : annotations },
    links: [{
      title: "Gatehouse",
      type: "dashboards",
      tags: ["gatehouse"],
      asDropdown: false,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      icon: "external link",
      tooltip: "",
      url: "",
    }],
    panels: placed(panels),
  };
}
