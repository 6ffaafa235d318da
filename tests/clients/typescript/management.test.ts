// A moderator's and an operator's work, with a client that openapi-typescript generates from openapi/management.json.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { client, decided, management, rule_group_id, site_id, submit } from "./demo.js";

test("what waits for a moderator is found and decided", async () => {
  const media_id = await submit("about review-2024");
  assert.equal((await decided(media_id)).status, "pending_review");

  const waiting: string[] = [];
  let cursor: string | null | undefined;
  do {
    const query = { site_id, status: "pending_review" as const, limit: 1, ...(cursor ? { cursor } : {}) };
    const { data, error } = await management.GET("/media", { params: { query } });
    assert.equal(error, undefined);
    waiting.push(...data.data.map((media) => media.id));
    cursor = data.next_cursor;
  } while (cursor);
  assert.ok(waiting.includes(media_id));
  assert.equal(new Set(waiting).size, waiting.length);

  const decide = () =>
    management.POST("/media/{media_id}/decision", {
      params: { path: { media_id } },
      body: { decision: "approve", reason: "harmless" },
    });
  const { data } = await decide();
  assert.equal(data?.status, "approved");
  assert.equal(data?.previous_status, "pending_review");
  assert.equal((await decided(media_id)).moderation_type, "manual");

  const { error, response } = await decide();
  assert.equal(response.status, 409);
  assert.equal(error?.code, "already_decided");
});

test("a new site's limit is told with the time to wait", async () => {
  const site = await management.POST("/sites", {
    body: { name: `Typescript ${randomUUID()}`, default_rule_group_id: rule_group_id, submissions_per_minute: 1 },
  });
  assert.ok(site.data);
  const path = { site_id: site.data.id };
  const key = await management.POST("/sites/{site_id}/keys", { params: { path } });
  assert.ok(key.data);

  // Three in one minute, or in two minutes if a minute ends in between.
  const body = { api_key: key.data.secret, body: "hello" };
  const answers = [1, 2, 3].map(() => client.POST("/submit-media", { body }));
  const refused = (await Promise.all(answers)).filter((answer) => answer.error?.code === "rate_limited");
  assert.ok(refused.length >= 1);
  assert.equal(refused[0]?.response.status, 429);
  assert.ok(Number(refused[0]?.response.headers.get("retry-after")) >= 1);
});

test("a wrong token is told by its code", async () => {
  const { error, response } = await management.GET("/media", { headers: { Authorization: "Bearer mgmt_wrong" } });
  assert.equal(response.status, 401);
  assert.equal(error?.code, "invalid_token");
});

test("a wrong member is told by its name", async () => {
  const { error } = await management.GET("/media", { params: { query: { cursor: "nonsense" } } });
  assert.equal(error?.code, "invalid_request");
  assert.deepEqual(error?.errors?.map((problem) => problem.field), ["cursor"]);
});
