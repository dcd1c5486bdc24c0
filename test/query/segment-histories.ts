/**
 * Random histories of writes and queries, and sessions to run them in: the same rows are expected with and without
 * column segments.
 */
import type { Test } from "tap";
import { type ActorShared, sharedByNobody } from "../../src/actor/actor-shared.js";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShard } from "../storage/shards.js";
import type { Random } from "./random-plans.js";

export const SIZES = {
  recordsBefore: 8,
  segmentRows: 32,
  changesMax: 12,
  lookupsBefore: 4,
  storedRowsMin: 64,
  fileRowsMin: 16,
  buildSegments: 64,
  correctionsFew: 2,
  correctionsMax: 7,
  awaitedRowsMin: 1e9,
  threadRowsMin: 16,
  readNanosMin: 1,
  unitNanos: 1000,
  startMs: 0,
  replayBytesMax: 1e6,
};
export const CREATE = `CREATE TABLE m (a int, b int, t text, n numeric(10,2), d date, f float8, l int8, o bool, v numeric, w vector(2), u varchar,
  j jsonb, k text[], p int[], q numeric[],
  PRIMARY KEY (a, b))`;

export class Side {
  /** Called where a statement gives way. */
  onTurn: () => Promise<void> = () => Promise.resolve();
  private readonly sessions: Session[] = [];

  private constructor(
    readonly partition: Partition,
    readonly segments: SegmentCache,
  ) {}

  /** Over a shard in memory, unless another one is given. */
  static async open(
    t: Test,
    segments: SegmentCache,
    shard: Shard | null = null,
    shared: Partial<ActorShared> = {},
  ): Promise<Side> {
    await loadParser();
    const config = loadConfig({ env: {} });
    const whole = sharedByNobody(config, { segments, ...shared });
    return new Side(new Partition(0, shard ?? (await openShard(t)), config, () => undefined, whole), segments);
  }

  session(number: number): Session {
    const tenant = this.partition.tenant(7);
    this.sessions[number] ??= new Session(tenant, {
      isolation: null,
      readOnly: false,
      user: "u",
      tenantName: "t",
      control: "statements",
    });
    return this.sessions[number];
  }

  /** Rows, or the error's message. */
  async run(number: number, sql: string, yields = false, params: readonly unknown[] = []): Promise<string> {
    const tenant = this.partition.tenant(7);
    let turn = 0;
    const request = {
      checkpoint: () => undefined,
      shouldYield: () => yields && ++turn % 3 === 0,
      yieldTurn: () => (yields ? this.onTurn() : Promise.resolve()),
    };
    try {
      const outcome = await this.session(number).execute(
        { sql, params, maxRows: 100_000, collector: plainRows, request },
        (tx) => tenant.commit(tx),
      );
      return outcome.rows.plain!.map((row) => JSON.stringify(row)).join("\n");
    } catch (error) {
      return `error: ${(error as Error).message}`;
    }
  }

  /** The end of a turn of the actor's loop. */
  flush(): void {
    this.partition.shard.flush();
  }
}

const WORDS = ["", "a", "abc", "b", "x%y", "ünï", "zz"];

const PARTS = ["abc", "Abc", "b", "%", "_", "é", "😀", " "];

/** Most of them are there once. */
function textOf(random: Random): string {
  const part = () => PARTS[random.below(random.below(4) === 0 ? PARTS.length : 3)]!;
  return `${part()}${random.below(500)}${part()}`;
}

function pattern(random: Random): string {
  const part = () => ["%", "_", "abc", "b", "1", "12", "é", "\\%", "3Abc"][random.below(9)]!;
  return Array.from({ length: random.below(5) }, part).join("") + (random.below(2) === 0 ? "%" : "");
}

const SCALARS = [
  "1",
  "1.0",
  "-0.5e3",
  "12345678901234567890.10",
  "true",
  "null",
  '"a"',
  '"é\\n\\"\\\\"',
  '"\\u00fc%"',
  '"7"',
  '""',
];
const KEYS = ["a", "b", "ü", "a.b", '\\"', "", "$.a"];

/** JSON with nested, empty, large and repeated parts, and keys that occur twice. */
function document(random: Random, depth = 0): string {
  const kind = random.below(depth > 2 ? 2 : 7);
  if (kind < 2) return random.below(6) === 0 ? String(random.below(400)) : SCALARS[random.below(SCALARS.length)]!;
  if (kind === 6 && random.below(9) === 0) return `{"a": {"b": "${"long ".repeat(50 + random.below(2) * 8000)}"}}`;
  const members = Array.from({ length: random.below(4) }, () => document(random, depth + 1));
  if (kind === 2) return `[${members.join()}]`;
  return `{${members.map((member) => `"${KEYS[random.below(random.below(3) === 0 ? KEYS.length : 2)]}": ${member}`).join(", ")}}`;
}

