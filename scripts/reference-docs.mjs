/** Writes the generated pages of docs/reference from the declarations of the build. Called by `make docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { REFERENCE_PAGES } from "../dist/test/docs/reference-pages.js";

const FOLDER = "docs/reference";

mkdirSync(FOLDER, { recursive: true });
for (const [name, generate] of Object.entries(REFERENCE_PAGES)) writeFileSync(`${FOLDER}/${name}`, generate());
