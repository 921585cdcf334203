// What the reader chose, in the cookie that qless_web/preferences.py reads: a query string.
const KEPT_S = 365 * 86400;

export function choose(name, value) {
  const found = document.cookie.split("; ").find((each) => each.startsWith("qless_choices="));
  const chosen = new URLSearchParams(found?.slice("qless_choices=".length).replace(/^"|"$/g, "") ?? "");
  if (value) chosen.set(name, value);
  else chosen.delete(name);
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `qless_choices=${chosen}; path=${document.body.dataset.cookiePath}; max-age=${KEPT_S}; samesite=lax${secure}`;
}
