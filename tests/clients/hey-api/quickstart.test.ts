// The README's quickstart, and a moderator's decision, with clients that @hey-api/openapi-ts generates from the documents.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { client as management } from "./generated/management/client.gen.js";
import { decideMedia, listMedia } from "./generated/management/index.js";
import { client } from "./generated/public/client.gen.js";
import { getMediaStatus, submitMedia } from "./generated/public/index.js";
import type { MediaStatus, WebhookPayload } from "./generated/public/index.js";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));
const api_key: string = demo.site_key;

client.setConfig({ baseUrl: demo.base_url });
management.setConfig({
  baseUrl: demo.base_url.replace("/functions/v1", "/management/v1"),
  auth: demo.management_token,
});

async function submit(text: string): Promise<string> {
  const headers = { "Idempotency-Key": randomUUID() };
  const { data, error } = await submitMedia({ headers, body: { api_key, body: text } });
  assert.equal(error, undefined);
  assert.ok(data);
  return data.id;
}

async function decided(media_id: string): Promise<MediaStatus> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { data } = await getMediaStatus({ body: { api_key, media_id } });
    assert.ok(data);
    if (data.status !== "pending") return data;
    await sleep(100);
  }
  throw new Error(`${media_id} is still pending`);
}

// Compiles only if the event decides which payload it is.
function verdict(payload: WebhookPayload): string {
  switch (payload.event) {
    case "media.created":
      return payload.data.status;
    case "media.moderated":
      return payload.data.moderation_type;
    case "webhook.test.ping":
      return payload._service_signature;
  }
}

test("a submitted text is judged", async () => {
  const media = await decided(await submit("what a blockedword"));
  assert.equal(media.status, "rejected");
  assert.equal(media.action, "block");
  assert.equal(media.moderationResult?.rule_violations[0]?.rule_type, "keyword");
});

test("what waits for a moderator is found and decided", async () => {
  const media_id = await submit("about review-2024");
  assert.equal((await decided(media_id)).status, "pending_review");
  const waiting = await listMedia({ query: { site_id: demo.site_id, status: "pending_review", limit: 100 } });
  assert.ok(waiting.data?.data.some((media) => media.id === media_id));
  const { data } = await decideMedia({ path: { media_id }, body: { decision: "approve", reason: "harmless" } });
  assert.equal(data?.status, "approved");
  assert.equal((await decided(media_id)).moderation_type, "manual");
});

test("a wrong key is told by its code", async () => {
  const { error, response } = await submitMedia({ body: { api_key: "site_wrong", body: "hello" } });
  assert.equal(response?.status, 401);
  assert.equal(error?.code, "invalid_api_key");
});

test("a webhook is told apart by its event", () => {
  const vectors = JSON.parse(readFileSync("../../vectors/sent.json", "utf8")).vectors as { body: string }[];
  const verdicts = vectors.map(({ body }) => verdict(JSON.parse(body) as WebhookPayload));
  assert.ok(verdicts.includes("pending"));
});
