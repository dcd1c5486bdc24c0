/**
 * Values on their way to another process and back. A process that has to give way meanwhile sends and receives large
 * ones in parts: JSON as its text, lists as runs of items in V8's own format. Called by compute-elsewhere.ts.
 */

import { deserialize, serialize } from "node:v8";
import { giveWay, type Turns } from "../../protocol/turns.js";
import { jsonTextInTurns, LONG_JSON_CHARACTERS, writeInTurns } from "../../values/json-in-turns.js";
import { Numeric } from "../../values/numeric.js";
import { fromText, toText } from "../../values/text-format.js";
import { costLeft } from "../../values/value-cost.js";
import { JSON_TYPE, Json, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import { Float, type Variant } from "../../values/variant.js";
import { isList } from "../../values/variant-format.js";
import { atLength } from "./at-length.js";

/** Numbers, texts and bytes are themselves. */
export type Sent =
  | Exclude<Value, object>
  | Uint8Array
  | Float32Array
  | NumericForm
  /** In the text form of its type. */
  | { readonly text: string }
  /** JSON text; of `json` with the spaces that it came with. */
  | { readonly json: string }
  | { readonly array: Items; readonly dimensions: readonly number[]; readonly lowerBounds: readonly number[] }
  | { readonly list: Items }
  /** A variant that is neither list nor map: a run of one. */
  | { readonly one: Uint8Array }
  | { readonly keys: Items; readonly values: Items };

/** V8's format has integers of any length. */
type NumericForm = Pick<Numeric, "unscaled" | "scale" | "special">;

/**
 * Runs of items, serialised, and items that are large by themselves. `asText`: items of an array in the text form of
 * their type, numerics in theirs.
 */
interface Items {
  readonly parts: readonly (Uint8Array | Sent)[];
  readonly asText?: boolean;
}

/** Parts of values that are written or read at once. */
const PARTS_AT_ONCE = 2048;

/** Undefined: the value is, or holds, an object of a class that only this process knows. */
export async function sentValue(type: SqlType, value: Value, turns: Turns): Promise<Sent | undefined> {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array || value instanceof Float32Array) return value;
  if (value instanceof Json) return { json: value.text ?? value.compact ?? (await writeInTurns(value, turns)) };
  if (type.name === "variant") return sentVariant(value as Variant, turns);
  if (value instanceof Numeric) return numericForm(value);
  if (type.name !== "array") return { text: await atLength(turns, () => toText(type, value)) };
  const { elements, dimensions, lowerBounds } = value as SqlArray;
  const array = await sentElements(type.element as SqlType, elements, turns);
  return { array, dimensions, lowerBounds };
}

async function sentElements(type: SqlType, elements: readonly Value[], turns: Turns): Promise<Items> {
  const asText = elements.some((item) => typeof item === "object" && item !== null);
  const write = (item: Value): unknown => (asText ? elementForm(type, item) : item);
  const parts: Uint8Array[] = [];
  for (let from = 0; from < elements.length; ) {
    const to = endOfRun(elements, from);
    const run = elements.slice(from, to);
    parts.push(await atLength(turns, () => serialize(run.map(write))));
    from = to;
    await giveWay(turns);
  }
  return asText ? { parts, asText } : { parts };
}

function elementForm(type: SqlType, item: Value): string | NumericForm | null {
  if (item === null) return null;
  return item instanceof Numeric ? numericForm(item) : toText(type, item);
}

function numericForm({ unscaled, scale, special }: Numeric): NumericForm {
  return { unscaled, scale, special };
}

function ofNumericForm({ unscaled, scale, special }: NumericForm): Numeric {
  return special === null ? Numeric.of(unscaled, scale) : Numeric.parse(special);
}

/** The next items that are sent together: few parts, or one item. */
function endOfRun(items: readonly unknown[], from: number): number {
  let left = costLeft(items[from], PARTS_AT_ONCE);
  let to = from + 1;
  while (to < items.length && left > 0) {
    left = costLeft(items[to], left);
    if (left >= 0) to++;
  }
  return to;
}

