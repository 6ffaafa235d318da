// A real Chromium, and what must never happen in it.
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const PROGRAMS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts the browser. */
export async function launch() {
  const executablePath = PROGRAMS.filter(Boolean).find((program) => {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
  if (!executablePath) throw new Error("Chromium is missing (Debian: apt-get install chromium), or set CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** The service under test: the console's origin, the first person's link, and the demo's keys. */
export const service = {
  link: process.env.GATEHOUSE_CONSOLE_LINK,
  origin: new URL(process.env.GATEHOUSE_CONSOLE_LINK).origin,
  demo: JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8")),
};

/** A page that collects what must never happen: dialogs, errors, refused scripts or styles, requests to elsewhere. */
export async function watched(context) {
  const page = await context.newPage();
  const faults = [];
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  page.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
  page.on("console", (message) => {
    // Chromium also logs each answer of 400 and more, which tests of mistakes ask for.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== service.origin && protocol !== "data:") faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
}

/** The code of an authenticator app at this moment. */
export function totp(secret) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((digit) => digits.indexOf(digit).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac("sha1", key).update(step).digest();
  const code = mac.readUInt32BE(mac[19] & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, "0");
}

/** One request to the management interface with the demo team's token. */
export async function manage(method, path, body) {
  const base = service.demo.base_url.replace("/functions/v1", "/management/v1");
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${service.demo.management_token}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Submits content with the demo site's key. */
export async function submit(content) {
  const answer = await fetch(`${service.demo.base_url}/submit-media`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: service.demo.site_key, ...content }),
  });
  if (!answer.ok) throw new Error(`submit: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
