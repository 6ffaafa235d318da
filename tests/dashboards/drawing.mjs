// Draws panels as HTML and SVG: enough of what Grafana shows to see what a dashboard answers.

const COLOURS = ["#56a64b", "#3274d9", "#e0b400", "#8f3bb8", "#ff780a", "#0fb5ba", "#e02f44", "#a352cc", "#37872d", "#1f60c4", "#fa6400", "#c4162a"];
const NAMES = 12;
const NAMED = { green: "#37872d", orange: "#ff780a", "dark-orange": "#fa6400", red: "#e02f44", blue: "#3274d9", purple: "#8f3bb8" };

export const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const rounded = (value, decimals) => {
  const digits = decimals ?? (Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  return value.toFixed(digits);
};
const scaled = (value, base, names, decimals) => {
  let step = 0;
  while (Math.abs(value) >= base && step < names.length - 1) {
    value /= base;
    step += 1;
  }
  return `${rounded(value, decimals)}${names[step]}`;
};

/** A value in its unit, as Grafana writes it. */
export function inUnit(value, unit, decimals) {
  if (value === null || value === undefined || value === "") return "";
  if (unit === "dateTimeFromNow") {
    const seconds = (Date.parse(value) - Date.now()) / 1000;
    return `${inUnit(Math.abs(seconds), "s", 0)} ${seconds > 0 ? "from now" : "ago"}`;
  }
  const number = Number(value);
  if (typeof value !== "number" && (value.trim?.() === "" || Number.isNaN(number))) return String(value);
  switch (unit) {
    case "percentunit": return `${rounded(number * 100, decimals)} %`;
    case "bytes": return scaled(number, 1024, [" B", " KiB", " MiB", " GiB", " TiB"], decimals);
    case "Bps": return scaled(number, 1000, [" B/s", " kB/s", " MB/s"], decimals);
    case "reqps": return `${scaled(number, 1000, ["", " K", " M"], decimals)} req/s`;
    case "ops": return `${scaled(number, 1000, ["", " K", " M"], decimals)} ops/s`;
    case "bool_on_off": return number ? "On" : "Off";
    case "s": {
      const size = Math.abs(number);
      if (size === 0) return "0 s";
      if (size < 1e-3) return `${rounded(number * 1e6, 0)} µs`;
      if (size < 1) return `${rounded(number * 1000, size < 0.01 ? 2 : 0)} ms`;
      if (size < 120) return `${rounded(number, decimals)} s`;
      if (size < 7200) return `${rounded(number / 60, 1)} min`;
      return size < 172800 ? `${rounded(number / 3600, 1)} h` : `${rounded(number / 86400, 1)} d`;
    }
    default: return scaled(number, 1000, ["", " K", " M"], decimals);
  }
}

function colourOf(value, { steps }) {
  let colour = steps[0].color;
  for (const step of steps) if (step.value !== null && value >= step.value) colour = step.color;
  return NAMED[colour] ?? colour;
}

export function stat(panel, value) {
  const { unit, decimals, thresholds } = panel.fieldConfig.defaults;
  if (value === undefined || !Number.isFinite(value)) return '<div class="none">No data</div>';
  return `<div class="number" style="color:${colourOf(value, thresholds)}">${escaped(inUnit(value, unit, decimals))}</div>`;
}

export function table(panel, rows) {
  if (rows.length === 0) return '<div class="none">No data</div>';
  const columns = Object.keys(rows[0]);
  const settings = (column) => Object.fromEntries((panel.fieldConfig.overrides.find(({ matcher }) => matcher.options === column)?.properties ?? [])
    .map(({ id, value }) => [id, value]));
  const cell = (column, value) => {
    const { unit = "none", thresholds } = settings(column);
    const shade = thresholds && value !== null ? ` style="color:${colourOf(Number(value), thresholds)}"` : "";
    return `<td${shade}>${escaped(typeof value === "string" && unit === "none" ? value : inUnit(value, unit))}</td>`;
  };
  const room = Math.floor((panel.gridPos.h * 30 - 62) / 23);
  const lines = rows.slice(0, room).map((row) => `<tr>${columns.map((column) => cell(column, row[column])).join("")}</tr>`);
  return `<table><tr>${columns.map((column) => `<th>${escaped(column)}</th>`).join("")}</tr>${lines.join("")}</table>`;
}

/** Round steps from 0 (or below) to the largest value. */
function ticks(low, high, count, unit) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = unit === "bool_on_off" ? 1 : unit === "bytes" ? 2 ** Math.ceil(Math.log2(raw))
    : [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
  const all = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 0.001; value += step) all.push(Number(value.toPrecision(12)));
  return all;
}

/** A curve without the gaps in which it has no value. */
function pieces(points, step) {
  const all = [];
  for (const [i, point] of points.entries()) {
    if (i === 0 || point[0] - points[i - 1][0] > step * 1.5) all.push([]);
    all.at(-1).push(point);
  }
  return all;
}

/** In which line each label of a mark is, so that none covers another. */
function labelled(marks, x) {
  const ends = [];
  return marks.filter(({ label }) => label).sort((a, b) => a.time - b.time).map((mark) => {
    const half = mark.label.length * 3.6 + 3, left = x(mark.time) - half;
    let line = ends.findIndex((end) => end <= left);
    if (line < 0) line = ends.length;
    ends[line] = left + 2 * half;
    return { ...mark, line };
  });
}

