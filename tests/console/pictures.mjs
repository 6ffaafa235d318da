// Pictures of pages, for people who look at them: `scripts/test-console --pictures directory`.

const { PICTURES } = process.env;

/** Keeps a picture of each page, if pictures are wanted. Their names begin with `prefix`. */
export function pictures(prefix) {
  let number = 0;
  return async (page, path) => {
    if (!PICTURES) return;
    number += 1;
    const place = path.replace(/[0-9a-f-]{36}/g, "_").replace(/\W+/g, "-");
    const name = `${prefix}-${String(number).padStart(3, "0")}${place}`.slice(0, 100);
    await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
}
