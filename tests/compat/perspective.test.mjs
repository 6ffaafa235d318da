// Perspective's sample for Node, unchanged but for the address and the key, with Google's client library, on a running service. Started
// by scripts/test-compat.
import { deepStrictEqual, ok, rejects } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { google } from "googleapis";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8"));
const address = demo.base_url.replace("/functions/v1", "/compat/perspective");
const client = await google.discoverAPI(`${address}/$discovery/rest?version=v1alpha1`);

const analyze = (text, key = demo.site_key) =>
  client.comments.analyze({
    key,
    resource: { comment: { text }, requestedAttributes: { TOXICITY: {} } },
  });

test("the sample", async () => {
  const { data } = await analyze("Jiminy cricket! Well gosh durned it! Oh damn it all!");
  const { summaryScore, spanScores } = data.attributeScores.TOXICITY;
  deepStrictEqual(summaryScore.type, "PROBABILITY");
  ok(summaryScore.value >= 0 && summaryScore.value <= 1);
  deepStrictEqual(spanScores.length, 1);
});

test("a wrong key is the error that the library knows", async () => {
  await rejects(analyze("hello", `site_${"x".repeat(43)}`), ({ status }) => status === 401);
});
