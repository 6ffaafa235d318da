// The README's quickstart, and the errors that every client meets, with a client that openapi-typescript generates from
// openapi/public.json. What compiles here is what the document promises.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import createClient from "openapi-fetch";

import type { components, paths } from "./generated/public.js";

type MediaStatus = components["schemas"]["MediaStatus"];

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));
const api_key: string = demo.site_key;
const client = createClient<paths>({ baseUrl: demo.base_url });

async function decided(media_id: string): Promise<MediaStatus> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { data, error } = await client.POST("/get-media-status", { body: { api_key, media_id } });
    assert.equal(error, undefined);
    if (data.status !== "pending") return data;
    await sleep(100);
  }
  throw new Error(`${media_id} is still pending`);
}

test("a submitted text is judged", async () => {
  const { data, error } = await client.POST("/submit-media", {
    body: { api_key, body: "what a blockedword", app_media_id: "comment-4711", metadata: { author: "u-17" } },
  });
  assert.equal(error, undefined);
  assert.equal(data.status, "pending");

  const media = await decided(data.id);
  assert.equal(media.status, "rejected");
  assert.equal(media.action, "block");
  assert.equal(media.app_media_id, "comment-4711");
  assert.deepEqual(media.metadata, { author: "u-17" });
  assert.equal(media.moderationResult?.rule_violations[0]?.rule_type, "keyword");
});

test("a status asked by query is the same", async () => {
  const { data: accepted } = await client.POST("/submit-media", { body: { api_key, body: "a kind word" } });
  assert.ok(accepted);
  const media = await decided(accepted.id);
  const query = { api_key, media_id: accepted.id };
  const { data } = await client.GET("/get-media-status", { params: { query } });
  assert.deepEqual(data, media);
});

test("a wrong key is told by its code", async () => {
  const { error, response } = await client.POST("/submit-media", { body: { api_key: "site_wrong", body: "hello" } });
  assert.equal(response.status, 401);
  assert.equal(error?.code, "invalid_api_key");
  assert.equal(error?.request_id, response.headers.get("x-request-id"));
});

test("a wrong member is told by its name", async () => {
  const rule_group_id = "00000000-0000-7000-8000-000000000000";
  const { error, response } = await client.POST("/submit-media", { body: { api_key, body: "hello", rule_group_id } });
  assert.equal(response.status, 400);
  assert.equal(error?.code, "unknown_rule_group");
  assert.deepEqual(error?.errors?.map((problem) => problem.field), ["rule_group_id"]);
});
