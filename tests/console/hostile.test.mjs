// What strangers and people of a team write is shown as it is. It runs nowhere, loads nothing, and keeps pages in their windows.
import { deepStrictEqual, ok } from "node:assert";
import { after, before, test } from "node:test";
import { launch, watched } from "./browser.mjs";
import { LONG, ODD, VECTORS, injected } from "./corpus.mjs";
import { crawl } from "./crawl.mjs";
import { tooWide } from "./looks.mjs";
import { asAda, newTeam } from "./people.mjs";
import { manage, receiver, submit, until } from "./service.mjs";

const FULL = { skip: process.env.SHORT === "1" && "not in the short form" };
const TEXTS = [...VECTORS, ...ODD.map(([text]) => text)];
/** Names have at most 100 characters. */
const named = (text) => text.slice(0, 100);

let browser;
let team;
before(async () => {
  browser = await launch();
  if (!FULL.skip) team = await newTeam(browser, named(VECTORS[0]));
});
after(() => browser?.close());

/** One request as the team's program. */
const call = (method, path, body) => manage(method, path, body, team.token);

/** What an attack has done to the open page. */
const harm = async (page, path) => [...await injected(page), ...await tooWide(page)].map((what) => `${path}: ${what}`);

/** A site with this hostile name, whose rules ask the provider. */
async function site(name) {
  const rules = [
    { name: "Provider", type: "ai_threshold", category: "harassment", review_at: 0.9 },
    ...TEXTS.map((text) => ({ name: named(text), type: "keyword", keywords: [named(text), "onerror"], exceptions: [named(text)], effect: "review" })),
  ];
  const group = await call("POST", "/rule-groups", { name, rules, note: VECTORS[2] });
  const made = await call("POST", "/sites", { name, default_rule_group_id: group.id });
  const { secret: key } = await call("POST", `/sites/${made.id}/keys`);
  return { id: made.id, group, key };
}

test("what programs and strangers send is shown as it is, on every page", FULL, async () => {
  const { id, group, key } = await site(named(VECTORS[3]));
  const hook = receiver(team.id);
  await hook.answers({ status: 500, headers: { "x-hostile": VECTORS[1], server: VECTORS[0] }, body: VECTORS.join("\n") });
  const endpoint = await call("POST", `/sites/${id}/webhook-endpoints`, { url: `${hook.url}?${VECTORS[1]}#${VECTORS[0]}`, description: VECTORS[4], headers: [{ name: "x-own", value: VECTORS[5] }] });
  const items = [];
  for (const text of TEXTS) {
    items.push(await submit({ body: text, app_media_id: named(text), metadata: { [text]: text, deep: [{ [text]: text }] } }, key));
    await call("POST", "/hash-lists", { name: named(text), description: text, kind: "deny" });
    await call("POST", "/tokens", { name: named(text), scopes: ["sites:read"] });
    await call("POST", "/rule-groups", { name: named(`Group ${text}`) });
  }
  items.push(await submit({ body: `providerfault ${VECTORS.join(" ")}` }, key));
  items.push(await submit({ body: `${LONG} ${ODD[0][0]}`, app_media_id: LONG.slice(0, 200), metadata: { [LONG.slice(0, 200)]: LONG.slice(0, 5_000) } }, key));
  items.push(await submit({ content_url: `https://evil.example/${encodeURIComponent(VECTORS[1])}?"><script>alert(1)</script>` }, key));
  const { data: [list] } = await call("GET", "/hash-lists?limit=1");
  for (const [place, note] of VECTORS.entries()) {
    await call("POST", `/hash-lists/${list.id}/entries`, { sha256: place.toString(16).padStart(64, "0"), note });
  }
  for (const [place, item] of items.slice(0, VECTORS.length).entries()) {
    await until("the item is judged", async () => (await call("GET", `/media/${item}`)).status !== "pending");
    await call("POST", `/media/${item}/decision`, { decision: "reject", reason: VECTORS[place] });
  }
  await until("the receiver has answered", async () => (await call("GET", `/webhook-endpoints/${endpoint.id}`)).failing_since);
  const spare = await call("POST", `/sites/${id}/webhook-endpoints`, { url: hook.url, description: VECTORS[6] });
  await call("POST", `/webhook-endpoints/${spare.id}/disable`, { reason: VECTORS[7] });
  const draft = await call("GET", `/rule-groups/${group.id}/draft`);
  const added = [...draft.rules, { name: "Pattern", type: "regex", pattern: "<script>\"'&", effect: "reject" }, { name: "Link", type: "link", policy: "deny", domains: ["evil.example"], effect: "reject" }];
  await call("PUT", `/rule-groups/${group.id}/draft`, { rules: added, revision: draft.revision });

  const { page, faults } = await watched(team.owner.context);
  await page.setViewportSize({ width: 390, height: 844 });
  const wrong = [];
  let read = "";
  await crawl(page, { from: `/t/${team.id}/overview`, within: `/t/${team.id}/`, each: 26 }, async (path) => {
    wrong.push(...await harm(page, path));
    const { text, values } = await page.locator("body").evaluate((body) => ({
      text: body.textContent,
      values: [...body.querySelectorAll("input, textarea")].map((one) => one.value),
    }));
    read += [path, text, ...values].join("\n");
  });
  deepStrictEqual(faults, []);
  deepStrictEqual(wrong, []);
  deepStrictEqual(VECTORS.filter((text) => !read.includes(text)), [], "shown letter by letter");
  deepStrictEqual(ODD.filter(([, name]) => name && !read.includes(name)), [], "hidden characters are named");
});

