/**
 * JSON of large values, made in turns before an aggregate asks for it: json_agg and its like make the JSON of each
 * value in one step, which takes a tenth of a second for a document with a million parts. Values are told by their
 * identity, so only arguments that are columns are made ahead.
 */
import type { Turns } from "../../protocol/turns.js";
import { flattened, jsonbTextPieces } from "../../values/json-value-pieces.js";
import { nestArray } from "../../values/text-format-array.js";
import { costLeft } from "../../values/value-cost.js";
import { JSON_TYPE, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import type { Variant } from "../../values/variant.js";
import { isList } from "../../values/variant-format.js";
import type { Batch } from "../expr/expr.js";
import { bracketed, jsonTextOf, keepJson, keptJson, type MadeJson, toJson } from "../expr/functions/to-json.js";
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
        keepJson(value as object, await madeInTurns(type, value, wantsText, this.context, this.context.timeZone));
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
export async function madeInTurns(
  type: SqlType,
  value: Value,
  wantsText: boolean,
  turns: Turns,
  timeZone: string,
): Promise<MadeJson> {
  const list = listOf(type, value);
  if (list !== null) {
    const { items, itemType, nested } = list;
    const json = nested(await listInTurns(items, (item) => toJson(itemType, item, timeZone), turns));
    if (!wantsText) return { type, json };
    const texts = await listInTurns(items, (item) => jsonTextOf(itemType, item, timeZone), turns);
    return { type, json, text: bracketed(nested(texts), ",") };
  }
  const json = toJson(type, value, timeZone);
  if (!wantsText) return { type, json };
  if (type.name !== "jsonb") return { type, json, text: jsonTextOf(type, value, timeZone) };
  const pieces: string[] = [];
  for (const piece of jsonbTextPieces(json)) {
    pieces.push(flattened(piece));
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return { type, json, text: pieces.join("") };
}

interface List {
  readonly items: readonly Value[];
  readonly itemType: SqlType;
  /** What was made of the items, in the list's dimensions. */
  nested(made: readonly unknown[]): readonly unknown[];
}

function listOf(type: SqlType, value: Value): List | null {
  if (type.name === "array") {
    const array = value as SqlArray;
    const isFlat = array.dimensions.length === 1;
    const nested = (made: readonly unknown[]) =>
      isFlat ? made : nestArray({ ...array, elements: made as readonly Value[] }, (item) => item);
    return { items: array.elements, itemType: type.element!, nested };
  }
  if (type.name !== "variant" || !isList(value as Variant)) return null;
  return { items: value as readonly Value[], itemType: type, nested: (made) => made };
}

async function listInTurns<T>(
  items: readonly Value[],
  convert: (item: Value) => T,
  turns: Turns,
): Promise<readonly T[]> {
  const list: T[] = [];
  for (let at = 0; at < items.length; at++) {
    list.push(convert(items[at]!));
    if (at % STEP_ELEMENTS === 0 && turns.shouldYield()) await turns.yieldTurn();
  }
  return list;
}
