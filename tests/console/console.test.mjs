// The console in a real browser, as people use it. One service, one first person, in this order.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { launch, manage, service, submit, watched } from "./browser.mjs";
import { crawl } from "./crawl.mjs";
import { becomeFirst, signIn } from "./people.mjs";

const { source: axe } = createRequire(import.meta.url)("axe-core");
/** `SHORT=1`: one window for each look, which is what `make test` runs. `PICTURES=directory`: keep pictures of all pages. */
const SHORT = process.env.SHORT === "1";
const PICTURES = process.env.PICTURES;
const HOSTILE = `<img src=x onerror=alert(1)>"'&</textarea><script>alert(1)</script>`;
/** Right-to-left override, zero-width space, and what is wider than any window. */
const ODD = `\u202Eevil\u200B ${"x".repeat(5_000)}`;

let browser;
let state;
let codes;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** A context in which the first person is signed in. */
const signedIn = (options) => browser.newContext({ storageState: state, ...options });

test("the printed link makes the first person an operator, with four fields", async () => {
  const context = await browser.newContext();
  const { page, faults } = await watched(context);
  const first = await becomeFirst(page);
  codes = first.codes;
  strictEqual(first.fields, 4);
  ok((await page.locator("body").innerText()).includes("Ada Lindqvist"));
  state = await context.storageState();
  deepStrictEqual(faults, []);
  await page.goto(service.link);
  ok((await page.locator("body").innerText()).includes("no such page"), "the link works once");
  await context.close();
});

test("what strangers and owners write is shown as it is, and runs nowhere", async () => {
  await manage("POST", "/sites", { name: `Site ${HOSTILE}`.slice(0, 100), default_rule_group_id: service.demo.rule_group_id });
  const rule = { name: `Rule ${HOSTILE}`.slice(0, 100), type: "keyword", keywords: ["onerror"], effect: "reject" };
  await manage("POST", "/rule-groups", { name: `Group ${HOSTILE}`.slice(0, 100), rules: [rule] });
  await manage("POST", "/hash-lists", { name: `List ${HOSTILE}`.slice(0, 100), kind: "deny" });
  for (const body of [HOSTILE, ODD, "a harmless comment", "this is a blockedword"]) {
    await submit({ body, app_media_id: HOSTILE, metadata: { [HOSTILE]: HOSTILE, odd: ODD } });
  }
  const context = await signedIn({});
  const { page, faults } = await watched(context);
  let shown = 0;
  await crawl(page, service.origin, async (at) => {
    const text = await at.locator("body").evaluate((body) => body.textContent);
    shown += text.includes("<img src=x onerror=alert(1)>") ? 1 : 0;
  });
  ok(shown > 0, "the texts are shown");
  deepStrictEqual(faults, []);
  await context.close();
});

test("every page is small, and loads nothing from elsewhere", async () => {
  const context = await signedIn({});
  const { page, faults } = await watched(context);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const large = [];
  await crawl(page, service.origin, async (at, path, answer) => {
    const size = gzipSync(await answer.body()).length;
    if (size > 15_000) large.push(`${path}: ${size} bytes`);
    if (requests.length > 6) large.push(`${path}: ${requests.join(" ")}`);
  }, () => {
    requests.length = 0;
  });
  deepStrictEqual(large, []);
  deepStrictEqual(faults, []);
  const assets = await page.locator("link[rel=stylesheet], link[rel=icon], script[src]").evaluateAll((all) =>
    all.map((one) => one.href || one.src));
  let bytes = 0;
  for (const url of assets) bytes += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
  ok(bytes <= 20_000, `${bytes} bytes of assets`);
  await context.close();
});

const WINDOWS = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
  ...(SHORT ? [] : [
    { width: 1440, height: 900, colorScheme: "dark" },
    { width: 390, height: 844, colorScheme: "light" },
    { width: 320, height: 640, colorScheme: "light", forcedColors: "active", reducedMotion: "reduce" },
  ]),
];

for (const { width, height, ...media } of WINDOWS) {
  test(`every page can be used by everybody: ${width} wide, ${Object.values(media).join(", ")}`, async () => {
    // The checker is a script, which the pages would refuse.
    const context = await signedIn({ viewport: { width, height }, bypassCSP: true, ...media });
    const { page } = await watched(context);
    const found = [];
    let number = 0;
    const pages = await crawl(page, service.origin, async (at, path) => {
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        number += 1;
        const name = `${width}-${media.colorScheme}-${String(number).padStart(2, "0")}${path.replace(/[0-9a-f-]{36}/g, "_").replace(/\W+/g, "-")}`;
        await at.screenshot({ path: `${PICTURES}/${name.slice(0, 100)}.png`, fullPage: true });
      }
      const wide = await at.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${path}: ${wide} pixels wider than the window`);
      const headings = await at.locator("h1").count();
      if (headings !== 1) found.push(`${path}: ${headings} main headings`);
      await at.evaluate(axe);
      const { violations } = await at.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      for (const { id, nodes } of violations) found.push(`${path}: ${id}: ${nodes[0].html.slice(0, 200)}`);
    });
    deepStrictEqual(found, []);
    ok(pages.length > 5, pages.join(" "));
    await context.close();
  });
}

test("without scripts, a person signs in, creates a site, and signs out", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const { page, faults } = await watched(context);
  await signIn(page, codes[0]);
  await page.locator("details.team summary").click();
  await page.locator("details.team").getByRole("link", { name: "Demo" }).click();
  await page.goto(`${service.origin}/t/${service.demo.team_id}/sites/new`);
  await page.locator("input[name=name]").fill("Without scripts");
  await page.getByRole("button", { name: "Create the site" }).click();
  ok((await page.locator("main").innerText()).includes("whsec_"));
  await page.getByRole("button", { name: "Sign out" }).click();
  ok(page.url().includes("/sign-in"), page.url());
  deepStrictEqual(faults, []);
  await context.close();
});

test("after signing out, Back shows nothing", async () => {
  const context = await browser.newContext();
  const { page } = await watched(context);
  await signIn(page, codes[1]);
  await page.goto(`${service.origin}/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goBack();
  await page.waitForLoadState();
  ok(!(await page.locator("body").innerText()).includes("Ada Lindqvist"), await page.locator("body").innerText());
  await context.close();
});

test("a form of another site changes nothing", async () => {
  const context = await signedIn({});
  const page = await context.newPage();
  await page.route("https://evil.example/", (route) => route.fulfill({
    contentType: "text/html",
    body: `<form method="post" action="${service.origin}/sign-out"><button>Win</button></form>`,
  }));
  await page.goto("https://evil.example/");
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().startsWith(service.origin)),
    page.getByRole("button").click(),
  ]);
  strictEqual(answer.status(), 403);
  await page.goto(`${service.origin}/account`);
  ok((await page.locator("body").innerText()).includes("Ada Lindqvist"), "still signed in");
  await context.close();
});
