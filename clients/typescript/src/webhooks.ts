/** Webhooks: whether they are genuine, and what they tell. */

import { Webhook } from "standardwebhooks";

import type { components } from "./document.js";

/** The body of any webhook. `event` says which. Ignore the ones that you do not know: new ones can be added. */
export type WebhookPayload = components["schemas"]["WebhookPayload"];

/** The headers of a request, as Node or as `fetch` has them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a webhook and returns its body. Give it the raw body: one that was parsed and written again has other bytes.
 *
 * @throws If it is not genuine, or was signed more than five minutes ago.
 */
export function verifyWebhook(rawBody: string | Uint8Array, headers: WebhookHeaders, secret: string): WebhookPayload {
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const named = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const body = typeof rawBody === "string" ? rawBody : Buffer.from(rawBody).toString("utf8");
  return new Webhook(secret).verify(body, named) as WebhookPayload;
}
