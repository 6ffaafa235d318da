// What holds for the layout of every page.

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
