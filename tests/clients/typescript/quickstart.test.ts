// The README's quickstart, and the errors that every application meets, with a client that openapi-typescript generates
// from openapi/public.json. What compiles here is what the document promises.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { api_key, client, decided, submit } from "./demo.js";

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
  const media = await decided(await submit("a kind word"));
  const query = { api_key, media_id: media.media_id };
  const { data } = await client.GET("/get-media-status", { params: { query } });
  assert.deepEqual(data, media);
});

test("a repeated submission is stored once", async () => {
  const params = { header: { "Idempotency-Key": randomUUID() } };
  const send = (body: string) => client.POST("/submit-media", { params, body: { api_key, body } });
  const [first, again, other] = [await send("once"), await send("once"), await send("something else")];
  assert.ok(first.data);
  assert.deepEqual(again.data, first.data);
  assert.equal(other.error?.code, "idempotency_conflict");
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
