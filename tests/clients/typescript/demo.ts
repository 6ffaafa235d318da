// The demo site of `gatehouse up`, as described in demo.json, and what the tests share.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import createClient from "openapi-fetch";

import type { paths as ManagementPaths } from "./generated/management.js";
import type { components, paths as PublicPaths } from "./generated/public.js";

const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));

export const api_key: string = demo.site_key;
export const site_id: string = demo.site_id;
export const rule_group_id: string = demo.rule_group_id;

export const client = createClient<PublicPaths>({ baseUrl: demo.base_url });

export const management = createClient<ManagementPaths>({
  baseUrl: demo.base_url.replace("/functions/v1", "/management/v1"),
  headers: { Authorization: `Bearer ${demo.management_token}` },
});

// Submits a text, and repeats the request if that makes sense. It is stored only once.
export async function submit(text: string): Promise<string> {
  const params = { header: { "Idempotency-Key": crypto.randomUUID() } };
  for (let tries = 1; ; tries += 1) {
    const body = { api_key, body: text };
    const { data, error, response } = await client.POST("/submit-media", { params, body });
    if (data) return data.id;
    const wait = response.headers.get("retry-after");
    if (!wait || tries === 5) throw new Error(`${error.code}: ${error.detail}`);
    await sleep(Number(wait) * 1000);
  }
}

export async function decided(media_id: string): Promise<components["schemas"]["MediaStatus"]> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { data, error } = await client.POST("/get-media-status", { body: { api_key, media_id } });
    assert.equal(error, undefined);
    if (data.status !== "pending") return data;
    await sleep(100);
  }
  throw new Error(`${media_id} is still pending`);
}
