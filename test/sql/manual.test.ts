/** The manual: every page is found by its name, every example runs, and what it lists is what the engine resolves. */
import t from "tap";
import { FUNCTIONS } from "../../src/query/expr/functions/registry.js";
import { lookUpManual } from "../../src/sql/manual/manual.js";
import { STATEMENT_PAGES } from "../../src/sql/manual/statement-pages.js";
import { parseSql } from "../../src/sql/parse/parse.js";
import { open } from "../conformance/sql-adapter.js";
import { checkStatements } from "./run-sql.js";

t.test("every example runs, in the order of the pages", async (t) => {
  const database = await open();
  const pages = lookUpManual("").filter((page) => page.example !== "");
  // Topics use the tables that the statements made, which the last statements take away.
  const order = [...pages.slice(0, 2), ...pages.filter((page) => page.kind === "topic"), ...pages.slice(2)];
  for (const page of new Set(order)) {
    for (const { text } of parseSql(page.example)) {
      await t.resolves(database.exec(text, []), `${page.title}: ${text}`);
    }
  }
  await database.close();
});

t.test("pages by name", async (t) => {
  for (const { titles } of Object.values(STATEMENT_PAGES)) {
    for (const title of titles) t.ok(lookUpManual(title).length > 0, title);
  }
  for (const name of FUNCTIONS.keys()) {
    t.ok(
      lookUpManual(name).some((page) => page.title === name && page.syntax.includes(" → ")),
      name,
    );
  }
  t.match(
    lookUpManual("insert  INTO")[0],
    { title: "INSERT", kind: "statement" },
    "by the beginning, white space aside",
  );
  t.match(lookUpManual("on conflict")[0], { title: "INSERT" }, "by a word of the syntax");
  t.match(lookUpManual("varchar")[0], { title: "character varying", kind: "type" });
  t.match(lookUpManual("array_append")[0], { syntax: "array_append(anyarray, anyelement) → anyarray" });
  const windows = lookUpManual("window functions").map((page) => page.title);
  for (const name of ["rank", "lag", "ntile"]) t.ok(windows.includes(name), `${name}, by its chapter`);
  t.same(lookUpManual("no such thing at all"), []);
});

t.test("as a table function", (t) =>
  checkStatements(t, [
    ["select title, kind from sql_manual('TRUNCATE')", ["TRUNCATE|statement"]],
    ["select count(*) > 30 from sql_manual('')", ["true"]],
    ["select * from sql_manual(null)", []],
  ]),
);
