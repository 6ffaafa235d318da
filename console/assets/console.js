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
const field = (element) => element.closest("input:not([type=checkbox]), textarea, select");
const typing = (element) => field(element) && !element.matches("[type=radio]");
const keysAreOn = () => localStorage.getItem("keys") !== "off";
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !keysAreOn() || typing(event.target)) return;
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

// Keys can be switched off, in this browser.
for (const choice of document.querySelectorAll("[data-keys-switch]")) {
  choice.checked = keysAreOn();
  choice.parentElement.hidden = false;
  choice.addEventListener("change", () => localStorage.setItem("keys", choice.checked ? "on" : "off"));
}

// A review stays the person's while there is a sign of the person: every two minutes, unless two minutes were quiet.
const desk = document.querySelector("[data-renew]");
const tell = (path) => fetch(path, { method: "POST", body: new URLSearchParams() });
if (desk) {
  const PERIOD = 120_000;
  let active = Date.now();
  for (const sign of ["pointermove", "keydown", "scroll"]) {
    addEventListener(sign, () => void (active = Date.now()), { passive: true });
  }
  setInterval(() => Date.now() - active < PERIOD && tell(desk.dataset.renew), PERIOD);
}

// A picture that was unveiled is counted for the person, and veiled again when the person looks elsewhere.
const veils = [...document.querySelectorAll("[data-veil]")];
for (const veil of veils) {
  veil.addEventListener("change", () => veil.checked && veil.dataset.veil && tell(veil.dataset.veil));
}
const cover = () => veils.forEach((veil) => void (veil.checked = false));
addEventListener("blur", cover);
addEventListener("pagehide", cover);
document.addEventListener("visibilitychange", () => document.hidden && cover());

// How long something can still be undone.
for (const clock of document.querySelectorAll("[data-countdown]")) {
  let left = Number(clock.dataset.countdown);
  const tick = () => {
    clock.textContent = left > 0 ? `${left} s` : "";
    if (left-- <= 0) clock.closest(".undo")?.remove();
    else setTimeout(tick, 1_000);
  };
  tick();
}
