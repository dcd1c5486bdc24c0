/** The start of the console. */
import { render } from "preact";
import { App } from "./app.js";
import { resume } from "./lib/session.js";
import { applyTheme } from "./lib/theme.js";

applyTheme();
void resume();
render(<App />, document.getElementById("console")!);
