// The service under test, as programs use it.
import { strictEqual } from "node:assert";
import { readFileSync } from "node:fs";

/** The console's origin, the first person's link, and the demo's ids and keys. */
export const service = {
  link: process.env.GATEHOUSE_CONSOLE_LINK,
  origin: new URL(process.env.GATEHOUSE_CONSOLE_LINK).origin,
  demo: JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8")),
};

const { base_url: functions, management_token: demoToken } = service.demo;
const management = functions.replace("/functions/v1", "/management/v1");

/** One request to the management interface, with the demo team's token or another one. */
export async function manage(method, path, body, token = demoToken) {
  const answer = await fetch(management + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Submits content with the demo site's key or another one, and returns the item's id. */
export async function submit(content, key = service.demo.site_key) {
  const answer = await fetch(`${functions}/submit-media`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: key, ...content }),
  });
  if (!answer.ok) throw new Error(`submit: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

/** A receiver outside of Gatehouse, and how to tell it what to answer: {status, headers, body}. */
export function receiver(name) {
  const url = `${process.env.CONSOLE_OUTSIDE}/hooks/${name}`;
  const answers = async (answer) => {
    strictEqual((await fetch(url, { method: "PUT", body: JSON.stringify(answer) })).status, 204);
  };
  return { url, answers };
}

/** Waits until something is so: until `ask` returns what is not empty. */
export async function until(what, ask, seconds = 60) {
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    const found = await ask();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what}: not within ${seconds} s`);
}
