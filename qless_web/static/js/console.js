// The entry. A behaviour is a module with init(root), found by data-behavior, safe to run again on
// the same element. It runs at the start, after htmx swapped something in, and after live.js sent
// "qless:fresh" to say that it changed the page.
import * as centre from "./behaviors/centre.js";
import * as complete from "./behaviors/complete.js";
import * as copy from "./behaviors/copy.js";
import * as keepOpen from "./behaviors/keep-open.js";
import * as live from "./behaviors/live.js";
import * as liveStatus from "./behaviors/live-status.js";
import * as menu from "./behaviors/menu.js";
import * as neighbours from "./behaviors/neighbours.js";
import * as palette from "./behaviors/palette.js";
import * as panel from "./behaviors/panel.js";
import * as relativeTime from "./behaviors/relative-time.js";
import * as selectRows from "./behaviors/select-rows.js";
import * as shortcuts from "./behaviors/shortcuts.js";
import * as stepper from "./behaviors/stepper.js";
import * as submitOnce from "./behaviors/submit-once.js";
import * as theme from "./behaviors/theme.js";
import * as toasts from "./behaviors/toasts.js";
import * as tree from "./behaviors/tree.js";

const behaviors = [
  complete, copy, keepOpen, liveStatus, live, menu, palette, panel, relativeTime, selectRows, shortcuts, stepper,
  submitOnce, theme, toasts,
  centre, neighbours, tree,
];

function start(root) {
  for (const behavior of behaviors) behavior.init(root);
}

start(document);
document.addEventListener("htmx:after:swap", () => start(document));
document.addEventListener("qless:fresh", () => start(document));
