// What the console adds to its pages where scripts run. Everything works without it.

// A menu closes when the focus leaves it, and on Escape.
for (const menu of document.querySelectorAll("details.team")) {
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// In a narrow window, the navigation is a strip: the open place is moved into it.
document.querySelector(".rail nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// A form is sent once, however often its button is pressed.
addEventListener("submit", (event) => {
  if (event.target.dataset.sent) return void event.preventDefault();
  event.target.dataset.sent = "true";
});
// A page that comes back by the Back button can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// A button copies the text of an element, where the browser can. Without scripts, a press on the text selects all of it.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Keys: an element with data-key is pressed, or focused if it is a field. Nothing happens while somebody types.
const field = (element) => element.closest("input, textarea, select");
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || field(event.target)) return;
  const found = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!found) return;
  event.preventDefault();
  field(found) ? found.focus() : found.click();
});

// A choice that filters a page is applied as soon as it is made.
for (const choice of document.querySelectorAll("[data-submit]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

// The parts of a page that change by themselves have data-live and an id. They are asked for again every 15 seconds while
// the page is visible, and left alone while somebody uses them. The browser parses the answer, so no script handles HTML.
const refresh = () => {
  const parts = [...document.querySelectorAll("[data-live][id]")];
  const here = location.href.split("#")[0];
  if (parts.length === 0 || document.hidden) return;
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.addEventListener("load", () => {
    if (request.status !== 200 || request.responseURL !== here) return;
    for (const part of parts) {
      const now = request.response?.getElementById(part.id);
      if (now && !part.contains(document.activeElement)) part.replaceWith(document.importNode(now, true));
    }
  });
  request.open("GET", here);
  request.send();
};
setInterval(refresh, 15_000);
