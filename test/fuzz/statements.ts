/** Random SQL and Cypher: the manual's examples and calls of every function, whole and spoilt. Called by inputs.ts. */
import { AGGREGATES, FUNCTION_FAMILIES, FUNCTIONS } from "../../src/query/expr/functions/registry.js";
import { lookUpManual } from "../../src/sql/manual/manual.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import type { Random } from "./random.js";
import { spoilt } from "./values.js";

/** They wait on purpose, or compute for seconds with a model. */
const SLOW = /^(pg_sleep|generate|agent|nli_|summarize|classify|answer|extract_graph|pull_model|ai_)/i;

await loadParser();
const EXAMPLES = lookUpManual("")
  .filter(({ example }) => example !== "")
  .flatMap(({ example }) => parseSql(example).map(({ text }) => text))
  .filter((text) => !/pg_sleep|generate\(|agent|pull_model/i.test(text));
const CALLED = [...FUNCTIONS.keys(), ...FUNCTION_FAMILIES.keys()].filter((name) => !SLOW.test(name));
const NAMED = [...FUNCTIONS.keys()].filter((name) => !SLOW.test(name) && /^\w+$/.test(name));
const AGGREGATED = [...AGGREGATES.keys()];

const LITERALS = [
  "NULL",
  "0",
  "1",
  "-1",
  "2147483647",
  "-9223372036854775808",
  "1.5",
  "1e308",
  "'NaN'::float8",
  "'Infinity'::numeric",
  "12345678901234567890.123456789",
  "''",
  "'a'",
  "'é💥'",
  "'%_\\'",
  "'(a+)+$'",
  "repeat('ab', 1000)",
  "true",
  "DATE '2026-02-29'",
  "DATE 'infinity'",
  "TIMESTAMP '0001-01-01 BC'",
  "TIMESTAMPTZ '294276-12-31 23:59:59+00'",
  "TIME '24:00'",
  "INTERVAL '178000000 years'",
  "INTERVAL '-1 mon 2 days 03:04:05.678'",
  '\'{"a":[1,{"b":null}]}\'::jsonb',
  "'[]'::json",
  "'$.a[*] ? (@ > 1)'::jsonpath",
  "ARRAY[1,NULL,3]",
  "ARRAY[[1,2],[3,4]]",
  "ARRAY[]::text[]",
  "'\\xdeadbeef'::bytea",
  "'10.0.0.0/8'::inet",
  "'a fat cat'::tsvector",
  "'fat & !cat'::tsquery",
  "B'1010'",
  "'[1,2,3]'::vector",
  "ROW(1,'a')",
  "(SELECT max(id) FROM item)",
  "id",
  "name",
  "price",
  "tags",
  "data",
  "'2d6f9a3c-0000-4000-8000-000000000000'::uuid",
  "$1",
] as const;
const OPERATORS =
  "+ - * / % ^ = <> < > <= >= || -> ->> #> @> <@ ? ?| && ~ ~* !~ @@ LIKE ILIKE AND OR << >> | & # <-> <=> IS DISTINCT FROM".split(
    " ",
  );
const TYPES =
  "integer bigint smallint numeric(5,2) float8 real text varchar(3) boolean date timestamp timestamptz time interval jsonb json uuid bytea integer[] text[] inet bit(4) vector(3) oid money name char".split(
    " ",
  );

/** Values of a type, by the name that overloads call it. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  int2: ["0::int2", "32767::int2", "(-32768)::int2"],
  int4: ["0", "1", "-1", "2147483647", "(-2147483648)", "id"],
  int8: ["0::int8", "9223372036854775807", "(-9223372036854775808)", "1000000::int8"],
  float4: ["'NaN'::float4", "1e38::float4", "0::float4"],
  float8: ["'NaN'::float8", "'-Infinity'::float8", "1e308::float8", "-0.0::float8", "0.5::float8"],
  numeric: ["0.0", "-1.50", "1e100::numeric", "'NaN'::numeric", "123456789012345678901234567890.5", "price"],
  text: [
    "''",
    "'a'",
    "'é💥'",
    "repeat('ab', 500)",
    "'%_'",
    "'(a|b)*c'",
    "'{\"a\":1}'",
    "'2026-02-28'",
    "'YYYY-MM-DD'",
    "name",
  ],
  bool: ["true", "false"],
  date: ["DATE '2026-02-28'", "DATE 'infinity'", "DATE '4713-01-01 BC'"],
  timestamp: ["TIMESTAMP '2026-02-28 12:00'", "TIMESTAMP '-infinity'", "TIMESTAMP '0001-01-01 BC'"],
  timestamptz: ["now()", "TIMESTAMPTZ '294276-12-31 23:59:59+00'", "TIMESTAMPTZ 'infinity'"],
  time: ["TIME '24:00'", "TIME '00:00:00.000001'"],
  interval: ["INTERVAL '1 day'", "INTERVAL '-178000000 years'", "INTERVAL '0'", "INTERVAL 'infinity'"],
  jsonb: ["'{}'::jsonb", "'[1,{\"a\":[null]}]'::jsonb", "data", "'\"x\"'::jsonb"],
  json: ['\'{"a":1,"a":2}\'::json', "'[]'::json"],
  jsonpath: ["'$.a[*] ? (@ > 1)'::jsonpath", "'strict $.**.a'::jsonpath", "'$.keyvalue()'::jsonpath"],
  uuid: ["'2d6f9a3c-0000-4000-8000-000000000000'::uuid"],
  bytea: ["'\\xdeadbeef'::bytea", "''::bytea"],
  array: ["ARRAY[1,NULL,3]", "ARRAY[]::int[]", "ARRAY['a','b']", "ARRAY[[1,2],[3,4]]", "tags"],
  vector: ["'[1,2,3]'::vector", "'[0,0,0]'::vector"],
  inet: ["'10.0.0.0/8'::inet", "'::1'::inet"],
  tsvector: ["to_tsvector('a fat cat')", "''::tsvector"],
  tsquery: ["to_tsquery('fat & !cat')", "''::tsquery"],
};

/** A call whose arguments have the types of one of the function's overloads. */
function fittingCall(random: Random, depth: number): string {
  const overload = random.one(FUNCTIONS.get(random.one(NAMED)) ?? []);
  const types =
    overload.variadic === undefined ? overload.args : [...overload.args, ...random.many(2, () => overload.variadic!)];
  const args = types.map(({ name }) => {
    if (random.chance(0.08)) return expression(random, depth + 1);
    if (random.chance(0.05)) return "NULL";
    return random.one(OF_TYPE[name] ?? LITERALS);
  });
  return `${overload.name}(${args.join(", ")})`;
}

function expression(random: Random, depth = 0): string {
  const inner = () => (depth > 3 ? random.one(LITERALS) : expression(random, depth + 1));
  switch (random.below(9)) {
    case 0:
    case 1:
      return fittingCall(random, depth);
    case 2:
      return `${random.one(CALLED)}(${random.many(4, inner).join(", ")})`;
    case 3:
      return `(${inner()} ${random.one(OPERATORS)} ${inner()})`;
    case 4:
      return `(${inner()})::${random.one(TYPES)}`;
    case 5:
      return `CASE WHEN ${inner()} THEN ${inner()} ELSE ${inner()} END`;
    case 6:
      return random.chance(0.3)
        ? `${random.one(AGGREGATED)}(${inner()}${random.chance(0.3) ? `, ${inner()}` : ""})`
        : `coalesce(${inner()}, ${inner()})`;
    default:
      return random.one(LITERALS);
  }
}

function select(random: Random, depth = 0): string {
  const list = [expression(random), ...random.many(2, () => expression(random))].join(", ");
  const from = random.one([
    "item",
    "item a JOIN item b ON a.id = b.id",
    "item LEFT JOIN LATERAL (SELECT 1 AS one) l ON true",
    "generate_series(1, 5) AS id",
    "unnest(ARRAY[1,2]) WITH ORDINALITY AS u(id, n)",
    depth < 2 ? `(${select(random, depth + 1)}) s` : "item",
  ]);
  const parts = [`SELECT ${random.chance(0.1) ? "DISTINCT " : ""}${list}`];
  if (random.chance(0.8)) parts.push(`FROM ${from}`);
  if (random.chance(0.4)) parts.push(`WHERE ${expression(random)}`);
  if (random.chance(0.2)) parts.push(`GROUP BY ${random.one(["1", "id", "rollup(id, name)", expression(random)])}`);
  if (random.chance(0.1)) parts.push(`HAVING ${expression(random)}`);
  if (random.chance(0.2)) parts.push(`ORDER BY ${random.one(["1", "id", expression(random)])} DESC NULLS LAST`);
  if (random.chance(0.3)) parts.push(`LIMIT ${random.one(["0", "1", "5", "-1", "NULL", "1.5"])}`);
  if (depth < 2 && random.chance(0.1)) {
    parts.push(random.one(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]), select(random, depth + 1));
  }
  return parts.join(" ");
}

