/**
 * Writes the pages of docs/reference, and the client's types of routes, from the declarations. Called by `make docs`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { CLIENT_TYPES_FILE, clientTypes } from "../dist/test/docs/client-types.js";
import { REFERENCE_PAGES } from "../dist/test/docs/reference-pages.js";

const FOLDER = "docs/reference";

mkdirSync(FOLDER, { recursive: true });
for (const [name, generate] of Object.entries(REFERENCE_PAGES)) writeFileSync(`${FOLDER}/${name}`, generate());
writeFileSync(CLIENT_TYPES_FILE, clientTypes());
