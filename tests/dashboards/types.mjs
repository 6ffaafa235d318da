// Checks dashboards/*.json with the types of @grafana/schema: no member that Grafana does not know, none of a wrong type.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const here = "tests/dashboards";
// In node_modules, which nobody commits, so that the compiler finds the packages.
const checked = `${here}/node_modules/.checked`;

/** Whether the compiler accepts these documents, by name. Its complaints are returned. */
function complaints(documents) {
  rmSync(checked, { recursive: true, force: true });
  mkdirSync(checked, { recursive: true });
  for (const name of ["types.ts", "grafana.ts"]) copyFileSync(`${here}/${name}`, `${checked}/${name}`);
  for (const [name, text] of documents) {
    writeFileSync(`${checked}/${name}.ts`, `import type { Ours } from "./types";\nexport const dashboard: Ours = ${text};\n`);
  }
  const options = { strict: true, noEmit: true, skipLibCheck: true, target: "es2022", module: "esnext", moduleResolution: "bundler" };
  writeFileSync(`${checked}/tsconfig.json`, JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  try {
    execFileSync(process.execPath, [`${here}/node_modules/typescript/bin/tsc`, "--project", checked], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return error.stdout;
  }
}

const documents = readdirSync("dashboards").filter((name) => name.endsWith(".json"))
  .map((name) => [name.replace(".json", ""), readFileSync(`dashboards/${name}`, "utf8")]);
const said = complaints(documents);
if (said) {
  console.error(said);
  process.exit(1);
}

// The types find mistakes: a member that Grafana does not know, and a value that it does not know.
const broken = new Map([
  ["colourMode", [/"colorMode"/, '"colourMode"']],
  ["pulsating", [/"drawStyle": "line"/, '"drawStyle": "pulsating"']],
  ["thresholdz", [/"thresholds": \{/, '"thresholdz": {']],
  ["unitt", [/"unit":/, '"unitt":']],
  ["legendFromat", [/"legendFormat"/, '"legendFromat"']],
]);
const [, api] = documents.find(([name]) => name === "api");
for (const [what, [pattern, instead]] of broken) {
  const text = api.replace(pattern, instead);
  if (text === api) throw new Error(`${what}: nothing to break`);
  if (!complaints([[what, text]])) throw new Error(`the types do not find ${what}`);
}
rmSync(checked, { recursive: true, force: true });
console.log(`${documents.length} dashboards fit the types of Grafana's schema; ${broken.size} mistakes were found`);
