// All pages that links lead to.
import { service } from "./service.mjs";

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Opens every page that can be reached by links, and calls `look` with its path and the answer to the request. Returns all paths.
 *
 *  `from` is the first path, `within` what the others begin with. Of pages whose paths are the same but for ids, `each` are opened.
 *  `ask` is called before a page is asked for. */
export async function crawl(page, { from = "/", within = "/", each = 2, ask = () => {} }, look) {
  const waiting = [from];
  const known = new Set(waiting);
  const seen = new Map();
  const opened = [];
  while (waiting.length > 0) {
    const path = waiting.shift();
    ask();
    const answer = await page.goto(service.origin + path).catch((error) => {
      // A file to save has no page.
      if (String(error).includes("Download is starting")) return null;
      throw error;
    });
    if (!answer) continue;
    const at = new URL(page.url()).pathname;
    opened.push(at);
    await look(at, answer);
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => link.href));
    for (const link of links) {
      const url = new URL(link);
      const next = url.pathname + url.search;
      const kind = url.pathname.replace(ID, "{id}") + [...url.searchParams.keys()].sort().join("&");
      if (url.origin !== service.origin || known.has(next)) continue;
      if (!next.startsWith(within) || (seen.get(kind) ?? 0) >= each) continue;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      known.add(next);
      waiting.push(next);
    }
  }
  return opened;
}
