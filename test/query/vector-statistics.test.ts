/**
 * Variances, correlation and regression over chunks of segments give exactly what the functions give row by row, with
 * NULLs, NaN, several scales, and numbers whose squares no double holds.
 */
import t from "tap";
import type { ExecContext } from "../../src/query/exec/context.js";
import { chunkOfColumns } from "../../src/query/exec/segments/chunk.js";
import { columnOf } from "../../src/query/exec/segments/column.js";
import { compileVectorAccumulator } from "../../src/query/exec/segments/vector-accumulator.js";
import type { AggregateFunction, Expr } from "../../src/query/expr/expr.js";
import { STATISTICS } from "../../src/query/expr/functions/statistics.js";
import { Numeric } from "../../src/values/numeric.js";
import { FLOAT8, INT4, INT8, NUMERIC, type SqlType, type Value } from "../../src/values/values.js";
import { Random } from "./random-plans.js";

const ROWS = 120;
const GROUPS = 3;

/** Values of one column in one chunk. */
const KINDS: readonly { readonly type: SqlType; of(random: Random): Value }[] = [
  { type: INT4, of: (random) => random.below(2 ** 31) - 2 ** 30 },
  { type: INT4, of: () => 7 },
  { type: INT8, of: (random) => random.below(2 ** 53) },
  { type: INT8, of: (random) => BigInt(random.below(9)) * 2n ** 59n },
  { type: NUMERIC, of: (random) => Numeric.of(BigInt(random.below(100_000)), 2) },
  { type: NUMERIC, of: (random) => Numeric.of(BigInt(random.below(2 ** 52)) - 2n ** 51n, 9) },
  { type: NUMERIC, of: (random) => Numeric.of(BigInt(random.below(50)), random.below(6)) },
  { type: NUMERIC, of: (random) => Numeric.of(BigInt(random.below(50)) * 10n ** 40n, 37) },
  { type: NUMERIC, of: (random) => [Numeric.NAN, Numeric.INFINITY, Numeric.ONE, Numeric.ZERO][random.below(4)]! },
  { type: FLOAT8, of: (random) => random.below(1000) / 7 },
  { type: FLOAT8, of: (random) => [Number.NaN, 1e300, -0, 1.5, Number.NEGATIVE_INFINITY][random.below(5)]! },
];

const text = (value: Value) => (value === null ? "null" : String(value));

/** The argument of a function over the column: cast where it takes doubles. */
function argument(id: number, from: SqlType, to: SqlType): Expr {
  const column: Expr = { kind: "column", type: from, id, name: "x" };
  return from === to ? column : { kind: "cast", type: to, input: column };
}

function toDouble(value: Value): Value {
  return value === null ? null : value instanceof Numeric ? value.toNumber() : Number(value);
}

function byRows(fn: AggregateFunction, columns: readonly (readonly Value[])[], groupOf: Int32Array): string[] {
  const states = Array.from({ length: GROUPS }, () => fn.init());
  for (let row = 0; row < columns[0]!.length; row++) {
    const args = columns.map((values) => values[row]!);
    if (args.every((arg) => arg !== null)) states[groupOf[row]!] = fn.step(states[groupOf[row]!], ...args);
  }
  return states.map((state) => text(fn.result(state)));
}

t.test("chunks give what rows give", async (t) => {
  let chunks = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed * 97);
    const kinds = [0, 1].map(() => KINDS[random.below(KINDS.length)]!);
    for (const fn of STATISTICS) {
      const types = kinds.slice(0, fn.args.length).map(({ type }) => type);
      const isDouble = fn.args.every(({ name }) => name === "float8");
      if (!isDouble && fn.args[0] !== types[0]) continue;
      const args = types.map((type, id) => argument(id, type, fn.args[id]!));
      const call = { fn, args, distinct: false, filter: null, orderBy: [] };
      const program = compileVectorAccumulator(call, (id) => Number(id));
      t.ok(program, fn.name);
      const accumulator = program!({} as ExecContext);
      for (let group = 0; group < GROUPS; group++) accumulator.addGroup();
      const nulls = random.below(3);
      const all: Value[][] = types.map(() => []);
      const groups: number[] = [];
      // Each chunk is of a segment of its own, which may hold its column in another way.
      for (let chunk = 0; chunk < 3; chunk++) {
        const rows = random.below(ROWS);
        const columns = kinds
          .slice(0, types.length)
          .map(({ of }) => Array.from({ length: rows }, () => (random.below(8) < nulls ? null : of(random))));
        const groupOf = Int32Array.from({ length: rows }, () => random.below(GROUPS - 1));
        const vectors = columns.map((values, i) => columnOf(types[i]!, values, rows));
        const held = chunkOfColumns(vectors, rows);
        if (random.below(4) > 0 && accumulator.addChunk?.(held, groupOf) === 0) chunks++;
        else accumulator.add({ columns, length: rows }, groupOf);
        for (const [i, values] of columns.entries()) all[i]!.push(...values);
        groups.push(...groupOf);
      }
      const given = isDouble ? all.map((values) => values.map(toDouble)) : all;
      const found = Array.from({ length: GROUPS }, (_, group) => text(accumulator.result(group)));
      t.strictSame(
        found,
        byRows(fn, given, Int32Array.from(groups)),
        `seed ${seed}: ${fn.name} of ${types.map(({ name }) => name)}`,
      );
    }
  }
  t.ok(chunks > 500, `${chunks} chunks were taken as they were`);
});

t.test("a number is cast to double precision as its text is", async (t) => {
  const random = new Random(5);
  for (let i = 0; i < 20_000; i++) {
    const digits = BigInt(random.below(2 ** 53)) * BigInt(random.below(3) === 0 ? random.below(2 ** 30) : 1);
    const numeric = Numeric.of(random.below(2) === 0 ? digits : -digits, random.below(30));
    if (numeric.toNumber() !== Number(numeric.toString())) t.fail(numeric.toString());
  }
});
