// Single sign-on in a real Chromium, with a real provider of OpenID Connect on another site. One service, in this order.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { people, start } from "./provider.mjs";

const { source: axe } = createRequire(import.meta.url)("axe-core");
const issuer = process.env.GATEHOUSE_OIDC_ISSUER;
const origin = process.env.GATEHOUSE_ORIGIN;
const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8"));
const PICTURES = process.env.PICTURES;
const PROGRAMS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

let browser;
let context;
let page;
let server;
let team;
const faults = [];

before(async () => {
  const executablePath = PROGRAMS.filter(Boolean).find((program) => {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
  if (!executablePath) throw new Error("Chromium is missing (Debian: apt-get install chromium), or set CHROMIUM");
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  context = await browser.newContext();
  context.on("page", watch);
  page = await context.newPage();
  const answer = await fetch(`${demo.base_url.replace("/functions/v1", "/management/v1")}/me`, {
    headers: { authorization: `Bearer ${demo.management_token}` },
  });
  team = (await answer.json()).team_id;
  ok(team, "the demo's token belongs to a team");
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

/** Collects what must never happen on a page of the console, such as a refusal by its policy for content. */
function watch(opened) {
  opened.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  opened.on("console", (message) => {
    const here = opened.url().startsWith(origin);
    const known = message.text().startsWith("Failed to load resource");
    if (here && message.type() === "error" && !known) faults.push(`console: ${message.text()}`);
  });
}

function startProvider() {
  return start(issuer, {
    clientId: process.env.GATEHOUSE_OIDC_CLIENT_ID,
    clientSecret: process.env.GATEHOUSE_OIDC_CLIENT_SECRET,
    redirect: `${origin}/sign-on/callback`,
  });
}

function grant(...roles) {
  const granted = roles.map((role) => `gatehouse:${team}:${role}`);
  people.set("ada", { email: "ada@example.com", email_verified: true, name: "Ada Lindqvist", roles: granted });
}

const text = (at) => at.locator("body").innerText();

/** A page can be used by everybody. The checker is a script, which the pages would refuse, so it gets a page of its own. */
async function check(at, name) {
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true });
    await at.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  }
  const own = await browser.newContext({ bypassCSP: true });
  const copy = await own.newPage();
  await copy.goto(`${origin}/sign-in`);
  await copy.setContent(await at.content());
  await copy.evaluate(axe);
  const { violations } = await copy.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  deepStrictEqual(violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html.slice(0, 200)}`), []);
  await own.close();
}

/** Gives name and password at the provider, and consents if it asks. */
async function signInThere(at, who) {
  ok(at.url().startsWith(issuer), at.url());
  await at.locator("input[name=login]").fill(who);
  await at.locator("input[name=password]").fill("any");
  await at.locator("button[type=submit]").click();
  const consent = at.getByText("Authorize", { exact: true }).waitFor();
  await Promise.race([
    at.waitForURL((url) => url.origin === origin),
    consent.then(() => at.locator("button[type=submit]").click()),
  ]);
}

test("while the provider is down, the page says so and passwords remain", async () => {
  await page.goto(`${origin}/sign-in`);
  await page.getByRole("link", { name: "Sign in with Acme" }).click();
  ok((await text(page)).includes("does not answer at the moment"), await text(page));
  await check(page, "down");
  await page.getByRole("link", { name: "Back to signing in" }).click();
  await page.locator("input[name=password]").waitFor();
});

test("a person signs in at the provider, and has the role of the claim", async () => {
  server = await startProvider();
  grant("viewer");
  await page.goto(`${origin}/sign-in`);
  await check(page, "sign-in");
  // A provider that failed a moment ago is not asked again yet.
  await page.waitForTimeout(5_000);
  await page.getByRole("link", { name: "Sign in with Acme" }).click();
  await signInThere(page, "ada");
  await page.waitForURL(`${origin}/t/${team}/overview`);
  await page.goto(`${origin}/account`);
  const account = await text(page);
  ok(account.includes("Ada Lindqvist") && account.includes("viewer"), account);
  await check(page, "account");
  const refused = await page.goto(`${origin}/t/${team}/sites/new`);
  strictEqual(refused.status(), 403);
});

test("a delicate change asks the provider again, in another tab, and nothing that was typed is lost", async () => {
  await page.goto(`${origin}/account`);
  await page.getByRole("button", { name: "Set up" }).click();
  const again = page.getByRole("link", { name: /^Sign in again with Acme/ });
  await again.waitFor();
  await check(page, "again");
  await page.getByRole("button", { name: "Continue" }).click();
  await again.waitFor();
  const opening = context.waitForEvent("page");
  await again.click();
  const tab = await opening;
  await tab.waitForLoadState();
  ok(await tab.locator("input[name=login]").isVisible(), "although signed in there");
  await signInThere(tab, "ada");
  await tab.getByText("Close this tab").waitFor();
  await check(tab, "thanks");
  await tab.close();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator("input[name=code]").waitFor();
});

test("after signing out, the next sign-in brings the changed roles", async () => {
  await page.goto(`${origin}/account`);
  await page.locator("form[action='/sign-out'] button").first().click();
  await page.waitForURL(/\/sign-in/);
  grant("lead", "moderator");
  await page.getByRole("link", { name: "Sign in with Acme" }).click();
  await page.waitForURL(`${origin}/t/${team}/overview`);
  await page.goto(`${origin}/account`);
  ok((await text(page)).includes("lead"), await text(page));
});

test("without a role, nobody is signed in", async () => {
  await page.locator("form[action='/sign-out'] button").first().click();
  await page.waitForURL(/\/sign-in/);
  grant();
  await page.getByRole("link", { name: "Sign in with Acme" }).click();
  await page.getByText("You have no role here").waitFor();
  await page.goto(`${origin}/account`);
  ok(page.url().startsWith(`${origin}/sign-in`), page.url());
});

test("nothing was refused by the policy for content", () => {
  deepStrictEqual(faults, []);
});
