/**
 * Makes keys of large values in turns before an operator asks for them. Operators that group rows by keys (GROUP BY,
 * DISTINCT, set operations, hash joins) make each key in one go, and the key of a list of a million members takes a
 * third of a second. Values are recognised by identity, so only keys that are columns are made ahead. Rows whose values
 * have many parts together come in smaller batches. So do rows with long texts, which are their own keys.
 */

import { compareText } from "../../values/compare-text.js";
import { costLeft } from "../../values/value-cost.js";
import { Json, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import type { Variant, VariantMap } from "../../values/variant.js";
import { isList, tooDeep, VARIANT_DEPTH_MAX } from "../../values/variant-format.js";
import { compareKeys, jsonKey, keepKey, keptKey, untypedKey } from "../expr/compare.js";
import type { Batch, Expr } from "../expr/expr.js";
import { COMPOSED, variantKeyPart } from "../expr/variant-order.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled, SegmentBound } from "./operator.js";
import { Chunk, valuesOfBatch } from "./segments/chunk.js";
import type { WantedKeys } from "./segments/key-set.js";
import { slotsOf } from "./slots.js";
import { sortRows } from "./sort-rows.js";
import { FromThread, type ThreadWork } from "./threads/read-threads.js";

/** Values with more parts are large. Those of one batch have no more together. */
const LARGE_PARTS = 16_384;
/** Members whose keys are put together in one go. */
const STEP_MEMBERS = 2048;

/** Characters of keys in one batch. */
const BATCH_CHARACTERS = 512 * 1024;
/** A dictionary's entries are looked at when the first of its chunks comes. */
const LONG_DICTIONARY_BYTES = 4 * 1024 * 1024;

const NESTED: ReadonlySet<string> = new Set(["jsonb", "array", "record", "variant"]);
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "citext", "unknown"]);

interface KeyColumn {
  readonly slot: number;
  readonly type: SqlType;
}

/** The input whose batches are given on when the keys of large values in these columns are made. */
export function withLargeKeys(open: Open, columns: readonly OutputColumn[], keys: readonly Expr[]): Open {
  const slotOf = slotsOf(columns);
  const columnsOf = (types: ReadonlySet<string>) =>
    keys.flatMap((key): KeyColumn[] => {
      const slot = key.kind === "column" && types.has(key.type.name) ? slotOf(key.id) : -1;
      return slot < 0 ? [] : [{ slot, type: key.type }];
    });
  const nested = columnsOf(NESTED);
  const texts = columnsOf(TEXTS).map(({ slot }) => slot);
  const ready: Open = nested.length === 0 ? open : (context) => new LargeKeysOperator(nested, open(context), context);
  return texts.length === 0 ? ready : (context) => new LongTextsOperator(texts, ready(context), context);
}

/** Gives batches on in parts. */
abstract class PartsOperator implements Operator {
  private batch: Batch | null = null;
  private from = 0;

  constructor(
    protected readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    const { batch, context } = this;
    if (batch !== null) {
      if (!context.shouldYield()) return this.ready(this.part(batch));
      return context.yieldTurn().then(() => this.ready(this.part(batch)));
    }
    const pulled = this.input.next();
    return pulled instanceof Promise ? pulled.then((batch) => this.begin(batch)) : this.begin(pulled);
  }

  protected abstract begin(batch: Batch | null): Pulled;

  /** Where the part ends that begins with this row. */
  protected abstract endFrom(batch: Batch, from: number): number;

  /** What is given on for a part. */
  protected ready(part: Batch): Pulled {
    return part;
  }

  protected first(batch: Batch): Pulled {
    if (this.endFrom(batch, 0) === batch.length) return this.ready(batch);
    this.from = 0;
    return this.ready(this.part(batch));
  }

  private part(batch: Batch): Batch {
    const { from } = this;
    const to = this.endFrom(batch, from);
    this.batch = to === batch.length ? null : batch;
    this.from = to;
    const columns = batch.columns.map((values) => Array.prototype.slice.call(values, from, to));
    return { columns, length: to - from };
  }

  close(): void {
    this.input.close();
  }
}

/** Gives on batches whose texts in these slots have few characters together, or one row. */
class LongTextsOperator extends PartsOperator {
  constructor(
    private readonly slots: readonly number[],
    input: Operator,
    context: ExecContext,
  ) {
    super(input, context);
  }

  acceptChunks(): void {
    this.input.acceptChunks?.();
  }

  acceptBound(bound: SegmentBound): void {
    this.input.acceptBound?.(bound);
  }

  acceptKeys(keys: WantedKeys): void {
    this.input.acceptKeys?.(keys);
  }

  acceptThreads(work: ThreadWork): void {
    this.input.acceptThreads?.(work);
  }

  protected begin(batch: Batch | null): Pulled {
    if (batch === null || batch instanceof FromThread) return batch;
    if (batch instanceof Chunk) {
      if (!this.slots.some((slot) => hasLongTexts(batch, slot))) return batch;
      return this.begin(valuesOfBatch(batch));
    }
    return this.first(batch);
  }

  protected endFrom({ columns, length }: Batch, from: number): number {
    let left = BATCH_CHARACTERS;
    for (let row = from; row < length; row++) {
      for (const slot of this.slots) {
        const value = columns[slot]![row];
        if (typeof value === "string") left -= value.length;
      }
      if (left < 0) return Math.max(row, from + 1);
    }
    return length;
  }
}

