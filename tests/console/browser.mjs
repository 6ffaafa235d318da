// A real Chromium, and what must never happen in it.
import { chromium } from "playwright-core";
import { service } from "./service.mjs";

/** Starts the browser. */
export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

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

/** All that people can read on a page. */
export const shown = (page) => page.locator("body").innerText();

/** Sends a form as the open page of the console could, and returns the page that answers. */
export function send(page, path, fields = []) {
  const pairs = Array.isArray(fields) ? fields : Object.entries(fields);
  return page.evaluate(async ([target, form]) => {
    const answer = await fetch(target, { method: "POST", body: new URLSearchParams(form) });
    return { status: answer.status, path: new URL(answer.url).pathname, text: await answer.text() };
  }, [path, pairs]);
}
