// Webhooks of a running service that sends them to WEBHOOK_PORT. Started by scripts/test-clients.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { test } from "node:test";

import { Gatehouse, verifyWebhook } from "../src/index.js";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));
const gatehouse = new Gatehouse({ url: demo.base_url.replace("/functions/v1", ""), siteKey: demo.site_key });
const secret: string = demo.webhook_secret;

test("a webhook of the service is genuine, and a changed one is not", async () => {
  let receive: (webhook: { body: Buffer; headers: IncomingHttpHeaders }) => void;
  const received = new Promise<{ body: Buffer; headers: IncomingHttpHeaders }>((resolve) => (receive = resolve));
  let wanted: string | undefined;
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.end();
    const body = Buffer.concat(chunks);
    const { event, data } = JSON.parse(body.toString());
    if (event === "media.moderated" && data.app_media_id === wanted) receive({ body, headers: request.headers });
  });
  await new Promise<void>((resolve) => receiver.listen(Number(process.env.WEBHOOK_PORT), "127.0.0.1", resolve));
  wanted = crypto.randomUUID();
  const { id } = await gatehouse.moderate({ body: "so much blockedword in here", app_media_id: wanted });
  const { body, headers } = await received;
  receiver.close();
  receiver.closeAllConnections();

  const event = verifyWebhook(body, headers, secret);
  assert.equal(event.event, "media.moderated");
  assert.ok(event.event === "media.moderated" && event.data.media_id === id && event.data.status === "rejected");
  const fetched = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]));
  assert.deepEqual(verifyWebhook(body.toString(), fetched, secret), event);

  const changed = Buffer.from(body.toString().replace("rejected", "approved"));
  assert.throws(() => verifyWebhook(changed, headers, secret));
  assert.throws(() => verifyWebhook(body, headers, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
  assert.throws(() => verifyWebhook(body, { ...headers, "webhook-signature": "v1,AAAA" }, secret));
});
