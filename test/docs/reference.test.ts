/** The generated pages of docs/reference are what `make docs` writes, and have what their readers look for. */
import { readFileSync } from "node:fs";
import t from "tap";
import { SETTINGS } from "../../src/config/settings.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { ERRORS } from "../../src/protocol/errors.js";
import { CLIENT_TYPES_FILE, clientTypes } from "./client-types.js";
import { REFERENCE_PAGES } from "./reference-pages.js";

const page = (name: string) => readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), "utf8");

for (const [name, generate] of Object.entries(REFERENCE_PAGES)) {
  t.test(`docs/reference/${name} is up to date`, (t) => {
    t.equal(page(name), generate(), "run `make docs` to write it anew");
    t.end();
  });
}

t.test("the client's types of routes are up to date", (t) => {
  const written = readFileSync(new URL(`../../../${CLIENT_TYPES_FILE}`, import.meta.url), "utf8");
  t.equal(written, clientTypes(), "run `make docs` to write them anew");
  t.end();
});

t.test("no setting, error or route is left out", (t) => {
  for (const { key } of SETTINGS) t.match(page("configuration.md"), `\`${key.split(".").at(-1)}\``);
  for (const code of Object.keys(ERRORS)) t.match(page("errors.md"), `| \`${code}\` |`);
  for (const { method, path } of ENDPOINTS) t.match(page("endpoints.md"), `| \`${method} ${path}\` |`);
  t.end();
});

t.test("errors have a word for each status, and limits one for each value", (t) => {
  t.notMatch(page("errors.md"), /^## \d+:$/m);
  t.notMatch(page("limits.md"), /NaN|undefined/);
  t.end();
});
