// What holds for every page: its layout, and how much a browser loads for it.
import { gzipSync } from "node:zlib";

/** Bytes of a page, compressed, and requests for it. */
const MOST = { bytes: 15_000, requests: 6 };

/** What is wider than the window, if anything is. The innermost element says most. */
export const tooWide = (page) => page.evaluate(() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
  return [`wider than the window: ${wide.at(-1)?.outerHTML.slice(0, 200)}`];
});

/** What moves although nobody wants it to. */
export const moving = (page) => page.evaluate(() => {
  const moves = (one) => {
    const { animationName, transitionDuration } = getComputedStyle(one);
    return animationName !== "none" || transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
  };
  return [...document.querySelectorAll("*")].filter(moves).map((one) => `moves: ${one.outerHTML.slice(0, 200)}`);
});

/** Weighs what a page loads. `ask` comes before a page is asked for, `weigh` after it has loaded: what is too much of it. */
export function scales(page) {
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const ask = () => {
    requests.length = 0;
  };
  const weigh = async (answer) => {
    const bytes = gzipSync(await answer.body()).length;
    return [
      ...(bytes > MOST.bytes ? [`${bytes} bytes`] : []),
      ...(requests.length > MOST.requests ? [`${requests.length} requests: ${requests.join(" ")}`] : []),
    ];
  };
  return { ask, weigh };
}
