// Row menus are <details>: here they close on Escape, on a click elsewhere, and when another opens.
let listening = false;

function closeAll(except = null) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

export function init() {
  if (listening) return;
  listening = true;
  document.addEventListener("click", (event) => closeAll(event.target.closest("details.menu")));
  document.addEventListener("click", (event) => {
    const menu = event.target.closest("details.menu .menu-items :is(a, button)")?.closest("details.menu");
    if (!menu) return;
    // After the click has acted; the focus stays where the menu was.
    setTimeout(() => {
      menu.open = false;
      if (!document.querySelector("dialog[open]")) menu.querySelector("summary").focus();
    });
  });
  document.addEventListener("keydown", (event) => {
    const open = event.target.closest?.("details.menu[open]");
    if (event.key !== "Escape" || !open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
}
