// What every request of a generated client goes through: the address, the token, and the answer's JSON.

import { readFileSync } from "node:fs";

export const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO ?? "demo.json", "utf8"));

async function send<T>(url: string, request: RequestInit): Promise<T> {
  const response = await fetch(url, request);
  return { data: await response.json(), status: response.status, headers: response.headers } as T;
}

export function sendPublic<T>(path: string, request: RequestInit): Promise<T> {
  return send(demo.base_url + path, request);
}

export function sendManagement<T>(path: string, request: RequestInit): Promise<T> {
  const headers = new Headers(request.headers);
  headers.set("Authorization", `Bearer ${demo.management_token}`);
  return send(demo.base_url.replace("/functions/v1", "/management/v1") + path, { ...request, headers });
}
