// What people come for, in a browser that runs no scripts.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { after, before, test } from "node:test";
import { launch, shown, watched } from "./browser.mjs";
import { ADA, ada, newTeam, recoveryCode, signIn } from "./people.mjs";
import { manage, receiver, service, submit, until } from "./service.mjs";

let browser;
before(async () => {
  browser = await launch();
  await ada(browser);
});
after(() => browser?.close());

/** A window of this person without scripts. */
async function scriptless(context) {
  const storageState = await context?.storageState();
  return watched(await browser.newContext({ javaScriptEnabled: false, storageState }));
}

test("without scripts, a person signs in, finds a team, and signs out", async () => {
  const { page, faults } = await scriptless();
  await signIn(page, ADA.email, recoveryCode());
  await page.locator("details.team summary").click();
  await page.locator(`details.team a[href^="/t/${service.demo.team_id}/"]`).click();
  strictEqual(new URL(page.url()).pathname, `/t/${service.demo.team_id}/overview`);
  await page.getByRole("button", { name: "Sign out" }).click();
  ok(page.url().includes("/sign-in"), page.url());
  deepStrictEqual(faults, []);
  await page.context().close();
});

test("without scripts, rules are changed and published, an item is decided, keys and secrets are rotated, and a ping is sent", async () => {
  const { id: team, token, at, owner } = await newTeam(browser, "No scripts");
  const call = (method, path, body) => manage(method, path, body, token);
  const { page, faults } = await scriptless(owner.context);
  const press = (name) => page.getByRole("button", { name, exact: typeof name === "string" }).click();

  await page.goto(at("sites/new"));
  await page.getByRole("textbox", { name: /^Name/ }).fill("Forum");
  await press("Create the site");
  const secret = await page.locator(".secret").innerText();
  ok(secret.startsWith("whsec_"));
  const { data: [site] } = await call("GET", "/sites");
  const group = site.default_rule_group_id;

  await page.goto(at(`rules/${group}/rules/new`));
  await page.getByRole("textbox", { name: /^Name/ }).fill("Selling");
  await page.getByRole("textbox", { name: /^Words/ }).fill("replica watches");
  await press("Save to the draft");
  await page.getByRole("link", { name: /^Review and publish/ }).click();
  await press("Publish");
  strictEqual((await call("GET", `/rule-groups/${group}`)).live_version_number, 2);

  await page.goto(at(`sites/${site.id}/keys`));
  await press("New key");
  const first = await page.locator(".secret").innerText();
  const item = await submit({ body: "Buy replica watches here" }, first);
  await until("the item waits for a person", async () => (await call("GET", `/media/${item}`)).status === "pending_review");
  await page.goto(at(`sites/${site.id}/keys/rotate`));
  await page.getByRole("textbox", { name: /^Type/ }).fill("Forum");
  await press("Replace all keys");
  const second = await page.locator(".secret").innerText();
  await submit({ body: "hello" }, second);
  const refused = await submit({ body: "hello" }, first).catch(String);
  ok(refused.includes("401"), refused);

  await page.goto(at(`items/${item}`));
  await page.getByRole("textbox", { name: /^Reason/ }).fill("An advertisement");
  await press("Reject");
  strictEqual((await call("GET", `/media/${item}`)).status, "rejected");

  await page.goto(at(`sites/${site.id}/secret`));
  await press("Next: check");
  await press("Make the new secret");
  const next = await page.locator(".secret").innerText();
  ok(next.startsWith("whsec_") && next !== secret, await shown(page));

  await page.goto(at("webhooks/new"));
  await page.getByRole("textbox", { name: /^URL/ }).fill(receiver(team).url);
  await press("Create the endpoint");
  await press("Send test ping");
  ok((await shown(page)).includes("it works"));
  deepStrictEqual(faults, []);
});
