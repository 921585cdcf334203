// The elements with a behaviour that has not been set up on them yet. Kept here and not in an
// attribute, because morphing takes attributes away that the server did not send.
const known = new Map();

export function fresh(root, name) {
  if (!known.has(name)) known.set(name, new WeakSet());
  const seen = known.get(name);
  const found = [...root.querySelectorAll(`[data-behavior~="${name}"]`)];
  return found.filter((element) => !seen.has(element) && seen.add(element));
}
