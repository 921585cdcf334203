// Runs before the first paint, so that what needs JavaScript never appears late.
document.documentElement.dataset.js = "";
