/** Random and mutated statements: whatever comes, the answer is statements or a DbError, and the parser stays usable. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import { DbError } from "../../src/protocol/errors.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { tokenize } from "../../src/sql/parse/tokens.js";
import { openShard } from "../storage/shards.js";
import { bindAll, catalogOf } from "./tables.js";

await loadParser();
const catalog = catalogOf((await openShard(t)).begin());

/** The inputs of the golden scripts. */
const directory = new URL("../../../test/golden/sql/", import.meta.url);
const seeds = readdirSync(directory)
  .flatMap((file) => readFileSync(new URL(file, directory), "utf8").split("\n\n"))
  .map((text) => [...text.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join("\n"))
  .filter((sql) => sql !== "");

const words = seeds.flatMap((sql) => tokenize(sql).map(({ start, end }) => sql.slice(start, end)));

const token = fc.constantFrom(
  ...words,
  "(",
  ")",
  ",",
  "'",
  '"',
  "`",
  "[",
  "]",
  "$1",
  "$",
  "/*",
  "--",
  "\0",
  "é",
  "😀",
  ";",
);

/** A seed with some tokens replaced, dropped, doubled or swapped. */
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom("replace", "drop", "insert", "swap"), token), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([seed, changes]) => {
    const parts = tokenize(seed).map(({ start, end }) => seed.slice(start, end));
    for (const [place, change, other] of changes) {
      const at = place % (parts.length + 1);
      if (change === "replace") parts.splice(at, 1, other);
      else if (change === "drop") parts.splice(at, 1);
      else if (change === "insert") parts.splice(at, 0, other);
      else parts.splice(at, 2, ...parts.slice(at, at + 2).reverse());
    }
    return parts.join(" ");
  });

/** Throws anything but a DbError with a position inside the text. */
function attempt(sql: string, view: CatalogView): void {
  try {
    bindAll(sql, view);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const position = error.details?.position;
    if (position !== undefined && !(position >= 1 && position <= [...sql].length + 1)) {
      throw new Error(`position ${position} lies outside of the statement: ${error.message}`);
    }
    if (error.code === "internal_error") throw error;
  }
}

const runs = { numRuns: 2000, seed: 20_240_601 };

t.test("mutated statements", async () => {
  fc.assert(
    fc.property(mutated, (sql) => attempt(sql, catalog)),
    runs,
  );
});

t.test("rows of random tokens", async () => {
  const rows = fc.array(token, { maxLength: 25 }).map((parts) => parts.join(" "));
  fc.assert(
    fc.property(rows, (sql) => attempt(sql, catalog)),
    runs,
  );
});

t.test("random text, also inside of a statement", async () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(text, (part) => {
      attempt(part, catalog);
      attempt(`select '${part}' from users where ${part}`, catalog);
    }),
    { ...runs, numRuns: 1000 },
  );
});

t.test("the parser works on after all that", async (t) => {
  t.equal(parseSql("select 1").length, 1);
});
