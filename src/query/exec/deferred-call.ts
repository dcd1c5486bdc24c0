/**
 * One call of a `deferred` node over some rows: chooses the rows that it is computed for, finds equal ones, and waits.
 * Made by deferred.ts.
 */
import { DbError } from "../../protocol/errors.js";
import { DEFERRED_ROWS_MAX } from "../../protocol/limits.js";
import type { Value } from "../../values/values.js";
import { hashKeyOf } from "../expr/compare.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, CallExpr, DeferredContext, DeferredEvaluation, Evaluate } from "../expr/expr.js";
import { unitsOf } from "../expr/work.js";
import type { DeferredCall } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { CompiledDeferred, DeferredValues } from "./deferred-item.js";
import { compileDeferredSubquery } from "./deferred-subquery.js";
import { compileCondition } from "./slots.js";
import { sumOfBytes } from "./value-bytes.js";

/** Values kept for calls that come again; at the bound all are forgotten. */
const KNOWN_BYTES_MAX = 4_194_304;
const KEY_CHARACTERS_MAX = 4096;
/** Larger values are not worth keeping. */
const KEPT_UNITS_MAX = 65_536;

/** `keeps`: as in DeferredPlan. */
export function compileDeferredCall({ expr, when }: DeferredCall, slotOf: SlotOf, keeps: boolean): CompiledDeferred {
  const condition = compileCondition(when, slotOf);
  const rowsOf = (batch: Batch, context: ExecContext): number[] => {
    const rows: number[] = [];
    for (let row = 0; row < batch.length; row++) {
      if (condition === null || condition(batch, row, context)) rows.push(row);
    }
    return rows;
  };
  if (expr.kind === "subquery") return compileDeferredSubquery(expr, rowsOf, slotOf);
  const call = compileCall(expr, slotOf, keeps);
  return {
    rowsMax: call.evaluation.rowsMax ?? DEFERRED_ROWS_MAX,
    open: (context) => new CallValues(call, rowsOf, context),
  };
}

interface CompiledCall {
  readonly expr: CallExpr;
  readonly evaluation: DeferredEvaluation;
  readonly args: readonly Evaluate[];
  readonly keys: readonly ((value: Value) => unknown)[];
  readonly keeps: boolean;
}

function compileCall(expr: CallExpr, slotOf: SlotOf, keeps: boolean): CompiledCall {
  const args = expr.args.map((arg) => compileExpr(arg, slotOf));
  return { expr, evaluation: expr.fn.deferred!, args, keys: expr.args.map(({ type }) => hashKeyOf(type)), keeps };
}

class CallValues implements DeferredValues {
  private readonly known = new Map<string, Value>();
  private knownBytes = 0;

  constructor(
    private readonly call: CompiledCall,
    private readonly rowsOf: (batch: Batch, context: ExecContext) => number[],
    private readonly context: ExecContext,
  ) {}

  async fill(batch: Batch, out: Value[]): Promise<void> {
    const { call, context, known } = this;
    const { strict, volatility } = call.expr.fn;
    for (let row = 0; row < batch.length; row++) out[row] = null;
    const columns: Value[][] = call.args.map(() => []);
    /** Per call that is made: its rows and, unless it is made for this row alone, its key. */
    const made: { readonly rows: number[]; readonly key: string | null }[] = [];
    const byKey = new Map<string, number[]>();
    for (const row of this.rowsOf(batch, context)) {
      const args = call.args.map((arg) => arg(batch, row, context));
      if (strict && args.includes(null)) continue;
      const key = volatility === "volatile" ? null : this.keyOf(args);
      if (key !== null) {
        const value = known.get(key);
        const same = byKey.get(key);
        if (value !== undefined) out[row] = value;
        else if (same !== undefined) same.push(row);
        if (value !== undefined || same !== undefined) continue;
      }
      const rows = [row];
      if (key !== null) byKey.set(key, rows);
      made.push({ rows, key });
      for (let a = 0; a < args.length; a++) columns[a]!.push(args[a]!);
    }
    if (made.length === 0) return;
    const values = await this.evaluate(columns, made.length);
    for (const [i, { rows, key }] of made.entries()) {
      const value = values[i]!;
      for (const row of rows) out[row] = value;
      if (key !== null) this.remember(key, value);
    }
    await context.yieldTurn();
  }

  close(): void {
    this.context.statement.release(this.knownBytes);
    this.knownBytes = 0;
    this.known.clear();
  }

  private async evaluate(columns: readonly (readonly Value[])[], count: number): Promise<readonly Value[]> {
    const { context, call } = this;
    const signal = context.signal();
    const bytes = columns.reduce((sum, column) => sum + sumOfBytes(column, count), 0);
    context.statement.reserve(bytes);
    try {
      return await orAborted(
        call.evaluation.evaluate(columns, count, deferredContext(context, signal, call.keeps)),
        signal,
      );
    } catch (error) {
      throw positioned(error, call.expr.position);
    } finally {
      context.statement.release(bytes);
    }
  }

  private keyOf(args: readonly Value[]): string | null {
    let key = "";
    for (let a = 0; a < args.length; a++) {
      const value = args[a]!;
      if (unitsOf(value) > KEY_CHARACTERS_MAX) return null;
      const part = value === null ? "" : String(this.call.keys[a]!(value));
      key += value === null ? "-" : `${part.length}:${part}`;
      if (key.length > KEY_CHARACTERS_MAX) return null;
    }
    return key;
  }

  private remember(key: string, value: Value): void {
    if (unitsOf(value) > KEPT_UNITS_MAX) return;
    const bytes = 2 * key.length + sumOfBytes([value], 1);
    if (this.knownBytes + bytes > KNOWN_BYTES_MAX) this.close();
    this.context.statement.reserve(bytes);
    this.knownBytes += bytes;
    this.known.set(key, value);
  }
}

export function deferredContext(context: ExecContext, signal: AbortSignal, keeps = false): DeferredContext {
  let last: Promise<unknown> = Promise.resolve();
  const run: DeferredContext["run"] = (sql, params, maxRows, own) => {
    const result = last.then(() => {
      signal.throwIfAborted();
      return context.services.runStatement(sql, params, maxRows, context, own);
    });
    last = result.catch(() => undefined);
    return result;
  };
  return { ...context, signal, keeps, run };
}

/** As the promise; rejects with the signal's reason when that fires first, whatever the work then does. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

export function positioned(error: unknown, position: number | undefined): unknown {
  if (!(error instanceof DbError) || position === undefined || error.details?.position !== undefined) return error;
  return new DbError(error.code, error.message, { ...error.details, position });
}
