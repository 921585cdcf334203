// The folded data of a job. The line under the pointer, or the one with the focus, offers to copy
// its place and its value; arrows walk from line to line, p and c copy. What is copied as a value
// comes from the server as it is stored: numbers pass no parser that rounds them.
import { fresh } from "./once.js";
import { write } from "./copy.js";

const LINES = ".tree-leaf, summary";
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SHOWN_MS = 1500;

const unescaped = (step) => step.replaceAll("~1", "/").replaceAll("~0", "~");
const escaped = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");

// The keys that lead to a line, and which of them are indexes.
function keysOf(tree, line) {
  const keys = [];
  for (let item = line.closest("li"); item && tree.contains(item); item = item.parentElement.closest("li")) {
    const own = item.querySelector(":scope > .tree-leaf > .tree-key, :scope > details > summary > .tree-key");
    if (own) keys.unshift({ text: own.textContent, isIndex: "index" in own.dataset });
  }
  const before = tree.dataset.at.split("/").slice(1).map(unescaped);
  return [...before.map((text) => ({ text, isIndex: /^\d+$/.test(text) })), ...keys];
}

const pointer = (keys) => keys.map((key) => `/${escaped(key.text)}`).join("");

function path(keys) {
  return keys.reduce((text, key) => {
    if (key.isIndex) return `${text}[${key.text}]`;
    if (!PLAIN.test(key.text)) return `${text}[${JSON.stringify(key.text)}]`;
    return text ? `${text}.${key.text}` : key.text;
  }, "");
}

async function valueOf(tree, keys) {
  const address = new URL(tree.dataset.raw, document.baseURI);
  if (keys.length) address.searchParams.set("at", pointer(keys));
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const text = await answer.text();
  return text.startsWith('"') ? JSON.parse(text) : text;
}

function button(words, key, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button";
  made.tabIndex = -1;
  made.textContent = words;
  made.title = `Copy the ${words} (${key})`;
  made.addEventListener("click", act);
  return made;
}

// What puts the tools of a tree back after a refresh has taken them away.
const shown = new WeakMap();

function setUp(tree) {
  const tools = document.createElement("span");
  tools.className = "tree-tools";
  let line = null;
  const copy = async (made, text) => {
    const copied = await Promise.resolve(text).then((each) => write(each, made)).catch(() => false);
    made.dataset.done = copied ? "yes" : "no";
    setTimeout(() => delete made.dataset.done, SHOWN_MS);
  };
  const place = button("path", "p", () => line && copy(place, path(keysOf(tree, line))));
  const value = button("value", "c", () => line && copy(value, valueOf(tree, keysOf(tree, line))));
  tools.append(place, value);
  const show = (target) => {
    const found = target.closest?.(LINES);
    if (!found || (found === line && tools.isConnected) || !tree.contains(found)) return;
    line = found;
    if (!tools.isConnected) tree.append(tools);
    tools.style.top = `${found.getBoundingClientRect().top - tree.getBoundingClientRect().top}px`;
  };
  shown.set(tree, () => {
    const there = tree.querySelector(":is(.tree-leaf, summary):is(:hover, :focus)");
    // The pointer may have been on the tools themselves.
    if (there ?? line) show(there ?? line);
  });
  tree.addEventListener("pointerover", (event) => show(event.target));
  tree.addEventListener("focusin", (event) => show(event.target));
  tree.addEventListener("pointerleave", () => {
    if (!tree.contains(document.activeElement)) {
      tools.remove();
      line = null;
    }
  });
  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = event.target.closest(LINES);
    const act = {
      ArrowDown: () => step(tree, here, 1),
      ArrowUp: () => step(tree, here, -1),
      ArrowRight: () => fold(here, true),
      ArrowLeft: () => fold(here, false),
      p: () => place.click(),
      c: () => value.click(),
    }[event.key];
    if (!here || !act) return;
    event.preventDefault();
    event.stopPropagation();
    show(here);
    act();
  });
}

function step(tree, here, by) {
  const lines = [...tree.querySelectorAll(LINES)].filter((each) => each.checkVisibility());
  const next = lines[lines.indexOf(here) + by];
  if (!next) return;
  if (next.matches(".tree-leaf")) next.tabIndex = -1;
  next.focus();
}

function fold(here, open) {
  const details = here.matches("summary") ? here.parentElement : null;
  if (details && details.open !== open) details.open = open;
  else if (!open) here.closest("ul")?.closest("details")?.querySelector("summary").focus();
}

// Shows the lines that have a word, what leads to them, and all that is inside of them.
function filter(tree, word) {
  const search = word.trim().toLowerCase();
  let found = 0;
  const visit = (item) => {
    const own = item.querySelector(":scope > .tree-leaf, :scope > details > summary");
    const key = own?.querySelector(".tree-key")?.textContent ?? "";
    const text = own?.matches(".tree-leaf") ? own.textContent : key;
    const hit = search !== "" && text.toLowerCase().includes(search);
    if (hit) found += 1;
    item.toggleAttribute("data-hit", hit);
    const details = item.querySelector(":scope > details");
    const below = details ? [...details.querySelectorAll(":scope > ul > li")].map(visit).some(Boolean) : false;
    item.hidden = search !== "" && !hit && !below;
    if (hit) for (const inner of item.querySelectorAll("li")) inner.hidden = false;
    if (details) unfold(details, search !== "" && below);
    return hit || below;
  };
  for (const item of tree.querySelectorAll(":scope > details > ul > li")) visit(item);
  return found;
}

// What was unfolded for a search is folded again after it.
function unfold(details, wanted) {
  if (wanted && !details.open) {
    details.open = true;
    details.dataset.searched = "";
  } else if (!wanted && "searched" in details.dataset) {
    details.open = false;
    delete details.dataset.searched;
  }
}

function search(form) {
  const input = form.querySelector("input[type=search]");
  const tree = form.closest("main").querySelector("[data-behavior~=tree]");
  const output = form.querySelector("output");
  if (!tree || !output) return;
  const found = filter(tree, input.value);
  output.textContent = input.value.trim() ? `${found} shown here` : "";
}

// Where somebody typed; what came with the address was looked for by the server.
const typed = new WeakSet();

export function init(root) {
  for (const tree of fresh(root, "tree")) setUp(tree);
  for (const form of fresh(root, "tree-find")) {
    form.querySelector("input[type=search]").addEventListener("input", () => {
      typed.add(form);
      search(form);
    });
  }
  // A refresh has brought the lines back as the server sends them.
  for (const tree of document.querySelectorAll("[data-behavior~=tree]")) shown.get(tree)?.();
  for (const form of document.querySelectorAll("[data-behavior~=tree-find]")) {
    if (typed.has(form)) search(form);
  }
}
