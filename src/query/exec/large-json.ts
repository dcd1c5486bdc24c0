/**
 * JSON of large values, made in turns before an aggregate asks for it: json_agg and its like make the JSON of each
 * value in one step, which takes a tenth of a second for a document with a million parts. Values are told by their
 * identity, so only arguments that are columns are made ahead.
 */
import type { Turns } from "../../protocol/turns.js";
import { flattened, jsonPieces } from "../../values/json-value-pieces.js";
import { costLeft } from "../../values/value-cost.js";
import { JSON_TYPE, JSONB, Json, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import type { Variant } from "../../values/variant.js";
import { isList } from "../../values/variant-format.js";
import type { Batch } from "../expr/expr.js";
import { keepJson, keptJson, type MadeJson, toJson } from "../expr/functions/to-json.js";
import type { AggregateCall, OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { slotsOf } from "./slots.js";

/** Values with more parts are large. */
const LARGE_PARTS = 16_384;
/** Elements whose JSON is made in one go. */
const STEP_ELEMENTS = 2048;

const NESTED: ReadonlySet<string> = new Set(["jsonb", "array", "variant"]);

interface JsonColumn {
  readonly slot: number;
  readonly type: SqlType;
  /** The aggregate's value has a text, too. */
  readonly wantsText: boolean;
}

/** The input whose batches are given on when the JSON of large values that these calls take is made. */
export function withLargeJson(open: Open, columns: readonly OutputColumn[], calls: readonly AggregateCall[]): Open {
  const slotOf = slotsOf(columns);
  const taken = calls.flatMap(({ fn, args }): JsonColumn[] =>
    fn.takesJson !== true
      ? []
      : args.flatMap((arg) => {
          const slot = arg.kind === "column" && NESTED.has(arg.type.name) ? slotOf(arg.id) : -1;
          return slot < 0 ? [] : [{ slot, type: arg.type, wantsText: fn.returns === JSON_TYPE }];
        }),
  );
  return taken.length === 0 ? open : (context) => new LargeJsonOperator(taken, open(context), context);
}

class LargeJsonOperator implements Operator {
  constructor(
    private readonly columns: readonly JsonColumn[],
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    const pulled = this.input.next();
    return pulled instanceof Promise ? pulled.then((batch) => this.withJson(batch)) : this.withJson(pulled);
  }

  private withJson(batch: Batch | null): Pulled {
    if (batch === null) return null;
    const isAnyLarge = this.columns.some(({ slot }) => Array.prototype.some.call(batch.columns[slot], isLarge));
    return isAnyLarge ? this.makeJson(batch) : batch;
  }

  private async makeJson(batch: Batch): Promise<Batch> {
    for (const { slot, type, wantsText } of this.columns) {
      const values = batch.columns[slot]!;
      for (let row = 0; row < batch.length; row++) {
        const value = values[row]!;
        if (!isLarge(value)) continue;
        const kept = keptJson(type, value);
        if (kept !== undefined && (kept.text !== undefined || !wantsText)) continue;
        keepJson(value as object, await madeInTurns(type, value, wantsText, this.context));
      }
    }
    return batch;
  }

  close(): void {
    this.input.close();
  }
}

const isLarge = (value: unknown): boolean => costLeft(value, LARGE_PARTS) < 0;

/** What `toJson` and `jsonTextOf` give. */
export async function madeInTurns(type: SqlType, value: Value, wantsText: boolean, turns: Turns): Promise<MadeJson> {
  const json = await jsonInTurns(type, value, turns);
  if (!wantsText) return { type, json };
  const pieces: string[] = [];
  for (const piece of jsonPieces(JSONB, new Json(json))) {
    pieces.push(flattened(piece));
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return { type, json, text: pieces.join("") };
}

async function jsonInTurns(type: SqlType, value: Value, turns: Turns): Promise<unknown> {
  if (type.name === "array") {
    const { elements, dimensions } = value as SqlArray;
    if (dimensions.length === 1) return listInTurns(elements, (element) => toJson(type.element!, element), turns);
  }
  if (type.name === "variant" && isList(value as Variant)) {
    return listInTurns(value as readonly Value[], (item) => toJson(type, item), turns);
  }
  return toJson(type, value);
}

async function listInTurns(items: readonly Value[], convert: (item: Value) => unknown, turns: Turns): Promise<unknown> {
  const list: unknown[] = [];
  for (let at = 0; at < items.length; at++) {
    list.push(convert(items[at]!));
    if (at % STEP_ELEMENTS === 0 && turns.shouldYield()) await turns.yieldTurn();
  }
  return list;
}