/** Tests of documents and lists; some of them fail on some values. */
function partCondition(random: Random): string {
  const keys = ["a", "b", "ü", "a.b", '\\"', "", "$.a", "0"].map((key) => `'${key}'`);
  const key = () =>
    random.below(4) === 0 ? String(random.below(4) - 2) : keys[random.below(random.below(3) === 0 ? keys.length : 2)]!;
  const path = () => (random.below(2) === 0 ? `->${key()}` : `->${key()}->${key()}`);
  const text = () => (random.below(3) === 0 ? `j #>> '{a,b}'` : `j${path()}->>${key()}`);
  switch (random.below(12)) {
    case 0:
      return `j @> '${document(random)}'`;
    case 1:
      return `j <@ '${document(random)}'`;
    case 2:
      return `j ${["?", "?"][random.below(2)]} ${keys[random.below(keys.length)]}`;
    case 3:
      return `${text()} ${OPERATORS[random.below(OPERATORS.length)]} '${["a", "7", "", "1.0", "null", "true", "[]"][random.below(7)]}'`;
    case 4:
      return `j${path()} IS ${random.below(2) === 0 ? "NOT " : ""}NULL`;
    case 5:
      return `${text()} IN ('a', '1', '{}') OR ${text()} LIKE '%1%'`;
    case 6:
      return `'${["abc", "b", "", "zz"][random.below(4)]}' = ANY (k)`;
    case 7:
      return `${random.below(5)} ${["=", ">"][random.below(2)]} ANY (p)`;
    case 8:
      return `1.5 = ANY (q)`;
    case 9:
      return `k @> '{abc}' OR p && '{1,7}'`;
    case 10:
      return `k[2] = 'b' OR p[1] > 3`;
    default:
      return `(j->>'a')::text = j#>>'{b}'`;
  }
}

function value(random: Random, column: string): string {
  if (random.below(8) === 0) return "NULL";
  switch (column) {
    case "t":
      return `'${WORDS[random.below(WORDS.length)]}'`;
    case "u":
      return `'${textOf(random)}'`;
    case "n":
      return `${random.below(2000) - 1000}.${random.below(100)}`;
    case "d":
      return random.below(30) === 0 ? "'infinity'" : `DATE '2020-01-01' + ${random.below(60)}`;
    case "f":
      return ["'NaN'", "'-Infinity'", "0.1", "-0.0", "3"][random.below(5)]!;
    case "l":
      return ["1", "9007199254740993", "-5", "4000000000", "77"][random.below(5)]!;
    case "o":
      return random.below(2) === 0 ? "true" : "false";
    case "v":
      return ["1.5", "1.50", "'NaN'", "12345678901234567890", "-2"][random.below(5)]!;
    case "j":
      return `'${document(random)}'`;
    case "k":
      return [
        "'{}'",
        "'{abc,b}'",
        '\'{NULL,abc,"a,\\\\\\"b",""}\'',
        "'{{abc,b},{zz,NULL}}'",
        "'[2:3]={é,abc}'",
        `'{u${random.below(300)}}'`,
      ][random.below(6)]!;
    case "p":
      return ["'{}'", "'{1,2,3}'", "'{{7,-5},{NULL,1000000}}'", `'{${random.below(9)},${random.below(300)}}'`][
        random.below(4)
      ]!;
    case "q":
      return ["'{1.5,1.50}'", "'{1.50}'", "'{1.5}'", "'{NaN,NULL,-0.001}'", "'{12345678901234567890.5}'"][
        random.below(5)
      ]!;
    case "w":
      return ["'[1,2]'", "'[0.5,-1]'", "'[-0,1e30]'"][random.below(3)]!;
    default:
      return String(random.below(50));
  }
}

const COLUMNS = ["t", "n", "d", "f", "l", "o", "v", "w", "u", "j", "k", "p", "q"];
const OPERATORS = ["=", "<>", "<", "<=", ">", ">="];

