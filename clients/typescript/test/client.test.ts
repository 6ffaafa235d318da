// The client on a running service: GATEHOUSE_DEMO names its demo.json. Started by scripts/test-clients.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import { type Content, Gatehouse, Refused } from "../src/index.js";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));
const url: string = demo.base_url.replace("/functions/v1", "");
const gatehouse = new Gatehouse({ url, siteKey: demo.site_key });
const FORBIDDEN: Content = { body: "so much blockedword in here", app_media_id: "comment-4711" };

test("a verdict comes in the answer", async () => {
  const { id, status, action, moderationResult } = await gatehouse.moderate(FORBIDDEN);
  assert.equal(status, "rejected");
  assert.equal(action, "block");
  assert.equal(moderationResult?.rule_violations[0]?.rule_type, "keyword");
  const asked = await gatehouse.status(id);
  assert.equal(asked.app_media_id, "comment-4711");
  assert.deepEqual(asked.moderationResult, moderationResult);
});

test("a submission does not wait", async () => {
  const { status } = await gatehouse.submit({ body: "a fine day" });
  assert.equal(status, "pending");
});

test("the same key stores one item", async () => {
  const idempotencyKey = crypto.randomUUID();
  const first = await gatehouse.submit(FORBIDDEN, { idempotencyKey });
  const second = await gatehouse.moderate(FORBIDDEN, { idempotencyKey });
  assert.equal(second.id, first.id);
  assert.equal(second.status, "rejected");
});

test("a refusal says why", async () => {
  const wrong = new Gatehouse({ url, siteKey: `site_${"x".repeat(43)}` });
  await assert.rejects(wrong.submit(FORBIDDEN), (error) =>
    error instanceof Refused && error.status === 401 && error.code === "invalid_api_key" && !!error.requestId);
  await assert.rejects(gatehouse.submit({}), (error) => error instanceof Refused && error.code === "empty_submission");
});

test("a broken connection and a passing failure are tried again, as the same submission", async () => {
  const keys: unknown[] = [];
  // Breaks the first request after the service has stored it, refuses the second, and lets the others through.
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    keys.push(request.headers["idempotency-key"]);
    if (keys.length === 2) {
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(url + request.url, { method: "POST", headers, body: Buffer.concat(chunks) });
    const body = Buffer.from(await answer.arrayBuffer());
    if (keys.length === 1) request.socket.destroy();
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };
  const client = new Gatehouse({ url: `http://127.0.0.1:${port}/`, siteKey: demo.site_key });
  const { status } = await client.submit(FORBIDDEN);
  proxy.close();
  proxy.closeAllConnections();
  assert.ok(["pending", "rejected"].includes(status));
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.ok(keys[0]);
});

test("a signal ends the wait", async () => {
  const nobody = new Gatehouse({ url: "http://127.0.0.1:9", siteKey: demo.site_key });
  await assert.rejects(nobody.moderate(FORBIDDEN, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
});
