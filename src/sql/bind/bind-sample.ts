/**
 * TABLESAMPLE: a filter over a table's rows. SYSTEM draws single rows as BERNOULLI does, since rows lie in no pages
 * here. With REPEATABLE the storage key of a row decides with the seed, so that rows that stay give the same sample.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { contextFn, fn } from "../../query/expr/functions/define.js";
import { BOOL, BYTEA, FLOAT4, FLOAT8, type SqlType } from "../../values/values.js";
import type { ExprNode, SampleNode } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import type { FromSource, TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import { coerceImplicit } from "./coerce.js";
import { Scope } from "./scope.js";

const METHODS = new Set(["bernoulli", "system"]);
const OPTIONS = { volatility: "volatile", strict: false } as const;

const DRAWN: ScalarFunction = contextFn(
  "sample",
  [FLOAT4],
  BOOL,
  (_, percent: number | null) => Math.random() < fraction(percent),
  OPTIONS,
);

const DRAWN_BY_SEED: ScalarFunction = fn(
  "sample",
  [FLOAT4, BYTEA, FLOAT8],
  BOOL,
  (percent: number | null, key: Uint8Array, seed: number | null) => placeOf(key, seed) < fraction(percent),
  OPTIONS,
);

/** Throws 2202H. */
function fraction(percent: number | null): number {
  if (percent === null) throw sqlError("2202H", "TABLESAMPLE parameter cannot be null");
  if (percent >= 0 && percent <= 100) return percent / 100;
  throw sqlError("2202H", "sample percentage must be between 0 and 100");
}

const seedBytes = Buffer.alloc(8);

/** Where the seed puts a row: 0 ≤ answer < 1. FNV-1a over both, mixed as MurmurHash3 ends. Throws 2202G. */
function placeOf(key: Uint8Array, seed: number | null): number {
  if (seed === null) throw sqlError("2202G", "TABLESAMPLE REPEATABLE parameter cannot be null");
  // -0 and 0 are the same seed.
  seedBytes.writeDoubleLE(seed + 0);
  let hash = 0x811c9dc5;
  for (const byte of seedBytes) hash = Math.imul(hash ^ byte, 0x01000193);
  for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Whether the rows have to come with their storage keys. */
export const samplesByKey = (sample: SampleNode | null): boolean => sample !== null && sample.seed !== null;

/**
 * The arguments see what the query's own FROM does not have: columns of enclosing queries, also left of LATERAL. Throws
 * 42704 for an unknown method, 2202H for a wrong number of arguments.
 */
export function sampleOf(
  rows: TableRows,
  { method, args, seed, position }: SampleNode,
  scope: Scope,
  binding: Binding,
): FromSource {
  if (!METHODS.has(method)) throw sqlError("42704", `tablesample method ${method} does not exist`, { position });
  if (args.length !== 1) {
    throw sqlError("2202H", `tablesample method ${method} requires 1 argument, not ${args.length}`, { position });
  }
  const percent = number(args[0]!, FLOAT4, scope, binding);
  const predicate: Expr =
    seed === null
      ? { kind: "call", type: BOOL, fn: DRAWN, args: [percent] }
      : {
          kind: "call",
          type: BOOL,
          fn: DRAWN_BY_SEED,
          args: [percent, keyOf(rows), number(seed, FLOAT8, scope, binding)],
        };
  const { plan: input, items } = rows;
  return { plan: Object.freeze({ kind: "filter", input, predicate, columns: input.columns }), items };
}

function number(node: ExprNode, type: SqlType, scope: Scope, binding: Binding): Expr {
  const bound = bindExpr(node, contextOf(binding, new Scope(scope), "TABLESAMPLE"));
  return coerceImplicit(bound, type, binding, node.position);
}

const keyOf = ({ rowKey }: TableRows): Expr => ({ kind: "column", id: rowKey!, type: BYTEA, name: "row key" });
