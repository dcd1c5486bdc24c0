import t from "tap";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import type { DbError } from "../../src/protocol/errors.js";
import { treeOf } from "../../src/session/statement-language.js";
import { loadParser } from "../../src/sql/parse/parse.js";

await loadParser();

t.test("the language is told after comments of either kind", async (t) => {
  const comments = [
    "-- said (a)-->(b)\n",
    "// said\n",
    "/* said */ ",
    "\n-- one\n-- two\n",
    " // one\n\n// two\n",
    "-- a\n/* b */\n",
  ];
  for (const comment of comments) {
    t.equal(treeOf({ sql: `${comment}MATCH (n) RETURN n` }).language, "cypher", comment);
    t.equal(treeOf({ sql: `${comment}SELECT 1` }).language, "sql", comment);
  }
  t.ok(parseCypher("-- all\nMATCH (a)--(b)\nRETURN a"), "behind the beginning it is a relationship");
  t.throws(() => treeOf({ sql: "MATCH (a) -- said\nRETURN a" }));
});

t.test("comments alone are no statement", async (t) => {
  for (const sql of ["-- nothing", "// nothing", "/* nothing */", " ", "-- a\n;"]) {
    t.throws(() => treeOf({ sql }), { message: "The text holds no statement." }, sql);
  }
});

t.test("positions are those of the client's text", async (t) => {
  const positionOf = (sql: string): unknown => {
    try {
      treeOf({ sql });
    } catch (error) {
      return (error as DbError).details?.position;
    }
    throw new Error("no error was thrown");
  };
  t.equal(positionOf("// é𝄞\nSELECT 1 1 FROM t"), 16);
  t.equal(positionOf("-- all\nMATCH (n) RETURN"), 24);
});
