// The first person, as one who has read nothing.
import { strictEqual } from "node:assert";
import { service, totp } from "./browser.mjs";

export const ADA = { email: "ada@example.com", name: "Ada Lindqvist", password: "kelp otter violin" };

/** Follows the printed link until the person is in: the number of fields typed, and the recovery codes. */
export async function becomeFirst(page) {
  await page.goto(service.link);
  let fields = 0;
  const type = async (label, text) => {
    fields += 1;
    await page.getByLabel(label).fill(text);
  };
  await type("Your e-mail address", ADA.email);
  await type("Your name", ADA.name);
  await type(/^A password/, ADA.password);
  await page.getByRole("button").click();
  await page.getByRole("button", { name: /set up/i }).click();
  const secret = await page.locator("input[name=secret]").inputValue();
  fields += 1;
  await page.locator("input[name=code]").fill(totp(secret.replace(/\s/g, "")));
  await page.locator("form:has(input[name=code]) button").click();
  const codes = await page.locator("li code").allInnerTexts();
  strictEqual(codes.length, 10, await page.locator("body").innerText());
  await page.goto(service.origin);
  return { fields, codes };
}

/** Signs in with a recovery code, because a code of the app works once. */
export async function signIn(page, code) {
  await page.goto(`${service.origin}/sign-in`);
  await page.locator("input[name=email]").fill(ADA.email);
  await page.locator("input[name=password]").fill(ADA.password);
  await page.locator("form:has(input[name=password]) button").click();
  await page.locator("input[name=code]").fill(code);
  await page.locator("form:has(input[name=code]) button").click();
}