async function sentVariant(value: Variant, turns: Turns): Promise<Sent | undefined> {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const list = await sentItems(value, turns);
    return list === undefined ? undefined : { list };
  }
  if (!(value instanceof Map)) {
    const one = serializedRun([value]);
    return one === undefined ? undefined : { one };
  }
  const members = value as ReadonlyMap<string, Variant>;
  const keys = await sentItems([...members.keys()], turns);
  const values = await sentItems([...members.values()], turns);
  return keys === undefined || values === undefined ? undefined : { keys, values };
}

async function sentItems(items: readonly Variant[], turns: Turns): Promise<Items | undefined> {
  const parts: (Uint8Array | Sent)[] = [];
  for (let from = 0; from < items.length; ) {
    const to = endOfRun(items, from);
    const first = items[from]!;
    const isLarge = to === from + 1 && typeof first === "object" && costLeft(first, PARTS_AT_ONCE) < 0;
    const part = isLarge ? await sentVariant(first, turns) : serializedRun(items.slice(from, to));
    if (part === undefined) return undefined;
    parts.push(part);
    from = to;
    await giveWay(turns);
  }
  return { parts };
}

function serializedRun(run: readonly Variant[]): Uint8Array | undefined {
  const plain = run.map(plainForm);
  return plain.includes(undefined) ? undefined : serialize(plain);
}

/** What V8's format keeps: floats become objects, since nothing else does. Undefined: an object of another class. */
function plainForm(value: Variant): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Float) return { float: value.value };
  if (isList(value)) {
    const items = value.map(plainForm);
    return items.includes(undefined) ? undefined : items;
  }
  if (!(value instanceof Map)) return undefined;
  const members = [...(value as ReadonlyMap<string, Variant>)].map(([key, item]) => [key, plainForm(item)] as const);
  return members.some(([, item]) => item === undefined) ? undefined : new Map(members);
}

function ofPlainForm(plain: unknown): Variant {
  if (typeof plain !== "object" || plain === null) return plain as Variant;
  if (Array.isArray(plain)) return plain.map(ofPlainForm);
  if (!(plain instanceof Map)) return new Float((plain as { readonly float: number }).float);
  return new Map([...plain].map(([key, item]) => [key, ofPlainForm(item)]));
}

/** The value again, on the other side. */
export async function receivedValue(type: SqlType, sent: Sent, turns: Turns): Promise<Value> {
  if (typeof sent !== "object" || sent === null) return sent;
  if (ArrayBuffer.isView(sent)) return sent;
  if ("unscaled" in sent) return atLength(turns, () => ofNumericForm(sent));
  if ("text" in sent) return atLength(turns, () => fromText(type, sent.text));
  if ("json" in sent) return receivedJson(type, sent.json, turns);
  if ("array" in sent) {
    const { array, dimensions, lowerBounds } = sent;
    return { elements: await receivedItems(type.element as SqlType, array, turns), dimensions, lowerBounds };
  }
  if ("one" in sent) return ofPlainForm((deserialize(sent.one) as unknown[])[0]);
  if ("list" in sent) return receivedItems(type, sent.list, turns);
  const keys = (await receivedItems(type, sent.keys, turns)) as string[];
  const values = await receivedItems(type, sent.values, turns);
  return new Map(keys.map((key, i) => [key, values[i] as Variant]));
}

async function receivedJson(type: SqlType, text: string, turns: Turns): Promise<Json> {
  const keepsText = type === JSON_TYPE;
  const value = await jsonTextInTurns(text, keepsText, turns);
  const json = new Json(value, keepsText ? text : undefined);
  if (!keepsText && text.length > LONG_JSON_CHARACTERS) json.compact = text;
  return json;
}

async function receivedItems(type: SqlType, { parts, asText }: Items, turns: Turns): Promise<Value[]> {
  const items: Value[] = [];
  const ofText = (item: unknown): Value => {
    if (item === null) return null;
    return typeof item === "string" ? fromText(type, item) : ofNumericForm(item as NumericForm);
  };
  const read = type.name === "variant" ? ofPlainForm : asText === true ? ofText : (item: unknown) => item as Value;
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      const run = deserialize(part) as unknown[];
      for (const item of await atLength(turns, () => run.map(read))) items.push(item);
    } else items.push(await receivedValue(type, part, turns));
    await giveWay(turns);
  }
  return items;
}