/** The chunk's rows, or its column's dictionary, have so many bytes of texts that a look at all of them takes long. */
function hasLongTexts({ vectors, selections, length }: Chunk, slot: number): boolean {
  const column = vectors[slot]!;
  if (column.kind === "dictionary") return (column.entries?.data.length ?? column.bytes) > LONG_DICTIONARY_BYTES;
  if (column.kind !== "text") return false;
  const { offsets } = column;
  const { rows, from } = selections[slot]!;
  if (rows === null) return offsets[from + length]! - offsets[from]! > BATCH_CHARACTERS;
  let bytes = 0;
  for (let i = 0; i < length; i++) bytes += offsets[rows[i]! + 1]! - offsets[rows[i]!]!;
  return bytes > BATCH_CHARACTERS;
}

/** Gives on batches whose values in these columns have few parts together, or one row, whose keys are there then. */
class LargeKeysOperator extends PartsOperator {
  private readonly keys: LargeKeys;

  constructor(
    private readonly columns: readonly KeyColumn[],
    input: Operator,
    context: ExecContext,
  ) {
    super(input, context);
    this.keys = new LargeKeys(context);
  }

  protected begin(batch: Batch | null): Pulled {
    return batch === null ? null : this.first(batch);
  }

  protected endFrom({ columns, length }: Batch, from: number): number {
    let left = LARGE_PARTS;
    for (let row = from; row < length; row++) {
      for (const { slot } of this.columns) left = costLeft(columns[slot]![row], left);
      if (left < 0) return Math.max(row, from + 1);
    }
    return length;
  }

  protected override ready(part: Batch): Pulled {
    const isAnyLarge = part.length === 1 && this.columns.some(({ slot }) => isLarge(part.columns[slot]![0]));
    return isAnyLarge ? this.keepKeys(part) : part;
  }

  private async keepKeys(batch: Batch): Promise<Batch> {
    for (const { slot, type } of this.columns) {
      const values = batch.columns[slot]!;
      for (let row = 0; row < batch.length; row++) {
        const value = values[row]!;
        if (isLarge(value) && keptKey(value) === undefined) keepKey(value as object, await this.keys.of(type, value));
      }
    }
    return batch;
  }
}

const isLarge = (value: unknown): boolean => costLeft(value, LARGE_PARTS) < 0;

type Key = string | Promise<string>;

/** The keys that `hashKeyOf` gives, in turns where a value is large. */
export class LargeKeys {
  constructor(private readonly context: Pick<ExecContext, "checkpoint" | "shouldYield" | "yieldTurn">) {}

  of(type: SqlType, value: Value): Key {
    if (type.name === "jsonb") return this.json((value as Json).value);
    return type.name === "variant" ? this.composed(value as Variant) : this.untyped(value);
  }

  private json(value: unknown): Key {
    if (!isLarge(value) || typeof value !== "object") return jsonKey(value);
    return Array.isArray(value)
      ? this.list("[", value, (member) => this.json(member), ",", "]")
      : this.jsonObject(value as Readonly<Record<string, unknown>>);
  }

  private async jsonObject(object: Readonly<Record<string, unknown>>): Promise<string> {
    const names = await this.sorted(Object.keys(object), compareKeys);
    return this.list("{", names, (name) => joined(`${JSON.stringify(name)}:`, this.json(object[name])), ",", "}");
  }

  private async composed(value: Variant): Promise<string> {
    return COMPOSED + (await this.variant(value, 0));
  }

  private variant(value: Variant, depth: number): Key {
    if (!isLarge(value)) return variantKeyPart(value, depth);
    if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
    const inner = (item: Variant) => this.variant(item, depth + 1);
    if (isList(value)) return this.list("[", value, inner, "", "]");
    return value instanceof Map ? this.variantMap(value, inner) : variantKeyPart(value, depth);
  }

  private async variantMap(map: VariantMap, inner: (value: Variant) => Key): Promise<string> {
    const names = await this.sorted([...map.keys()], compareText);
    return this.list("{", names, (name) => joined(`${name.length}:${name}`, inner(map.get(name)!)), "", "}");
  }

  private untyped(value: Value): Key {
    if (!isLarge(value) || typeof value !== "object" || value === null) return untypedKey(value);
    const inner = (member: Value) => this.untyped(member);
    if (Array.isArray(value)) return this.list("(", value as readonly Value[], inner, ",", ")");
    if (value instanceof Json) return this.json(value.value);
    if (!("elements" in value)) return untypedKey(value);
    const { elements, dimensions, lowerBounds } = value as SqlArray;
    return this.list(`{${dimensions.join("x")}@${lowerBounds.join()}:`, elements, inner, ",", "}");
  }

  private async list<Member>(
    open: string,
    members: readonly Member[],
    keyOf: (member: Member) => Key,
    separator: string,
    close: string,
  ): Promise<string> {
    const { context } = this;
    const pieces: string[] = [];
    for (let at = 0; at < members.length; at += STEP_MEMBERS) {
      const keys: string[] = [];
      for (const member of members.slice(at, at + STEP_MEMBERS)) {
        const key = keyOf(member);
        keys.push(typeof key === "string" ? key : await key);
      }
      pieces.push(keys.join(separator));
      context.checkpoint();
      if (context.shouldYield()) await context.yieldTurn();
    }
    return open + pieces.join(separator) + close;
  }

  private async sorted(names: readonly string[], order: (a: string, b: string) => number): Promise<readonly string[]> {
    const places = await sortRows(this.context, names.length, (a, b) => order(names[a]!, names[b]!));
    return Array.from(places, (place) => names[place]!);
  }
}

function joined(before: string, key: Key): Key {
  return typeof key === "string" ? before + key : key.then((text) => before + text);
}
