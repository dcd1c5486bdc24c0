/**
 * Expressions over chunks whose results are columns, too: arithmetic on number columns, and expressions of one column
 * that has few different values, each of which is worked out once (the year of a date, a CASE on a status). Used by
 * project.ts; state belongs to one run.
 */
import { Numeric } from "../../../values/numeric.js";
import type { Value } from "../../../values/values.js";
import { compileExpr, type SlotOf } from "../../expr/compile.js";
import type { EvalContext, Evaluate, Expr } from "../../expr/expr.js";
import { columnsOf, isVolatile, someExpr } from "../../expr/walk.js";
import type { Chunk } from "./chunk.js";
import type { Column, DictionaryColumn } from "./column.js";
import { type VectorExpr, type VectorValue, vectorExprOf } from "./vector-expr.js";

/** A column with one row per row of the chunk; null: this chunk's must be computed row by row. */
export interface ChunkExpr {
  of(chunk: Chunk, context: EvalContext): Column | null;
}

/** Makes the state of one run. */
export type OpenChunkExpr = () => ChunkExpr;

/** Parts that read columns of no row at hand. */
const hasOuterColumns = ({ kind }: Expr) => kind === "subquery" || kind === "list";

/** Null for expressions of other kinds. */
export function chunkExprOf(expr: Expr, slotOf: SlotOf): OpenChunkExpr | null {
  if (expr.kind === "column") return null;
  const vector = vectorExprOf(expr, slotOf);
  if (vector !== null && columnsOf(expr).size > 0) return () => new Arithmetic(vector, expr.type.name === "numeric");
  const columns = [...columnsOf(expr)];
  const slot = columns.length === 1 ? slotOf(columns[0]!) : -1;
  if (slot < 0 || isVolatile(expr) || someExpr(expr, hasOuterColumns)) return null;
  // Floats have two zeros, which a Map takes for one.
  if (someExpr(expr, (part) => part.kind === "column" && part.type.name.startsWith("float"))) return null;
  const evaluate = compileExpr(expr, () => 0);
  return () => new ByValue(evaluate, slot);
}

class Arithmetic implements ChunkExpr {
  private vectors: readonly Column[] | null = null;
  private value: VectorValue | null = null;

  constructor(
    private readonly expr: VectorExpr,
    private readonly isNumeric: boolean,
  ) {}

  of(chunk: Chunk): Column | null {
    if (this.vectors !== chunk.vectors) {
      this.vectors = chunk.vectors;
      this.value = this.expr(chunk.vectors);
    }
    const { value } = this;
    if (value === null) return null;
    const data = new Float64Array(chunk.length);
    const nulls = new Uint8Array(value.mayBeNull ? chunk.length : 0);
    value.compute(chunk, data, nulls);
    return {
      kind: "number",
      data,
      nulls: value.mayBeNull ? nulls : null,
      min: value.low,
      max: value.high,
      hasNaN: false,
      scale: this.isNumeric ? value.scale : -1,
      bytes: 0,
    };
  }
}

/** Different values of the column beyond which results are no longer remembered. */
const VALUES_MAX = 16_384;

class ByValue implements ChunkExpr {
  /** The result's code by value of the column. */
  private readonly codes = new Map<Value, number>();
  /** Codes by the column's own ones, for the dictionary that came last; −1: not looked up yet. */
  private source: DictionaryColumn | null = null;
  private recoded = new Int32Array(0);
  /** Results by code; those that cannot be told apart have one code. */
  private readonly results: Value[] = [];
  private readonly resultCodes = new Map<Value, number>();

  constructor(
    /** Reads the column as column 0 of a batch. */
    private readonly evaluate: Evaluate,
    private readonly slot: number,
  ) {}

  of(chunk: Chunk, context: EvalContext): Column | null {
    const column = chunk.vectors[this.slot]!;
    if (this.codes.size > VALUES_MAX || (column.kind !== "number" && column.kind !== "dictionary")) return null;
    if (column.kind === "number" && (column.scale >= 0 || column.hasNaN)) return null;
    const { rows, from } = chunk.selections[this.slot]!;
    const codes = new Uint16Array(chunk.length);
    if (column.kind === "dictionary") {
      this.enter(column);
      const { recoded } = this;
      for (let i = 0; i < chunk.length; i++) {
        const theirs = column.codes[rows === null ? from + i : rows[i]!]!;
        if (recoded[theirs]! < 0) recoded[theirs] = this.codeOf(column.values[theirs]!, context);
        codes[i] = recoded[theirs]!;
      }
    } else {
      const { data, nulls } = column;
      for (let i = 0; i < chunk.length; i++) {
        const row = rows === null ? from + i : rows[i]!;
        codes[i] = this.codeOf(nulls !== null && nulls[row] === 1 ? null : data[row]!, context);
      }
    }
    return { kind: "dictionary", codes, values: this.results, bytes: 0 };
  }

  private enter(column: DictionaryColumn): void {
    if (column === this.source) return;
    this.source = column;
    this.recoded = new Int32Array(column.values.length).fill(-1);
  }

  private codeOf(value: Value, context: EvalContext): number {
    const known = this.codes.get(value);
    if (known !== undefined) return known;
    const result = this.evaluate({ columns: [[value]], length: 1 }, 0, context);
    const key = identityOf(result);
    let code = this.resultCodes.get(key);
    if (code === undefined) {
      code = this.results.length;
      this.results.push(result);
      this.resultCodes.set(key, code);
    }
    this.codes.set(value, code);
    return code;
  }
}

/** What tells a result from others of its type that look otherwise. */
function identityOf(value: Value): Value {
  if (value instanceof Numeric) return value.special ?? `${value.unscaled}/${value.scale}`;
  return Object.is(value, -0) ? "-0" : value;
}
