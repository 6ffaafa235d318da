// The pictures in docs/console.md and docs/desk.md: pages of the example data, as an owner sees them. Started by scripts/picture-console.
import { statSync } from "node:fs";
import { launch } from "./browser.mjs";
import { asAda } from "./people.mjs";
import { service, until } from "./service.mjs";

const directory = process.argv[2];
/** A picture is at most so large, in bytes, because everybody who clones the repository gets all of them. */
const MOST = 120_000;
/** The team "Example data", which always has this id. */
const TEAM = `${service.origin}/t/01990000-0000-7000-8000-000000e8a1e5`;

const browser = await launch();
const context = await asAda(browser, { viewport: { width: 1440, height: 900 }, colorScheme: "light" });
const page = await context.newPage();

/** Keeps the top of the open page. */
async function keep(name, height = 760) {
  const path = `${directory}/${name}.png`;
  await page.screenshot({ path, clip: { x: 0, y: 0, width: 1440, height } });
  const { size } = statSync(path);
  if (size > MOST) throw new Error(`${path} has ${size} bytes, more than ${MOST}`);
  console.log(`${path}: ${size} bytes`);
}

// The history is counted a while after it was created.
await until("the figures are counted", async () => {
  await page.goto(`${TEAM}/overview?span=7d`);
  return !["0", ""].includes(await page.locator(".figure").first().innerText());
}, 180);
await keep("overview", 720);

await page.goto(`${TEAM}/items?status=rejected`);
await page.locator("table a[href*='/items/']").first().click();
await keep("item");

await page.goto(`${TEAM}/rules`);
await page.locator("table a[href*='/rules/']").first().click();
await page.getByRole("link", { name: "Add a rule" }).click();
await page.getByRole("textbox", { name: /^Name/ }).fill("Replica watches");
await page.getByRole("textbox", { name: /^Words/ }).fill("replica watch\nreplica watches");
await page.getByRole("button", { name: "Save to the draft" }).click();
await page.getByRole("textbox", { name: "Text" }).fill("Genuine r3plica wat\u0441hes, only today. Write to me on WhatsApp!");
await page.getByRole("button", { name: "Try" }).click();
await keep("try");

await page.getByRole("link", { name: /^Review and publish/ }).click();
await keep("publish");

await page.goto(`${TEAM}/deliveries?state=exhausted`);
await page.locator("table a[href*='/deliveries/']").first().click();
await keep("delivery");

await page.goto(`${TEAM}/desk`);
await page.getByRole("button", { name: "Start" }).click();
await page.waitForURL(/\/desk\/[0-9a-f-]{36}/);
await keep("desk");

await page.goto(`${TEAM}/desk/bulk`);
await keep("bulk", 500);

await page.goto(`${service.origin}/instance/queues`);
await keep("queues");
await browser.close();
