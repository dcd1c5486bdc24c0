/**
 * How long a call holds its thread, in CPU time, which other processes do not lengthen: once as statements are run at
 * first, and, where that overruns, as they are run in turns. Where a call is computed in another process, that
 * process's time does not count, but what is sent there does.
 */
import { serialize } from "node:v8";
import { beginStretch, endStretch, Overrun } from "../../src/protocol/stretch.js";
import { compileExpr } from "../../src/query/expr/compile.js";
import { compileWaiting } from "../../src/query/expr/compile-waiting.js";
import { type ComputeJob, jobFor } from "../../src/query/expr/compute-elsewhere.js";
import type { AggregateFunction, CallExpr, DeferredContext, ScalarFunction } from "../../src/query/expr/expr.js";
import { smallMessages } from "../../src/query/expr/sent-pieces.js";
import {
  needsDefinition,
  shapeColumns,
  type TableFunction,
  type TableRows,
} from "../../src/query/expr/table-function.js";
import { threadCpuMs } from "../../src/session/thread-cpu.js";
import { recordOf, TEXT, type Value } from "../../src/values/values.js";
import { context } from "./evaluate.js";

const cpuMs = (): number => threadCpuMs() ?? performance.now();
let clock = cpuMs;

/** By the wall's clock, which is never behind the thread's, and takes much less time to read. */
export async function byWallClock<T>(measure: () => Promise<T>): Promise<T> {
  clock = () => performance.now();
  try {
    return await measure();
  } finally {
    clock = cpuMs;
  }
}

/** What a turn of the actor may take. */
const TURN_MS = 4;

export interface TurnLengths {
  /** Milliseconds of the longest turn. */
  readonly longest: number;
  readonly way: "at once" | "in turns" | "elsewhere";
  /** What the call threw; null: it gave a value. */
  readonly error: unknown;
}

/** A call of the function over columns of one row, which hold the values. */
export async function turnLengths(fn: ScalarFunction, values: readonly Value[]): Promise<TurnLengths> {
  const types = values.map((_, i) => fn.args[i] ?? fn.variadic!);
  const args = types.map((type, id) => ({ kind: "column", type, id, name: "" }) as const);
  const call: CallExpr = { kind: "call", type: fn.returns, fn, args };
  const batch = { columns: values.map((value) => [value]), length: 1 };
  const first = atOnce(() => compileExpr(call, (id) => id)(batch, 0, context));
  if (!(first.error instanceof Overrun)) return { longest: first.took, way: "at once", error: first.error };
  const turns = new MeasuredTurns();
  const inTurns = compileWaiting(call, (id) => id);
  let error: unknown = null;
  turns.begin();
  try {
    await inTurns(batch, 0, turns.context);
  } catch (thrown) {
    error = thrown;
  }
  turns.end();
  endStretch();
  return { longest: Math.max(first.took, turns.longest), way: turns.wasElsewhere ? "elsewhere" : "in turns", error };
}

function atOnce(work: () => void): { readonly took: number; readonly error: unknown } {
  const start = clock();
  beginStretch(performance.now());
  let error: unknown = null;
  try {
    work();
  } catch (thrown) {
    error = thrown;
  }
  const took = clock() - start;
  endStretch();
  return { took, error };
}

/** Fewer steps than these are looked at one by one. */
const STEPS_OF_TURN = 1000;

/** Of the longest step, or of the result after so many. */
export async function aggregateTurns(
  fn: AggregateFunction,
  values: readonly Value[],
  steps: number,
): Promise<TurnLengths> {
  const direct = values.slice(0, fn.directArgs ?? 0);
  const args = values.slice(fn.directArgs ?? 0);
  let state = fn.init();
  let longest = 0;
  let error: unknown = null;
  const turn = (work: () => void): void => {
    const made = atOnce(work);
    longest = Math.max(longest, made.took);
    if (made.error !== null && !(made.error instanceof Overrun)) error = made.error;
  };
  const count = steps < STEPS_OF_TURN ? 1 : STEPS_OF_TURN;
  for (let made = 0; made < steps && error === null; made += count) {
    turn(() => {
      for (let i = 0; i < count; i++) state = fn.step(state, ...args);
    });
  }
  if (error !== null) return { longest, way: "at once", error };
  const turns = new MeasuredTurns();
  turns.begin();
  const pending = fn.resultInTurns?.(state, turns.context) ?? null;
  if (pending === null) turn(() => fn.result(state, direct));
  else await pending;
  turns.end();
  endStretch();
  return { longest: Math.max(longest, turns.longest), way: pending === null ? "at once" : "in turns", error };
}

/** Rows that a statement asks for at a time, and how often it does here. */
const ROWS_OF_TURN = 1024;
const READS = 40;

/** Of making the rows, or of so many of them. */
export async function rowTurns(fn: TableFunction, values: readonly Value[]): Promise<TurnLengths> {
  const shape = needsDefinition(fn.returns) ? recordOf([{ name: "a", type: TEXT }]) : fn.returns;
  const out = shapeColumns(shape, "").map((): Value[] => []);
  let rows: TableRows | undefined;
  let count: number | Promise<number> = 0;
  let longest = 0;
  let error: unknown = null;
  const turn = (work: () => void): void => {
    const start = clock();
    try {
      work();
    } catch (thrown) {
      error = thrown;
    }
    longest = Math.max(longest, clock() - start);
  };
  turn(() => {
    rows = fn.open(context, values, shape);
  });
  for (let read = 0; read < READS && error === null; read++) {
    turn(() => {
      count = rows!.next(out, 0, ROWS_OF_TURN);
    });
    if ((await count) === 0) break;
  }
  rows?.close?.();
  return { longest, way: "at once", error };
}

class Elsewhere extends Error {}

/** A thread that gives way whenever it is asked, and says how long it took in between. */
export class MeasuredTurns {
  longest = 0;
  wasElsewhere = false;
  private since = 0;
  private sinceCpu = 0;
  readonly context = {
    ...context,
    services: {
      ...context.services,
      computeElsewhere: async (expr: ComputeJob["expr"], values: readonly Value[]): Promise<Value | undefined> => {
        const job = await jobFor(expr, values, this.context);
        if (job === undefined) return undefined;
        this.wasElsewhere = true;
        for (const small of smallMessages(job)) {
          serialize(small);
          await this.context.yieldTurn();
        }
        throw new Elsewhere();
      },
    },
    signal: new AbortController().signal,
    keeps: false,
    run: () => Promise.reject(new Error("no statements here")),
    shouldYield: () => performance.now() - this.since > TURN_MS,
    yieldTurn: async () => {
      this.end();
      await new Promise(setImmediate);
      this.begin();
    },
  } satisfies DeferredContext;

  begin(): void {
    this.since = performance.now();
    this.sinceCpu = clock();
    beginStretch(this.since);
  }

  end(): void {
    this.longest = Math.max(this.longest, clock() - this.sinceCpu);
  }
}