function change(random: Random): string {
  const value = () => expression(random, 2);
  return random.one([
    () => `INSERT INTO item (id, name, price) VALUES (${value()}, ${value()}, ${value()}) ON CONFLICT DO NOTHING`,
    () => `UPDATE item SET ${random.one(["name", "price", "data", "tags"])} = ${value()} WHERE ${value()}`,
    () => `DELETE FROM item WHERE id > 100 AND ${value()} RETURNING *`,
    () =>
      `CREATE TABLE IF NOT EXISTS made_${random.below(20)} (id ${random.one(TYPES)} DEFAULT ${value()}, CHECK (${value()}))`,
    () => `DROP TABLE IF EXISTS made_${random.below(20)} CASCADE`,
    () => `CREATE INDEX ON item ((${value()}))`,
    () =>
      `MERGE INTO item t USING (SELECT ${value()} AS k) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET name = ${value()}`,
    () => `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT ${value()} FROM r`,
    () => `EXPLAIN ${select(random)}`,
  ])();
}

export function randomSql(random: Random): string {
  switch (random.below(6)) {
    case 0:
      return random.one(EXAMPLES);
    case 1:
    case 2:
      return spoilt(random.one(EXAMPLES), random);
    case 3:
      return change(random);
    default: {
      const made = select(random);
      return random.chance(0.15) ? spoilt(made, random) : made;
    }
  }
}