/** Curves: {name, points}. `marks` are annotations: {time, label, colour}. With `origin`, times are seconds since then. */
export function graph(panel, curves, { width, start, end, step, marks, origin }) {
  const { unit, custom, thresholds, min, max } = panel.fieldConfig.defaults;
  const height = panel.gridPos.h * 30 - 92;
  const finite = curves.map((curve) => ({ ...curve, points: curve.points.filter(([, value]) => Number.isFinite(value)) }))
    .filter(({ points }) => points.length > 0);
  if (finite.length === 0) return '<div class="none">No data</div>';
  // The legend has room for so many. Those with the largest values are named, in colours of their own.
  const largest = ({ points }) => Math.max(...points.map(([, value]) => value));
  if (finite.length > NAMES) finite.sort((a, b) => largest(b) - largest(a));
  const fixed = Object.fromEntries(panel.fieldConfig.overrides.map(({ matcher, properties }) => [matcher.options, properties[0].value.fixedColor]));
  finite.forEach((curve, i) => {
    curve.colour = NAMED[fixed[curve.name]] ?? COLOURS[i % COLOURS.length];
  });
  const stacked = custom.stacking.mode === "normal";
  const under = new Map();
  if (stacked) {
    for (const curve of finite) {
      curve.points = curve.points.map(([time, value]) => {
        const below = under.get(time) ?? 0;
        under.set(time, below + value);
        return [time, below + value, below];
      });
    }
  }
  const values = finite.flatMap(({ points }) => points.map(([, value]) => value));
  const limit = custom.thresholdsStyle.mode === "off" ? [] : thresholds.steps.filter(({ value }) => value !== null);
  let high = Math.max(...values, 0);
  // A limit is drawn if the curves come near it.
  for (const { value } of limit) if (value <= high * 4 && value > high) high = value * 1.05;
  const low = min === undefined ? Math.min(...values, 0) : min;
  if (max !== undefined && high > max * 0.5) high = max;
  if (high === low) high = low + 1;
  const left = 66, right = width - 14, bottom = height - 20;
  const x = (time) => left + ((time - start) / (end - start)) * (right - left);
  const labels = labelled(marks, x);
  const top = 6 + 12 * Math.max(0, ...labels.map(({ line }) => line + 1));
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const parts = [];
  for (const value of ticks(low, high, 4, unit)) {
    parts.push(`<line x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}" stroke="#e4e6e9"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${escaped(inUnit(value, unit))}</text>`);
  }
  const shown = (time, anchor) => {
    const text = origin === undefined ? new Date(time * 1000).toISOString().slice(11, 19) : `${Math.round(time - origin)} s`;
    parts.push(`<text x="${x(time)}" y="${height - 4}" text-anchor="${anchor}">${text}</text>`);
  };
  if (origin === undefined) {
    const times = width < 400 ? 2 : 4;
    for (let i = 0; i <= times; i++) shown(start + ((end - start) * i) / times, i === 0 ? "start" : i === times ? "end" : "middle");
  } else {
    for (let seconds = Math.ceil((start - origin) / 30) * 30; origin + seconds <= end; seconds += 30) shown(origin + seconds, "middle");
  }
  for (const { value, color } of limit) {
    if (value <= high) parts.push(`<line x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}" stroke="${NAMED[color]}" stroke-dasharray="6 4"/>`);
  }
  for (const { time, label = "", colour = "purple" } of marks) {
    parts.push(`<line x1="${x(time)}" x2="${x(time)}" y1="${top}" y2="${bottom}" stroke="${NAMED[colour]}" stroke-width="${label ? 1.4 : 1}" stroke-dasharray="3 3"/>`);
  }
  for (const { time, label, colour = "purple", line } of labels) {
    parts.push(`<text x="${x(time)}" y="${top - 4 - 12 * line}" text-anchor="middle" style="fill:${NAMED[colour]};font-weight:600">${escaped(label)}</text>`);
  }
  for (const { points, colour } of finite) {
    const at = ([time, value]) => `${x(time).toFixed(1)},${y(Math.min(value, high)).toFixed(1)}`;
    for (const piece of pieces(points, step)) {
      const line = piece.map(at).join(" ");
      const base = piece.map(([time, , below = 0]) => `${x(time).toFixed(1)},${y(Math.max(low, below)).toFixed(1)}`).reverse().join(" ");
      parts.push(`<polygon points="${line} ${base}" fill="${colour}" opacity="${custom.fillOpacity / 100}"/><polyline points="${line}" fill="none" stroke="${colour}" stroke-width="1.4"/>`);
    }
  }
  const legend = finite.slice(0, NAMES).map(({ name, colour }) => `<span><i style="background:${colour}"></i>${escaped(name)}</span>`).join("");
  const more = finite.length > NAMES ? `<span>and ${finite.length - NAMES} more</span>` : "";
  return `<svg width="${width}" height="${height}">${parts.join("")}</svg><div class="legend">${legend}${more}</div>`;
}