function condition(random: Random): string {
  if (random.below(4) === 0) return `(${partCondition(random)})`;
  const column = ["b", ...COLUMNS][random.below(COLUMNS.length + 1)]!;
  const operator = OPERATORS[random.below(OPERATORS.length)]!;
  switch (random.below(15)) {
    case 13:
      return `${["b", "l", "a - b"][random.below(3)]} % ${[3, 7, -4, 50][random.below(4)]} ${operator} ${random.below(6) - 2}`;
    case 14:
      return `${["b * a", "n + b", "l - b", "n * 2"][random.below(4)]} ${operator} ${["a + 20", "n", "7.25"][random.below(3)]}`;
    case 11:
      return `u ${random.below(2) === 0 ? "" : "NOT "}${random.below(2) === 0 ? "" : "I"}LIKE '${pattern(random)}'`;
    case 12:
      return `u ${operator} '${textOf(random)}'`;
    case 7:
      return `b ${operator} a`;
    case 8:
      return `(n < ${random.below(300)} OR n BETWEEN 400 AND 600.5 OR n IS NULL)`;
    case 9:
      return ["extract(month FROM d) = 2", "substring(t FROM 1 FOR 1) = 'a'", "b % 3 = 1", "(o OR t = 'zz')"][
        random.below(4)
      ]!;
    case 0:
      return `${column} IS ${random.below(2) === 0 ? "NOT " : ""}NULL`;
    case 1:
      return `t LIKE '${["a%", "%b%", "_", "x\\%y"][random.below(4)]}'`;
    case 2:
      return `b BETWEEN ${random.below(30)} AND ${random.below(60)}`;
    case 3:
      return `${column} IN (${[1, 2, 3].map(() => value(random, column)).join()})`;
    case 4:
      return `(${condition(random)} OR ${condition(random)})`;
    case 5:
      return `n ${operator} ${random.below(100)}.${random.below(1000)}`;
    case 6:
      return `d ${operator} TIMESTAMP '2020-01-20 12:00' - INTERVAL '${random.below(40)} hours'`;
    default:
      return `${column} ${operator} ${value(random, column)}`;
  }
}

/** Joins of the table with itself: by hashing, and by looking rows up in the primary key. */
function join(random: Random): string {
  const keys = [
    "x.b = y.a",
    "x.t = y.t",
    "x.o = y.o AND x.b = y.b",
    "x.n = y.n",
    "x.l = y.l",
    "x.d = y.d",
    "x.f = y.f",
  ];
  const on = `${keys[random.below(keys.length)]!}${random.below(3) === 0 ? " AND x.n < y.n" : ""}`;
  const where = random.below(2) === 0 ? "" : `WHERE ${condition(random)}`;
  const order = "ORDER BY 1, 2, 3, 4";
  const side = `(SELECT * FROM m ${where})`;
  const groups = ["x.t", "y.o", "y.t, x.o", "x.b, y.b"][random.below(4)]!;
  const calls = "count(*), count(y.n), sum(x.n), sum(y.n), sum(y.b * x.n), min(y.d), max(x.l), sum(y.v)";
  const type = ["", "LEFT ", "RIGHT ", "FULL "][random.below(4)]!;
  switch (random.below(6)) {
    case 0:
      return `SELECT x.a, x.b, y.a, y.b, x.t, y.n, y.v, y.f FROM ${side} x ${type}JOIN m y ON ${on} ${order}`;
    case 1:
      return `SELECT ${groups}, ${calls} FROM m x ${type}JOIN ${side} y ON ${on} GROUP BY ${groups} ORDER BY ${groups}`;
    case 2:
      return `SELECT ${calls} FROM ${side} x ${type}JOIN m y ON ${on} JOIN m z ON z.a = y.b AND z.b = 3`;
    case 3:
      return `SELECT a, b, n, v FROM ${side} x WHERE ${random.below(2) === 0 ? "NOT " : ""}EXISTS (SELECT FROM m y WHERE ${on}) ${order}`;
    case 4:
      return `SELECT x.a, x.b, y.b, y.n, y.t FROM ${side} x, LATERAL
        (SELECT * FROM m WHERE m.a = x.b AND m.b > ${random.below(10)} ORDER BY b LIMIT 2) y ${order}`;
    default:
      return `SELECT a, b, (SELECT sum(y.n) FROM m y WHERE y.a = x.b AND y.b <> 4), t FROM ${side} x ${order}`;
  }
}

/** Rows that are equal in the keys come in the order of the table. */
function orderBy(random: Random): string {
  const columns = ["b", "t", "n", "d", "f", "l", "o", "v", "u", "a + b", "n"];
  const key = () =>
    columns[random.below(columns.length)]! +
    (random.below(2) === 0 ? " DESC" : "") +
    ["", " NULLS FIRST", " NULLS LAST"][random.below(3)]!;
  const keys = Array.from({ length: 1 + random.below(2) }, key).join(", ");
  return `ORDER BY ${keys} LIMIT ${random.below(8)}${random.below(3) === 0 ? " OFFSET 2" : ""}`;
}

