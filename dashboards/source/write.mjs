// Writes dashboards/*.json. Started by scripts/dashboards.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { dashboards, file, text } from "./all.mjs";

const directory = process.argv[2];
for (const name of readdirSync(directory)) {
  if (name.endsWith(".json")) rmSync(`${directory}/${name}`);
}
for (const dashboard of dashboards) writeFileSync(`${directory}/${file(dashboard)}`, text(dashboard));
