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

// A form is sent once, however often its button is pressed.
addEventListener("submit", (event) => {
  if (event.target.dataset.sent) return void event.preventDefault();
  event.target.dataset.sent = "true";
});
// A page that comes back by the Back button can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
