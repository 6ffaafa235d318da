// OpenAI's official SDK for Node, unchanged but for the address and the key, on a running service. Started by scripts/test-compat.
import { deepStrictEqual, ok, rejects } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import OpenAI from "openai";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8"));
const baseURL = demo.base_url.replace("/functions/v1", "/compat/openai/v1");
const client = (options) => new OpenAI({ apiKey: demo.site_key, baseURL, maxRetries: 0, ...options });
const FINE = "a fine day for a walk by the river";
const FORBIDDEN = "so much blockedword in here";

test("a text", async () => {
  const { results: [result] } = await client().moderations.create({ input: FINE });
  deepStrictEqual(result.flagged, false);
  deepStrictEqual(Object.keys(result.categories).length, 13);
  ok(result.category_scores.harassment < 0.5);
});

test("several texts are answered in their order", async () => {
  const { results } = await client().moderations.create({ model: "omni-moderation-latest", input: [FORBIDDEN, FINE] });
  deepStrictEqual(results.map(({ flagged }) => flagged), [true, false]);
});

test("threats in languages that nobody reads are flagged, and say what was not checked", async () => {
  const threats = JSON.parse(readFileSync(new URL("threats.json", import.meta.url), "utf8"));
  const { results } = await client().moderations.create({ input: Object.values(threats) });
  Object.keys(threats).forEach((language, place) => ok(results[place].flagged, language));
  ok(results.every(({ gatehouse }) => gatehouse.unchecked.length > 0 && gatehouse.action !== "approve"));
});

test("the models for moderation are listed", async () => {
  const { data } = await client().models.list();
  ok(data.some(({ id }) => id === "omni-moderation-latest"));
  deepStrictEqual((await client().models.retrieve("omni-moderation-latest")).object, "model");
});

test("a wrong key is the error that the SDK knows", async () => {
  const wrong = client({ apiKey: `site_${"x".repeat(43)}` });
  await rejects(wrong.moderations.create({ input: FINE }), (error) =>
    error instanceof OpenAI.AuthenticationError && error.code === "invalid_api_key");
});
