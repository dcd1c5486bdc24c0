/** Scripts are cut into statements the same way however they arrive. */
import fc from "fast-check";
import t from "tap";
import { type ScriptPart, ScriptReader } from "../../src/sql/script/script-reader.js";

function partsOf(script: string, cuts: readonly number[] = []): ScriptPart[] {
  const reader = new ScriptReader();
  const parts: ScriptPart[] = [];
  const take = (isEnd: boolean): void => {
    for (let part = reader.next(isEnd); part !== null; part = reader.next(isEnd)) parts.push(part);
  };
  const places = [...new Set(cuts.map((cut) => cut % (script.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    reader.push(script.slice(from, to));
    take(false);
    from = to;
  }
  reader.push(script.slice(from));
  take(true);
  return parts;
}

const SCRIPT = `-- a dump; with a comment
\\restrict abc
SET x = 1;

/* one /* within; */ another; */ CREATE TABLE "a;b" (id int, t text DEFAULT 'it''s; here');
INSERT INTO t VALUES (E'a\\'; b', U&'d;', $$x;y$$, $tag$ $$;$$ $tag$, a$b$c);
CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END;
CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);
COPY public.t (id, t) FROM stdin;
1	a;b
2	\\N
\\.
SELECT 'end' -- ;
 ;;
SELECT 1`;

/** As apoc.export.cypher writes it, in both of its formats for shells. */
const DUMP = `// a dump
:begin
CREATE CONSTRAINT UNIQUE_IMPORT_NAME FOR (node:\`A; "B\`) REQUIRE (node.\`UNIQUE IMPORT ID\`) IS UNIQUE;
:commit
CALL db.awaitIndexes(300);
:param rows => [{a:"x;y"}]
begin
UNWIND [{_id:1, properties:{t:"it's \\"quoted; \\\\", end:'a\\'; b', case:1}}] AS row
CREATE (n:\`odd ' name\`{x: row._id}) SET n += row.properties; // done; with it
commit
schema await
begin
isolation level read committed;
MERGE (n {a: "\\\\"}); CREATE (m {b: '\\\\'});
COMMIT;
:commit`;

t.test("lines for shells of Neo4j, and texts of Cypher", async (t) => {
  const expected = [
    "command 2 :begin",
    "statement 3 CREATE CONSTRAINT",
    "command 4 :commit",
    "statement 5 CALL db.awaitIndexes(300)",
    'command 6 :param rows => [{a:"x;y"}]',
    "command 7 begin",
    "statement 8 UNWIND",
    "command 10 commit",
    "command 11 schema await",
    "statement 12 begin\nisolation level read committed",
    'statement 14 MERGE (n {a: "\\\\"})',
    "statement 14 CREATE (m {b: '\\\\'})",
    "statement 15 COMMIT",
    "command 16 :commit",
  ];
  const short = (parts: ScriptPart[]) =>
    parts.map((part) => `${part.kind} ${part.line} ${"text" in part ? part.text : ""}`);
  const whole = short(partsOf(DUMP));
  t.same(
    whole.map((part, i) => part.slice(0, expected[i]?.length)),
    expected,
  );
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
      return JSON.stringify(short(partsOf(DUMP, cuts))) === JSON.stringify(whole);
    }),
  );
});

t.test("a script with everything that can hide a semicolon", async (t) => {
  const parts = partsOf(SCRIPT);
  const texts = parts.map((part) => ("text" in part ? `${part.line}: ${part.text}` : `${part.line}: .`));
  t.same(texts, [
    "2: \\restrict abc",
    "3: SET x = 1",
    `5: CREATE TABLE "a;b" (id int, t text DEFAULT 'it''s; here')`,
    "6: INSERT INTO t VALUES (E'a\\'; b', U&'d;', $$x;y$$, $tag$ $$;$$ $tag$, a$b$c)",
    "7: CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END",
    "8: CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)",
    "9: COPY public.t (id, t) FROM stdin",
    "10: 1\ta;b",
    "11: 2\t\\N",
    "12: .",
    "13: SELECT 'end' -- ;\n ",
    "15: SELECT 1",
  ]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(SCRIPT.length), { maxLength: 40 }), async (cuts) => {
      if (JSON.stringify(partsOf(SCRIPT, cuts)) !== JSON.stringify(parts)) throw new Error(`cut at ${cuts}`);
    }),
    { numRuns: 300 },
  );
});

t.test("character by character", async (t) => {
  const cuts = Array.from({ length: SCRIPT.length }, (_, i) => i);
  t.same(partsOf(SCRIPT, cuts), partsOf(SCRIPT));
});

t.test("what is not closed", async (t) => {
  for (const [script, match] of [
    ["SELECT 1;\nSELECT 'a", /quote in the statement that begins on line 2/],
    ["SELECT /* a", /comment/],
    ["SELECT $x$ a $y$", /quote/],
    ["COPY t FROM stdin;\n1\n", /a line with \\. alone is missing/],
  ] as const) {
    t.throws(() => partsOf(script), { message: match, details: { sqlstate: "42601" } }, script);
  }
  t.same(partsOf("-- nothing"), []);
  t.same(partsOf(" ; ;"), []);
});

t.test("comments of Cypher between statements and at the end are no statements", (t) => {
  const parts = partsOf("CREATE (:A); // the first\n// the second\nMATCH (a:A) RETURN a; // all");
  t.same(parts, [
    { kind: "statement", text: "CREATE (:A)", line: 1 },
    { kind: "statement", text: "MATCH (a:A) RETURN a", line: 3 },
  ]);
  t.end();
});