export function query(random: Random): string {
  if (random.below(3) === 0) return join(random);
  const where = Array.from({ length: random.below(4) }, () => condition(random)).join(" AND ");
  const from = `FROM m ${where === "" ? "" : `WHERE ${where}`}`;
  const groups = [
    "t",
    "o",
    "b",
    "t, o",
    "d",
    "n",
    "b % 3",
    "u",
    "o, u, b",
    "l, t",
    "j",
    "k, o",
    "j->>'a'",
    "j->'b'->'a'",
    "p",
  ][random.below(15)]!;
  const calls = [
    "count(*)",
    "count(n)",
    "sum(n)",
    "avg(n)",
    "sum(b)",
    "avg(b)",
    "sum(l)",
    "min(n)",
    "max(d)",
    "min(t)",
    "sum(f)",
    "sum(length(u))",
    "max(char_length(u) - b)",
    "avg(octet_length(t))",
    "max(f)",
    "sum(v)",
    "max(v)",
    "sum(n * (1 - n))",
    "sum(b * b - a)",
    "avg(n + b)",
    "sum(n) FILTER (WHERE b > 5)",
    "count(DISTINCT t)",
    "count(DISTINCT u)",
    "count(DISTINCT l)",
    "count(u)",
    "min(u)",
    "max(u)",
    "min(l)",
    "count(j)",
    "count(k)",
    "max(p)",
    "count(DISTINCT j)",
    "sum(length(j->>'a'))",
    "min(j #>> '{a,b}')",
    "max(q[1])",
  ].filter(() => random.below(3) === 0);
  const first = COLUMNS[random.below(COLUMNS.length)]!;
  const list = calls.length === 0 ? "count(*)" : calls.join(", ");
  switch (random.below(9)) {
    case 8: {
      const [call, each] = [
        ["jsonb_array_elements(CASE jsonb_typeof(j) WHEN 'array' THEN j END)", "e::text"],
        ["unnest(k)", "e"],
        ["unnest(p)", "e"],
      ][random.below(3)]!;
      return `SELECT ${each}, count(*) FROM m, ${call} e ${where === "" ? "" : `WHERE ${where}`} GROUP BY 1 ORDER BY 1`;
    }
    case 5:
      return `SELECT a, b, ${first} ${from} ${orderBy(random)}`;
    case 6:
      return `SELECT ${groups}, ${list} ${from} GROUP BY ${groups} ORDER BY ${random.below(2) === 0 ? "count(*), " : ""}${groups} LIMIT 5`;
    case 7:
      return `SELECT DISTINCT ${groups} ${from}`;
    case 0:
      return `SELECT ${list} ${from}`;
    case 1:
      return `SELECT ${groups}, ${list} ${from} GROUP BY ${groups} ORDER BY ${groups}`;
    case 2:
      return `SELECT x.a, x.b, y.n FROM m x JOIN m y ON x.b = y.a AND x.t = y.t ORDER BY 1, 2, y.b`;
    case 3:
      return `SELECT a, b, t, n ${from} ORDER BY a, b LIMIT ${random.below(90)}`;
    default:
      return `SELECT * ${from} ORDER BY a, b`;
  }
}

export function write(random: Random): string {
  const row = () => `(${random.below(40)}, ${random.below(20)}, ${COLUMNS.map((c) => value(random, c)).join()})`;
  const column = COLUMNS[random.below(COLUMNS.length)]!;
  switch (random.below(8)) {
    case 6:
      return `UPDATE m SET ${column} = ${value(random, column)} WHERE a > ${random.below(20)} AND ${condition(random)}`;
    case 7:
      return `DELETE FROM m WHERE a > ${random.below(20)} AND b = ${random.below(20)} AND ${condition(random)}`;
    case 0:
      return `DELETE FROM m WHERE a = ${random.below(40)} AND b < ${random.below(20)}`;
    case 1:
      return `UPDATE m SET ${column} = ${value(random, column)} WHERE a = ${random.below(40)}`;
    case 2:
      return `UPDATE m SET a = a + 1 WHERE a = ${39 - random.below(5)}`;
    default:
      return `INSERT INTO m VALUES ${Array.from({ length: 1 + random.below(12) }, row).join()} ON CONFLICT DO NOTHING`;
  }
}