test("what a receiver answers to a ping is shown as it is", FULL, async () => {
  const hook = receiver(`${team.id}-ping`);
  const { id } = await site(named(VECTORS[4]));
  const endpoint = await call("POST", `/sites/${id}/webhook-endpoints`, { url: hook.url });
  const { page, faults } = await watched(team.owner.context);
  await page.setViewportSize({ width: 320, height: 640 });
  const answers = [
    { status: 500, headers: { "content-type": "text/html" }, body: VECTORS.join("\n") },
    { status: 302, headers: { location: "javascript:alert(1)" }, body: ODD.join("\n") },
    { status: 200, body: LONG },
    { status: 599, body: "\u0007\u001b[31m]]>" },
  ];
  for (const answer of answers) {
    await hook.answers(answer);
    await page.goto(team.at(`webhooks/${endpoint.id}`));
    await page.getByRole("button", { name: "Send test ping" }).click();
    const region = page.getByRole("status").filter({ hasText: "Test ping" });
    const text = await region.textContent();
    ok(text.includes(answer.body.slice(0, 2_000)), text);
    deepStrictEqual(await harm(page, `the answer ${answer.status}`), []);
  }
  deepStrictEqual(faults, []);
});

/** Types these texts into the fields of a form, one after the other, and sends it. */
const attack = (form, texts, turn) => form.evaluate((one, [all, first]) => {
  let next = first;
  for (const field of one.querySelectorAll("input:not([type=hidden], [type=radio], [type=checkbox], [type=password]), textarea")) {
    // A browser would clean what is typed. A stranger's program does not.
    field.removeAttribute("type");
    field.value = all[next++ % all.length];
  }
  one.submit();
}, [texts, turn]);

test("what people type into any form is shown as it is, refused or not", FULL, async () => {
  const operator = await asAda(browser, { viewport: { width: 390, height: 844 } });
  const faults = [];
  const wrong = [];
  let sent = 0;
  for (const [context, from, within] of [[team.owner.context, `/t/${team.id}/overview`, `/t/${team.id}/`], [operator, "/instance/teams", "/instance/"]]) {
    const found = await watched(context);
    const { page } = found;
    await page.setViewportSize({ width: 390, height: 844 });
    const forms = [];
    await crawl(page, { from, within, each: 1 }, async () => {
      const count = await page.locator("main form[method=post]:has(input:not([type=hidden]), textarea)").count();
      for (let place = 0; place < count; place += 1) forms.push([page.url(), place]);
    });
    for (const [url, place] of forms) {
      await page.goto(url);
      const form = page.locator("main form[method=post]:has(input:not([type=hidden]), textarea)").nth(place);
      if (await form.count() === 0) continue;
      await Promise.all([page.waitForEvent("load"), attack(form, TEXTS, sent)]);
      sent += 1;
      wrong.push(...await harm(page, url));
    }
    faults.push(...found.faults);
    // What was accepted is shown now.
    await crawl(page, { from, within, each: 3 }, async (path) => {
      wrong.push(...await harm(page, path));
    });
  }
  deepStrictEqual(faults, []);
  deepStrictEqual(wrong, []);
  ok(sent > 30, `${sent} forms`);
  await operator.close();
});
