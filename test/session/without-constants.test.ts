/** What logs and traces show of statements: no values, whatever quotes they stand in. */
import t from "tap";
import { shapeOf, withoutConstants } from "../../src/protocol/statement-shape.js";

t.test("SQL", async (t) => {
  for (const [text, shown] of [
    ["INSERT INTO person VALUES (7, 'hush')", "INSERT INTO person VALUES (?, ?)"],
    ["SELECT 'it''s hush', E'a\\'hush', x'1f', 1.5e3, $1 FROM t2", "SELECT ?, ?, ?, ?, $1 FROM t2"],
    ["SELECT 'C:\\', 'hush'", "SELECT ?, ?"],
    ['SELECT "it\'s" FROM "t" WHERE a = \'hush\'', 'SELECT "it\'s" FROM "t" WHERE a = ?'],
    ["SELECT 1 -- it's\n, 'hush'", "SELECT ?  \n, ?"],
    ["SELECT /* it's */ 'hush'", "SELECT   ?"],
    ["SELECT $$hush$$, $a$ $$ hush $a$, 'x'", "SELECT ?, ?, ?"],
    ["SELECT 'hush without an end", "SELECT ?"],
    ["SELECT 'the e', 'hush'", "SELECT ?, ?"],
  ]) {
    t.equal(withoutConstants(text!), shown, text);
  }
});

t.test("texts of many megabytes, of which the beginning is shown", async (t) => {
  const long = "x".repeat(20_000_000);
  for (const [text, shown] of [
    [`SELECT '${long}', 'hush'`, "SELECT ?"],
    [`SELECT E'${long}'`, "SELECT ?"],
    [`SELECT $$${long}$$`, "SELECT ?"],
    [`SELECT 1 /* ${long}`, "SELECT ?  "],
  ]) {
    t.equal(withoutConstants(text!), shown, text!.slice(0, 12));
  }
  t.equal(withoutConstants(`RETURN "${long}"`, "cypher"), "RETURN ?");
});

t.test("Cypher", async (t) => {
  for (const [text, shown] of [
    ['MATCH (p:Person {name: "hush", age: 7}) RETURN p', "MATCH (p:Person {name: ?, age: ?}) RETURN p"],
    ["MATCH (p:`it's`) WHERE p.a = 'a\\'hush' RETURN \"x\"", "MATCH (p:`it's`) WHERE p.a = ? RETURN ?"],
    ["RETURN 1 // it's\n, 'hush'", "RETURN ?  \n, ?"],
  ]) {
    t.equal(withoutConstants(text!, "cypher"), shown, text);
  }
});

t.test("what looks alike", async (t) => {
  const shape = shapeOf("SELECT f(-1, 'a') FROM t WHERE x IN (1, 2, 3) AND y = - 5", "sql");
  t.equal(shape, "SELECT f(?) FROM t WHERE x IN (?) AND y = ?");
  t.equal(shapeOf("SELECT  f(7,'b')\nFROM t WHERE x IN (9) AND y = 0.5", "sql"), shape);
  t.not(shapeOf("SELECT g(7, 'b') FROM t WHERE x IN (9) AND y = 0", "sql"), shape);
  t.equal(shapeOf("SELECT a - 1", "sql"), "SELECT a - ?");
});
