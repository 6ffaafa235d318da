// The README's quickstart, and a moderator's decision, with clients that orval generates from the documents.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { decideMedia, listMedia } from "./generated/management.js";
import { getMediaStatus, submitMedia } from "./generated/public.js";
import type { Action, MediaStatus, ModerationDetails, ModerationType, WebhookPayload } from "./generated/public.js";
import { demo } from "./service.js";

const api_key: string = demo.site_key;

async function submit(text: string): Promise<string> {
  const headers = { "Idempotency-Key": randomUUID() };
  const response = await submitMedia({ api_key, body: text }, { headers });
  assert.ok(response.status === 200);
  return response.data.id;
}

async function decided(media_id: string): Promise<MediaStatus> {
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await getMediaStatus({ api_key, media_id });
    assert.ok(response.status === 200);
    if (response.data.status !== "pending") return response.data;
    await sleep(100);
  }
  throw new Error(`${media_id} is still pending`);
}

/** Whether two types are the same. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

// Compiles only if a member that is a named schema or null is exactly that.
const nullable: {
  action: Same<MediaStatus["action"], Action | null>;
  moderationResult: Same<MediaStatus["moderationResult"], ModerationDetails | null>;
  moderation_type: Same<MediaStatus["moderation_type"], ModerationType | null>;
} = { action: true, moderationResult: true, moderation_type: true };

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
  assert.ok(nullable.action);
});

test("what waits for a moderator is found and decided", async () => {
  const media_id = await submit("about review-2024");
  assert.equal((await decided(media_id)).status, "pending_review");
  const waiting = await listMedia({ site_id: demo.site_id, status: "pending_review", limit: 100 });
  assert.ok(waiting.status === 200);
  assert.ok(waiting.data.data.some((media) => media.id === media_id));
  const decision = await decideMedia(media_id, { decision: "approve", reason: "harmless" });
  assert.ok(decision.status === 200);
  assert.equal(decision.data.status, "approved");
  assert.equal((await decided(media_id)).moderation_type, "manual");
});

test("a wrong key is told by its code", async () => {
  const response = await submitMedia({ api_key: "site_wrong", body: "hello" });
  assert.ok(response.status === 401);
  assert.equal(response.data.code, "invalid_api_key");
});

test("a webhook is told apart by its event", () => {
  const vectors = JSON.parse(readFileSync("../../vectors/sent.json", "utf8")).vectors as { body: string }[];
  const verdicts = vectors.map(({ body }) => verdict(JSON.parse(body) as WebhookPayload));
  assert.ok(verdicts.includes("pending"));
});
