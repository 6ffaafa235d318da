// The first person.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { after, before, test } from "node:test";
import { launch, shown } from "./browser.mjs";
import { ADA, ada, asAda } from "./people.mjs";
import { service } from "./service.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("the printed link makes the first person an operator, with four fields", async () => {
  const { fields, faults } = await ada(browser);
  strictEqual(fields, 4);
  deepStrictEqual(faults, []);
  const context = await asAda(browser);
  const page = await context.newPage();
  await page.goto(`${service.origin}/instance/teams`);
  ok((await shown(page)).includes(ADA.name));
  await page.goto(service.link);
  ok((await shown(page)).includes("no such page"), "the link works once");
  await context.close();
});
