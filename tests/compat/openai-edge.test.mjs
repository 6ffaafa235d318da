// A client of OpenAI that shares no code with OpenAI's own, unchanged but for the address and the key, on a running service. Started by
// scripts/test-compat.
import { ok, strictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Configuration, OpenAIApi } from "openai-edge";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8"));
const threats = JSON.parse(readFileSync(new URL("threats.json", import.meta.url), "utf8"));
const basePath = demo.base_url.replace("/functions/v1", "/compat/openai/v1");
const client = new OpenAIApi(new Configuration({ apiKey: demo.site_key, basePath }));

async function result(input) {
  const answer = await client.createModeration({ input });
  strictEqual(answer.status, 200);
  return (await answer.json()).results[0];
}

test("threats in other languages are flagged, and harmless English is not", async () => {
  for (const [language, threat] of Object.entries(threats)) ok((await result(threat)).flagged, language);
  strictEqual((await result("a fine day for a walk by the river")).flagged, false);
});

test("it finds the models", async () => {
  const models = await (await client.listModels()).json();
  ok(models.data.some(({ id }) => id === "omni-moderation-latest"));
  const model = await (await client.retrieveModel("omni-moderation-latest")).json();
  strictEqual(model.object, "model");
});
