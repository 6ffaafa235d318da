// Checks objects of KEDA and of the Prometheus operator: by the schemas of their definitions, and by their TypeScript types, which
// also reject unknown members.
//
//   node types.mjs objects.json
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const modules = {
  ScaledObject: "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject",
  PodMonitor: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor",
  PrometheusRule: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule",
};
const objects = JSON.parse(readFileSync(process.argv[2], "utf8"));
const lines = Object.entries(modules).map(([kind, path]) => `import { type I${kind}, ${kind} } from "${path}";`);
for (const [index, object] of objects.entries()) {
  lines.push(`const object${index}: I${object.kind} = ${JSON.stringify(object, null, 2)};`);
  lines.push(`new ${object.kind}(object${index}).validate();`);
}
const file = `${here}generated-objects.mts`;
try {
  writeFileSync(file, lines.join("\n"));
  const options = ["--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"];
  execFileSync(process.execPath, [`${here}node_modules/typescript/bin/tsc`, ...options, file], { stdio: "inherit" });
  execFileSync(process.execPath, [file.replace(".mts", ".mjs")], { stdio: "inherit" });
  console.log(`${objects.length} objects of custom kinds are valid`);
} finally {
  rmSync(file, { force: true });
  rmSync(file.replace(".mts", ".mjs"), { force: true });
}
