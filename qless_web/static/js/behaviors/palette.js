// The search box as a command palette: a list below it of what the page can do, of the places of the
// console, of saved views, and of what the server finds by name. Ctrl-K or ⌘-K leads there. Nothing is
// chosen until an arrow chooses it, so that Enter searches; without JavaScript it is a search box.
import { fresh } from "./once.js";

const PAUSE_MS = 120;
const MOST = 8;

function option(text, note, act) {
  const item = document.createElement("li");
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  const [word, kind] = [document.createElement("span"), document.createElement("span")];
  [word.textContent, kind.textContent, kind.className] = [text, note, "note"];
  item.append(word, kind);
  item.act = act;
  return item;
}

const textOf = (element) => (element.dataset.command ?? element.textContent).trim().replace(/\s+/g, " ");

// What can be done here: the buttons beside the title, and whatever names itself a command.
function commands() {
  const found = document.querySelectorAll(
    ".page-head .actions :is(a.button, form.action button), #rail .rail-save a, [data-command]",
  );
  return [...found]
    .filter((each) => !each.closest("dialog, [data-disabled]"))
    .map((each) => [textOf(each), "do", () => (each.focus(), each.click())]);
}

function places() {
  return [...document.querySelectorAll("#rail a")].map((link) => [
    textOf(link.querySelector("span") ?? link), link.dataset.view === undefined ? "go to" : "view",
    () => link.click(),
  ]);
}

function local(query) {
  const folded = query.toLowerCase();
  const fit = ([text]) => text.toLowerCase().includes(folded);
  const most = folded ? MOST : Infinity;
  return [
    ["On this page", commands().filter(fit).slice(0, most)],
    ["Places", places().filter(fit).slice(0, most)],
  ];
}

class Palette {
  constructor(form) {
    [this.form, this.input] = [form, form.querySelector("input[type=search]")];
    [this.list, this.told] = [form.querySelector("[data-list]"), form.querySelector("[data-told]")];
    [this.at, this.timer, this.asked] = [-1, 0, null];
    const state = { role: "combobox", "aria-expanded": "false", "aria-controls": this.list.id, "aria-autocomplete": "list" };
    for (const [name, value] of Object.entries(state)) this.input.setAttribute(name, value);
    this.input.addEventListener("input", () => this.open());
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    this.input.addEventListener("blur", () => this.close());
    const button = form.querySelector("[data-open]");
    button.type = "button"; // or Enter in the box would press it
    button.addEventListener("click", () => this.start());
    // Before the focus leaves the box, which closes the list.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => this.take(event.target.closest("[role=option]")));
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.start();
    });
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  start() {
    document.querySelector("dialog[open]")?.close();
    this.input.focus();
    this.input.select();
    this.open();
  }

  open() {
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.show(local(this.input.value.trim()));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(this.input.value.trim()), PAUSE_MS);
  }

  close() {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.choose(-1);
  }

  async ask(query) {
    this.asked?.abort();
    if (!query) return;
    this.asked = new AbortController();
    try {
      const address = `${this.form.dataset.names}?${new URLSearchParams({ q: query })}`;
      const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: this.asked.signal });
      if (!answer.ok || this.input.value.trim() !== query || this.list.hidden) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      this.add("By name", [...page.querySelectorAll("[role=option]")]);
    } catch {
      // A newer question, or no connection: what is known here stays.
    }
  }

  show(groups) {
    this.list.replaceChildren();
    this.at = -1;
    for (const [title, items] of groups) this.add(title, items.map(([text, note, act]) => option(text, note, act)));
  }

  add(title, items) {
    if (items.length) {
      const [group, head] = [document.createElement("ul"), document.createElement("li")];
      [head.textContent, head.className, head.id] = [title, "palette-head", `palette-${title.replace(/\W/g, "")}`];
      head.setAttribute("role", "presentation");
      group.setAttribute("role", "group");
      group.setAttribute("aria-labelledby", head.id);
      group.append(head, ...items);
      this.list.append(group);
    }
    this.options.forEach((each, index) => (each.id = `palette-${index}`));
    const many = this.options.length;
    this.list.toggleAttribute("data-empty", !many);
    this.told.textContent = many ? `${many} to choose from, with the arrows` : "nothing here";
  }

  choose(index) {
    const all = this.options;
    this.at = index < all.length ? index : -1;
    all.forEach((each, place) => each.setAttribute("aria-selected", String(place === this.at)));
    const chosen = all[this.at];
    chosen?.scrollIntoView({ block: "nearest" });
    if (chosen) this.input.setAttribute("aria-activedescendant", chosen.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  pressed(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") this.list.hidden ? this.open() : this.choose(this.at + 1);
    else if (event.key === "ArrowUp" && !this.list.hidden) this.choose(this.at < 0 ? this.options.length - 1 : this.at - 1);
    else if (event.key === "Escape" && !this.list.hidden) this.close();
    else if (event.key === "Enter" && this.at >= 0) this.take(this.options[this.at]);
    else return;
    event.preventDefault();
  }

  take(chosen) {
    if (!chosen) return;
    this.close();
    this.input.value = "";
    this.input.blur();
    if (chosen.act) chosen.act();
    else location.assign(chosen.dataset.href);
  }
}

export function init(root) {
  for (const form of fresh(root, "palette")) new Palette(form);
}
