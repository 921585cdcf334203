// Runs before the first paint, so that the chosen theme never flashes the other one.
(() => {
  const root = document.documentElement;
  root.dataset.js = "";
  try {
    for (const name of ["theme", "density"]) {
      const value = localStorage.getItem(`qless-${name}`);
      if (value) root.dataset[name] = value;
    }
  } catch {
    // Storage may be forbidden; the system's theme serves.
  }
})();
