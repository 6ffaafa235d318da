import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig(
  ["public", "management"].map((name) => ({
    input: `../../../openapi/${name}.json`,
    output: { path: `generated/${name}`, importFileExtension: ".js" },
    plugins: ["@hey-api/client-fetch"],
  })),
);
