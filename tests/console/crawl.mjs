// All pages that links lead to.

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Pages with the same path but for ids. */
const EACH = 2;

/** Opens every page that can be reached by links from the start, and calls `look` with each. `before` is called before a page is asked for.
 *  Returns their paths. */
export async function crawl(page, origin, look, before = () => {}) {
  const waiting = ["/"];
  const known = new Set(waiting);
  const seen = new Map();
  const opened = [];
  while (waiting.length > 0) {
    const path = waiting.shift();
    before();
    const answer = await page.goto(origin + path).catch((error) => {
      // A file to save has no page.
      if (String(error).includes("Download is starting")) return null;
      throw error;
    });
    if (!answer) continue;
    const at = new URL(page.url()).pathname;
    opened.push(at);
    await look(page, at, answer);
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => link.href));
    for (const link of links) {
      const url = new URL(link);
      url.hash = "";
      const next = url.pathname + url.search;
      const kind = url.pathname.replace(ID, "{id}") + [...url.searchParams.keys()].sort().join("&");
      if (url.origin !== origin || known.has(next) || url.pathname.startsWith("/assets/")) continue;
      if ((seen.get(kind) ?? 0) >= EACH) continue;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      known.add(next);
      waiting.push(next);
    }
  }
  return opened;
}
