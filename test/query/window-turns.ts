/**
 * How long a window holds its thread between two looks at the clock, in CPU time: its calls over frames, and its keys.
 */
import { BATCH_ROWS } from "../../src/protocol/limits.js";
import { endStretch } from "../../src/protocol/stretch.js";
import { type ContextInit, createContext } from "../../src/query/exec/create-context.js";
import type { Open, Operator } from "../../src/query/exec/operator.js";
import { compileWindow } from "../../src/query/exec/window.js";
import type { AggregateFunction, Batch, Expr, WindowFunction } from "../../src/query/expr/expr.js";
import { WINDOW_FUNCTIONS } from "../../src/query/expr/functions/registry.js";
import type { WindowBound, WindowCall, WindowFrame, WindowPlan } from "../../src/query/plan/plan.js";
import { INT8, type SqlType, type Value } from "../../src/values/values.js";
import { sized } from "../lengths.js";
import { constant, context } from "./evaluate.js";
import { MeasuredTurns, type TurnLengths } from "./turn-lengths.js";

/** Rows of a frame: with a frame that is read anew for each row, they take far longer than a turn may. */
const FRAME = sized(25_000, 50_000);

/** A frame of a window, and how many rows the window goes over. */
export interface TestFrame {
  readonly frame: WindowFrame;
  readonly rows: number;
}

const bound = (kind: WindowBound["kind"], by: number | null = null): WindowBound => ({
  kind,
  offset: by === null ? null : constant(INT8, by),
  inRange: null,
});
const frameOf = (start: WindowBound, end: WindowBound, exclude: WindowFrame["exclude"] = "no others"): WindowFrame => ({
  mode: "rows",
  start,
  end,
  exclude,
});

/** Each way in which a window comes from one row's frame to the next one's. */
export const FRAMES: Readonly<Record<string, TestFrame>> = {
  "the whole partition": {
    frame: frameOf(bound("unbounded preceding"), bound("unbounded following")),
    rows: 3 * FRAME,
  },
  growing: { frame: frameOf(bound("unbounded preceding"), bound("current row")), rows: sized(10_000, 20_000) },
  sliding: { frame: frameOf(bound("preceding", FRAME), bound("current row")), rows: FRAME + 10 },
  "sliding behind": { frame: frameOf(bound("following", 2), bound("following", 2 * FRAME)), rows: 2 * FRAME + 10 },
  excluding: { frame: frameOf(bound("preceding", FRAME), bound("following", FRAME), "current row"), rows: FRAME },
};

const WINDOW_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Of a window over rows that all have these values, of a function or an aggregate. The rows come in batches; the
 * statement ends after a few turns, or when its memory is used up.
 */
export async function windowTurns(
  fn: WindowFunction | AggregateFunction,
  values: readonly Value[],
  { frame, rows }: TestFrame,
): Promise<TurnLengths> {
  const types = values.map((_, i) => fn.args[i] ?? fn.variadic!);
  const columns = types.map((type, id) => ({ id, name: "", type, nullable: true }) as const);
  const args = columns.map(({ id, type }) => ({ kind: "column", type, id, name: "" }) as const);
  const call: WindowCall =
    "start" in fn ? { kind: "function", fn, args, filter: null } : { kind: "aggregate", fn, args, filter: null };
  const input = { kind: "values", columns, rows: [] } as const;
  const result = { id: columns.length, name: "", type: fn.returns, nullable: true } as const;
  const plan: WindowPlan = {
    kind: "window",
    input,
    partitionBy: [],
    orderBy: [],
    frame,
    calls: [call],
    columns: [...columns, result],
  };
  return measuredOperator(compileWindow(plan, () => new SameRows(values, rows)));
}

/** Of finding where partitions and groups of peers end, among rows whose keys have such a value each. */
export function keyTurns(type: SqlType, keys: readonly Value[]): Promise<TurnLengths> {
  const column = { id: 0, name: "", type, nullable: true } as const;
  const key = { kind: "column", type, id: 0, name: "" } as const;
  const [fn] = WINDOW_FUNCTIONS.get("dense_rank")!;
  const plan = (partitionBy: readonly Expr[], orderBy: WindowPlan["orderBy"]): WindowPlan => ({
    kind: "window",
    input: { kind: "values", columns: [column], rows: [] },
    partitionBy,
    orderBy,
    frame: frameOf(bound("unbounded preceding"), bound("current row")),
    calls: [{ kind: "function", fn: fn!, args: [], filter: null }],
    columns: [column, { id: 1, name: "", type: INT8, nullable: true }],
  });
  const rows = (): Operator => {
    let isOver = false;
    return {
      next: () => {
        if (isOver) return null;
        isOver = true;
        return { columns: [keys], length: keys.length };
      },
      close: () => {},
    };
  };
  return measuredOperator(compileWindow(plan([key], []), rows)).then(async (ofPartitions) => {
    const ofPeers = await measuredOperator(
      compileWindow(plan([], [{ expr: key, descending: false, nullsFirst: false }]), rows),
    );
    return ofPeers.longest > ofPartitions.longest ? ofPeers : ofPartitions;
  });
}

/** Pulls an operator's batches, and ends after some. */
async function measuredOperator(open: Open): Promise<TurnLengths> {
  const turns = new MeasuredTurns();
  let given = 0;
  let error: unknown = null;
  turns.begin();
  const operator = open(
    createContext({
      ...(context as unknown as ContextInit),
      memoryBytesMax: WINDOW_BYTES_MAX,
      shouldYield: turns.context.shouldYield,
      yieldTurn: async () => {
        if (++given > WINDOW_TURNS_MAX) throw new Enough();
        await turns.context.yieldTurn();
      },
    }),
  );
  try {
    while ((await operator.next()) !== null) if (turns.context.shouldYield()) await turns.context.yieldTurn();
  } catch (thrown) {
    if (!(thrown instanceof Enough)) error = thrown;
  }
  turns.end();
  endStretch();
  operator.close();
  return { longest: turns.longest, way: "in turns", error };
}

/** Enough to see what one look at the clock leaves to the next. */
const WINDOW_TURNS_MAX = 4;

class Enough extends Error {}

/** The same row again and again, in batches. */
class SameRows implements Operator {
  private readonly columns: readonly (readonly Value[])[];

  constructor(
    values: readonly Value[],
    private left: number,
  ) {
    this.columns = values.map((value) => new Array<Value>(BATCH_ROWS).fill(value));
  }

  next(): Batch | null {
    const length = Math.min(this.left, BATCH_ROWS);
    this.left -= length;
    return length === 0 ? null : { columns: this.columns, length };
  }

  close(): void {}
}
