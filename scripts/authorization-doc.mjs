/** Writes docs/AUTHORIZATION.md from the endpoints of the build. Called by `make docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { authorizationPage } from "../dist/test/security/authorization-table.js";

mkdirSync("docs", { recursive: true });
writeFileSync("docs/AUTHORIZATION.md", authorizationPage());
