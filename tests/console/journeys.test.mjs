// What people come for, with as few clicks as we promise. A click more, and the test fails. Typing is not counted.
import { deepStrictEqual, ok } from "node:assert";
import { after, before, test } from "node:test";
import { launch, shown } from "./browser.mjs";
import { newTeam } from "./people.mjs";
import { manage, receiver, submit, until } from "./service.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Presses what a person sees under this name, and counts. */
function hand(page) {
  const pressed = [];
  const press = (role) => async (name, within = page) => {
    pressed.push(name);
    await within.getByRole(role, { name, exact: typeof name === "string" }).first().click();
  };
  const atMost = (limit) => ok(pressed.length <= limit, `${pressed.length} clicks, not ${limit}: ${pressed.join(", ")}`);
  const type = (name, text) => page.getByRole("textbox", { name }).fill(text);
  return { link: press("link"), button: press("button"), type, atMost };
}

test("a site, its key, an endpoint and a ping take 12 clicks", async () => {
  const { id, at, owner: { page, faults } } = await newTeam(browser, "Clicks");
  const { url } = receiver(id);
  const { link, button, type, atMost } = hand(page);
  await page.goto(at("overview"));
  await link(/^New site/);
  await type(/^Name/, "Forum");
  await button("Create the site");
  await link("Go on to the site");
  await link(/^Keys.*Create a key/);
  await button("New key");
  ok((await shown(page)).includes("site_"));
  await link("I have copied it");
  await link("Overview", page.getByRole("navigation", { name: "Pages of the site" }));
  await link(/^Webhooks.*Add a webhook endpoint/);
  await link("Create the first endpoint");
  await type(/^URL/, url);
  await button("Create the endpoint");
  await button("Send test ping");
  ok((await shown(page)).includes("it works"), await shown(page));
  atMost(12);
  deepStrictEqual(faults, []);
});

test("a keyword is added, tried and published in 8 clicks", async () => {
  const { token, at, owner: { page, faults } } = await newTeam(browser, "Keywords");
  const group = await manage("POST", "/rule-groups", { name: "House rules" }, token);
  const { link, button, type, atMost } = hand(page);
  await page.goto(at("overview"));
  await link("Rules");
  await link("House rules");
  await link("Add a rule");
  await type(/^Name/, "Selling");
  await type(/^Words/, "replica watches");
  await button("Save to the draft");
  await type(/^Text/, "Buy replica watches here");
  await button("Try");
  ok((await page.locator("mark").allInnerTexts()).join().includes("replica watches"));
  await link(/^Review and publish/);
  await button("Publish");
  atMost(8);
  const { live_version_number: live } = await manage("GET", `/rule-groups/${group.id}`, undefined, token);
  deepStrictEqual(live, 2);
  deepStrictEqual(faults, []);
});

test("a failing endpoint shows its cause after 2 clicks, and has recovered after 4", async () => {
  const { id, token, at, owner: { page, faults } } = await newTeam(browser, "Failing");
  const { url, answers } = receiver(id);
  await answers({ status: 503, body: "the database of the forum is down" });
  const group = await manage("POST", "/rule-groups", { name: "House rules" }, token);
  const site = await manage("POST", "/sites", { name: "Forum", default_rule_group_id: group.id }, token);
  const endpoint = await manage("POST", `/sites/${site.id}/webhook-endpoints`, { url }, token);
  const { secret } = await manage("POST", `/sites/${site.id}/keys`, undefined, token);
  await submit({ body: "hello" }, secret);
  const health = () => manage("GET", `/webhook-endpoints/${endpoint.id}`, undefined, token);
  await until("the endpoint fails", async () => (await health()).failing_since);

  const { link, button, type, atMost } = hand(page);
  await page.goto(at("overview"));
  await link(/^Look/, page.getByRole("region", { name: "Needs you" }));
  const text = await shown(page);
  ok(text.includes("It answered 503") && text.includes("the database of the forum is down"), text);
  atMost(2);

  await answers({ status: 204 });
  await button("Send test ping");
  ok((await shown(page)).includes("it works"));
  atMost(4);
  await until("all is delivered", async () => {
    const { failing_since: failing, waiting_deliveries: waiting } = await health();
    return !failing && waiting === 0;
  });
  deepStrictEqual(faults, []);
});
