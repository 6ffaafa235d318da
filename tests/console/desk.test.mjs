// The review desk with real keys.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch, shown } from "./browser.mjs";
import { newTeam } from "./people.mjs";
import { manage, submit, until } from "./service.mjs";

const { source: axe } = createRequire(import.meta.url)("axe-core");

// A picture of one colour, 8 pixels wide.
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGP8z4ANMGEVZRhaEgBAPAEPHDDKKwAAAABJRU5ErkJggg==";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** A team whose rules send every text with "doubt" to a person, and these items. */
async function deskOf(name, items) {
  const { id, token, at, owner: { page, faults } } = await newTeam(browser, name);
  const rule = { name: "Doubt", type: "keyword", keywords: ["doubt"], effect: "review" };
  const group = await manage("POST", "/rule-groups", { name: "House rules", rules: [rule] }, token);
  const site = await manage("POST", "/sites", { name: "Forum", default_rule_group_id: group.id }, token);
  const { secret: key } = await manage("POST", `/sites/${site.id}/keys`, undefined, token);
  const policies = [
    { code: "spam", name: "Spam", reason: "It is spam.", key: 1 },
    { code: "insult", name: "Insult", reason: "It is an insult.", key: 2, rules: ["Doubt"], guideline: "Words against people." },
  ];
  for (const policy of policies) await manage("POST", "/policies", policy, token);
  for (const item of items) await submit(item, key);
  const waiting = async () => (await manage("GET", "/reviews/waiting", undefined, token)).data.reduce((sum, part) => sum + part.reviews, 0);
  await until("all items wait", async () => (await waiting()) === items.length);
  return { id, token, site, at, page, faults, waiting };
}

/** Begins, and waits for the first review. */
async function start(page, at) {
  await page.goto(at("desk"));
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/\/desk\/[0-9a-f-]{36}/);
}

/** What axe finds, in light and in dark. With PICTURES, the page is kept. */
async function lookAt(page, name) {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    found.push(...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`));
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/desk-${name}-${colorScheme}.png`, fullPage: true });
  }
  deepStrictEqual(found, []);
}

const texts = (count) => Array.from({ length: count }, (_, number) => ({ body: `doubt ${number}` }));

test("20 items take 20 keys, and the next one is there at once", async () => {
  const { token, site, at, page, faults, waiting } = await deskOf("Keys", texts(20));
  await manage("PATCH", `/sites/${site.id}/desk`, { undo_seconds: 1 }, token);
  await start(page, at);
  const times = [];
  for (let number = 0; number < 20; number += 1) {
    const before = page.url();
    const begun = performance.now();
    await page.keyboard.press(["a", "1", "2", "s"][number % 4]);
    await page.waitForURL((url) => url.href !== before);
    await page.locator("main").waitFor();
    times.push(performance.now() - begun);
  }
  ok((await shown(page)).includes("There is nothing for you at the moment."), await shown(page));
  // What was skipped waits for others.
  await until("the decisions are told", async () => (await waiting()) === 5);
  const { data } = await manage("GET", "/media?limit=100", undefined, token);
  const told = (status) => data.filter((item) => item.status === status).length;
  deepStrictEqual([told("approved"), told("rejected")], [5, 10]);
  times.sort((one, other) => one - other);
  console.log(`next item: p50 ${times[10].toFixed(0)} ms, slowest ${times[19].toFixed(0)} ms`);
  deepStrictEqual(faults, []);
});

test("a key undoes, keys are quiet while somebody types or when they are off, and the page passes axe", async () => {
  const { at, page, faults } = await deskOf("Undo", texts(2));
  await start(page, at);
  const text = async () => page.locator(".said").innerText();
  const first = await text();
  await lookAt(page, "review");
  await page.keyboard.press("2");
  await page.getByText("Rejected.").waitFor();
  ok((await text()) !== first);
  await lookAt(page, "undo");
  await page.keyboard.press("u");
  await until("the first one is back", async () => (await text()) === first);
  // Typing decides nothing.
  await page.keyboard.press("n");
  await page.keyboard.type("a1s");
  strictEqual(await page.locator("textarea[name=note]").inputValue(), "a1s");
  strictEqual(await text(), first);
  await page.locator("textarea[name=note]").blur();
  await page.keyboard.press("?");
  await page.getByLabel("Keys are on, in this browser").uncheck();
  await page.locator("h2").first().click();
  await page.keyboard.press("a");
  await page.waitForTimeout(300);
  strictEqual(await text(), first);
  await page.getByLabel("Keys are on, in this browser").check();
  await page.locator("h2").first().click();
  await page.keyboard.press("a");
  await page.getByText("Approved.").waitFor();
  deepStrictEqual(faults, []);
});

test("an image is veiled, unveiled by a key, counted, and veiled again when the person looks elsewhere", async () => {
  const { at, page, faults } = await deskOf("Veils", [{ body: "doubt with an image", content_base64: PICTURE }]);
  await start(page, at);
  const filter = () => page.locator(".veiled img").evaluate((image) => getComputedStyle(image).filter);
  strictEqual(await filter(), "blur(24px) grayscale(1)");
  const counted = page.waitForResponse((answer) => answer.url().endsWith("/unveil"));
  await page.keyboard.press("b");
  strictEqual((await counted).status(), 204);
  strictEqual(await filter(), "grayscale(1)");
  await page.keyboard.press("g");
  strictEqual(await filter(), "none");
  await page.evaluate(() => dispatchEvent(new Event("blur")));
  strictEqual(await filter(), "blur(24px) grayscale(1)");
  deepStrictEqual(faults, []);
});

test("what leads see passes axe: many at once, a bulk decision, quality, exposure; an image among many is counted", async () => {
  const image = { body: "doubt with an image", content_base64: PICTURE };
  const { at, page, faults } = await deskOf("Leads", [image, ...texts(3)]);
  await page.goto(at("desk/bulk"));
  await lookAt(page, "bulk");
  const counted = page.waitForResponse((answer) => answer.url().endsWith("/desk/bulk/unveil"));
  await page.getByText("Show the image clearly and in colour").click();
  strictEqual((await counted).status(), 204);
  await page.getByRole("button", { name: "Approve the ticked ones" }).click();
  await page.waitForURL(/\/desk\/bulk\/[0-9a-f-]{36}/);
  await until("the decision is made", async () => {
    await page.reload();
    return (await page.getByText("finished").count()) > 0;
  });
  await lookAt(page, "bulk-decision");
  await page.goto(at("desk/exposure"));
  strictEqual(await page.getByRole("cell", { name: "1", exact: true }).count(), 1);
  await lookAt(page, "exposure");
  await page.goto(at("desk/quality"));
  await lookAt(page, "quality");
  deepStrictEqual(faults, []);
});