const CYPHER = [
  "MATCH (n:Person) RETURN n",
  "MATCH (a:Person)-[r:KNOWS*1..3]->(b) RETURN a.name, length(r), b LIMIT 5",
  "MATCH p = shortestPath((a:Person {name: 'a'})-[*..4]-(b:Person)) RETURN nodes(p), relationships(p)",
  "CREATE (n:Person {name: $name, age: 3}) RETURN id(n)",
  "MERGE (n:Person {name: 'x'}) ON CREATE SET n.age = 1 ON MATCH SET n.age = n.age + 1 RETURN n",
  "UNWIND range(1, 10) AS i WITH i WHERE i % 2 = 0 RETURN collect(i) AS l, sum(i), avg(i)",
  "MATCH (n:Person) WITH n ORDER BY n.name SKIP 1 LIMIT 3 OPTIONAL MATCH (n)-->(m) RETURN n, count(m)",
  "MATCH (n) WHERE n.name STARTS WITH 'a' AND exists { (n)-->() } RETURN DISTINCT labels(n)",
  "RETURN [x IN [1,2,3] WHERE x > 1 | x * 2] AS l, reduce(s = 0, x IN [1,2] | s + x) AS r",
  "RETURN CASE 1 WHEN 2 THEN 'a' ELSE 'b' END, toInteger('7'), split('a,b', ','), datetime('2026-01-01T00:00:00Z')",
  "MATCH (n:Person) DETACH DELETE n",
  "MATCH (n:Person) SET n += {age: null, tags: ['a']} REMOVE n:Other RETURN properties(n)",
  "CALL db.labels() YIELD label RETURN label",
  "MATCH (a)-[r]-(b) RETURN type(r), startNode(r), endNode(r) UNION ALL RETURN 1 AS a, 2 AS b, 3 AS c",
  "FOREACH (i IN range(1, 3) | CREATE (:Temp {i: i}))",
  "MATCH (a:Person), (b:Person) WHERE a.name =~ '(a+)+b' CREATE (a)-[:KNOWS {since: date()}]->(b)",
];
const CYPHER_FUNCTIONS =
  "size length head last tail reverse keys properties abs ceil floor round sqrt log sin rand toString toInteger toFloat toBoolean trim replace substring left right split coalesce range reduce date datetime duration point distance id labels type nodes relationships timestamp percentileCont stDev collect count min max".split(
    " ",
  );
const CYPHER_VALUES = [
  "null",
  "0",
  "-1",
  "9223372036854775807",
  "1.5",
  "1e308",
  "''",
  "'a'",
  "'é💥'",
  "true",
  "[]",
  "[1,null,'a']",
  "{a: 1}",
  "date('2026-02-29')",
  "duration('P1Y')",
  "n",
  "n.name",
  "$p",
  "point({x: 1, y: 2})",
];

function cypherExpression(random: Random, depth = 0): string {
  const inner = () => (depth > 2 ? random.one(CYPHER_VALUES) : cypherExpression(random, depth + 1));
  switch (random.below(6)) {
    case 0:
    case 1:
      return `${random.one(CYPHER_FUNCTIONS)}(${random.many(3, inner).join(", ")})`;
    case 2:
      return `(${inner()} ${random.one("+ - * / % ^ = <> < > IN AND OR XOR =~ CONTAINS".split(" "))} ${inner()})`;
    case 3:
      return `${inner()}[${inner()}]`;
    case 4:
      return `[x IN ${inner()} WHERE ${inner()} | ${inner()}]`;
    default:
      return random.one(CYPHER_VALUES);
  }
}

export function randomCypher(random: Random): string {
  switch (random.below(4)) {
    case 0:
      return random.one(CYPHER);
    case 1:
    case 2:
      return spoilt(random.one(CYPHER), random);
    default:
      return `MATCH (n:Person) WHERE ${cypherExpression(random)} RETURN ${cypherExpression(random)} AS v LIMIT 20`;
  }
}
