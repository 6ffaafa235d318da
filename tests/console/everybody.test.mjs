// The console can be used by everybody: every page in every window, by keyboard alone, enlarged, in forced colours, without motion.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch, shown, watched } from "./browser.mjs";
import { crawl } from "./crawl.mjs";
import { moving, scales, tooWide } from "./looks.mjs";
import { ada, asAda, newTeam } from "./people.mjs";
import { pictures } from "./pictures.mjs";
import { manage, service, submit, until } from "./service.mjs";

const { source: axe } = createRequire(import.meta.url)("axe-core");
/** Every kind of page once, in two windows: what `make test` runs. */
const SHORT = process.env.SHORT === "1";
const FULL = { skip: SHORT && "not in the short form" };

let browser;
before(async () => {
  browser = await launch();
  await ada(browser);
  await submit({ body: "a harmless comment", app_media_id: "1", metadata: { author: "ada" } });
  const waits = await submit({ body: "this is a blockedword" });
  await until("the item is judged", async () => (await manage("GET", `/media/${waits}`)).status !== "pending");
});
after(() => browser?.close());

const WINDOWS = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
  ...(SHORT ? [] : [
    { width: 1440, height: 900, colorScheme: "dark" },
    { width: 390, height: 844, colorScheme: "light" },
    // 320 CSS pixels are also what a window of 1280 shows at 400 %.
    { width: 320, height: 640, colorScheme: "light", forcedColors: "active", reducedMotion: "reduce" },
    // A window of 1440 at 200 %.
    { width: 720, height: 450, deviceScaleFactor: 2, colorScheme: "light" },
  ]),
];

for (const { width, height, ...media } of WINDOWS) {
  test(`every page in a window of ${width} pixels: ${Object.values(media).join(", ")}`, async () => {
    // The checker is a script, which the pages would refuse.
    const context = await asAda(browser, { viewport: { width, height }, bypassCSP: true, ...media });
    const { page } = await watched(context);
    const { ask, weigh } = scales(page);
    const found = [];
    const keep = pictures(`${width}-${media.colorScheme}`);
    const opened = await crawl(page, { each: SHORT ? 1 : 2, ask }, async (path, answer) => {
      const wrong = [...await weigh(answer), ...await tooWide(page)];
      await keep(page, path);
      const headings = await page.locator("h1").count();
      if (headings !== 1) wrong.push(`${headings} main headings`);
      if (media.reducedMotion) wrong.push(...await moving(page));
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      wrong.push(...violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`));
      found.push(...wrong.map((what) => `${path}: ${what}`));
    });
    deepStrictEqual(found, []);
    ok(opened.length > 20, opened.join(" "));
    await context.close();
  });
}

/** What has the focus: its name, whether that can be seen, and where it is. */
const focused = (page) => page.evaluate(() => {
  const { activeElement: one } = document;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  return {
    name: (one.getAttribute("aria-label") ?? one.labels?.[0]?.innerText ?? one.innerText ?? "").trim().split("\n")[0],
    tag: one.outerHTML.slice(0, 120),
    isVisible: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    isInside: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    place: [...document.querySelectorAll("*")].indexOf(one),
  };
});

test("Tab reaches all that can be used, in the order of the page, and the focus can be seen", FULL, async () => {
  const context = await asAda(browser, { viewport: { width: 1280, height: 720 } });
  const { page } = await watched(context);
  const team = `/t/${service.demo.team_id}`;
  const group = `${team}/rules/${service.demo.rule_group_id}`;
  for (const path of [`${team}/overview`, `${team}/items`, group, `${group}/try`, `${team}/webhooks/new`, `${team}/sites/${service.demo.site_id}/settings`, "/account", "/sign-in"]) {
    await page.goto(service.origin + path);
    // Some pages begin in their first field.
    await page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
    });
    const usable = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")];
      const groups = new Set();
      return all.filter((one) => {
        if (one.disabled || !one.checkVisibility({ visibilityProperty: true })) return false;
        // One Tab for a group of radio buttons.
        if (one.type !== "radio") return true;
        const key = `${[...document.forms].indexOf(one.form)} ${one.name}`;
        return !groups.has(key) && groups.add(key);
      }).length;
    });
    const wrong = [];
    // A field for a time has several parts, and each takes a Tab.
    const reached = new Set();
    for (let before = -1; ;) {
      await page.keyboard.press("Tab");
      const at = await focused(page);
      if (!at || at.place < before) break;
      if (!at.isVisible || !at.isInside) wrong.push(`${path}: the focus cannot be seen: ${at.tag}`);
      before = at.place;
      reached.add(before);
    }
    deepStrictEqual(wrong, []);
    ok(reached.size >= usable, `${path}: ${reached.size} of ${usable} reached`);
  }
  await context.close();
});

test("the first Tab leads past the navigation", async () => {
  const context = await asAda(browser);
  const { page } = await watched(context);
  await page.goto(`${service.origin}/t/${service.demo.team_id}/items`);
  await page.keyboard.press("Tab");
  strictEqual((await focused(page)).name, "Skip to the content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  ok(await page.evaluate(() => document.querySelector("main").contains(document.activeElement)), (await focused(page)).tag);
  await context.close();
});

test("a rule is written, tried and published by keyboard alone", async () => {
  const { token, at, owner: { page } } = await newTeam(browser, "Keyboard");
  const group = await manage("POST", "/rule-groups", { name: "House rules" }, token);
  /** Tab until this has the focus. */
  const reach = async (name) => {
    for (let presses = 0; presses < 100; presses += 1) {
      await page.keyboard.press("Tab");
      const at = await focused(page);
      if (at && name.test(at.name)) return;
    }
    throw new Error(`Tab does not reach ${name} at ${page.url()}`);
  };
  const open = async (name) => {
    await reach(name);
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  };
  await page.goto(at("overview"));
  await open(/^Rules$/);
  await open(/^House rules$/);
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("a")]);
  await page.keyboard.type("Selling");
  await reach(/^Words/);
  await page.keyboard.type("replica watches");
  await open(/^Save to the draft/);
  await reach(/^Text/);
  await page.keyboard.type("Buy replica watches here");
  await open(/^Try$/);
  ok((await page.locator("mark").allInnerTexts()).join().includes("replica watches"), await shown(page));
  await open(/^Review and publish/);
  await open(/^Publish$/);
  strictEqual((await manage("GET", `/rule-groups/${group.id}`, undefined, token)).live_version_number, 2);
});

test("in forced colours, what is chosen and what has the focus can still be told apart", async () => {
  const context = await asAda(browser, { forcedColors: "active" });
  const { page } = await watched(context);
  await page.goto(`${service.origin}/t/${service.demo.team_id}/rules/${service.demo.rule_group_id}`);
  const [open, other] = await page.locator(".tabs").evaluate((tabs) => {
    const look = (one) => {
      const { borderBottomColor, fontWeight, color } = getComputedStyle(one);
      return [borderBottomColor, fontWeight, color].join(" ");
    };
    return [look(tabs.querySelector("[aria-current]")), look(tabs.querySelector("a:not([aria-current])"))];
  });
  ok(open !== other, `${open}: the open tab looks like the others`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  ok((await focused(page)).isVisible);
  await context.close();
});
