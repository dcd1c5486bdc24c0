/** Errors about an expression as a whole point to where it begins; the places are PostgreSQL 15's. */
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { openShard } from "../storage/shards.js";
import { bindAll, catalogOf } from "./tables.js";

await loadParser();
const catalog = catalogOf((await openShard(t)).begin());

/** `^` stands before the character that the error points to. */
const ERRORS = [
  "INSERT INTO users (id) VALUES (^'x'::text)",
  "INSERT INTO users (id) VALUES (^'x' || 'y')",
  "INSERT INTO users (id) VALUES (^upper('x') || 'y')",
  "INSERT INTO users (id) VALUES (CAST(^'x' AS text))",
  "INSERT INTO users (id) VALUES (text ^'x')",
  "INSERT INTO users (id) SELECT ^'x' || 'y'",
  "INSERT INTO users (name, id) SELECT 'x', ^name FROM users",
  "UPDATE users SET id = ^name || 'x'",
  "UPDATE users SET id = ^name::text",
  "SELECT * FROM users WHERE ^id + 1",
  "SELECT * FROM users WHERE ^name || 'x' AND true",
  "SELECT CASE WHEN ^1 + 1 THEN 2 END",
  "SELECT ^1 + 1 AND true",
  "SELECT count(*) FILTER (WHERE ^id * 2) FROM users",
  "SELECT 1 LIMIT ^'x'::text || 'y'",
  "SELECT ARRAY[1, ^name || 'x', 1 + 1] FROM users",
  "SELECT coalesce(1, ^name || 'x') FROM users",
  "SELECT CASE WHEN true THEN 1 WHEN false THEN ^name || 'x' END FROM users",
  "SELECT 1 UNION SELECT ^'x'::text || 'y'",
  "SELECT 1, 2 UNION SELECT 1, ^name FROM users",
  "VALUES (1), (^'x'::text || 'y')",
  "CREATE TABLE other (id integer CHECK (^id + 1))",
];

function placeOf(sql: string): unknown {
  try {
    bindAll(sql, catalog);
  } catch (error) {
    return error instanceof DbError ? error.details?.position : error;
  }
  return null;
}

t.test("where an expression begins", async (t) => {
  for (const marked of ERRORS) t.equal(placeOf(marked.replace("^", "")), marked.indexOf("^") + 1, marked);
});
