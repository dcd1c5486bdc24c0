/**
 * Large JSON values on their way out of tables and into them. Storage gives them as text; here they are parsed in turns
 * before an expression asks for them, and made text in turns before they are stored. Each takes a tenth of a second for
 * a document of 5 MB.
 */
import { isUnwritten, LONG_JSON_CHARACTERS, parseInTurns, writeInTurns } from "../../values/json-in-turns.js";
import { Json } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn } from "../plan/plan.js";
import { AroundOperator } from "./around-operator.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { Chunk, valuesOfBatch } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";
import { EncodedDictionary } from "./segments/encoded-column.js";
import { FromThread } from "./threads/read-threads.js";

interface Work {
  isDue(json: Json): boolean;
  run(json: Json, context: ExecContext): Promise<unknown>;
}

const PARSING: Work = { isDue: (json) => json.unparsed !== undefined, run: parseInTurns };
const WRITING: Work = { isDue: isUnwritten, run: writeInTurns };

/** The rows of a table with their JSON parsed. */
export function withParsedJson(open: Open, columns: readonly OutputColumn[]): Open {
  return withWork(open, jsonSlots(columns), PARSING);
}

/** Rows that are to be stored, with the text of their JSON. */
export function withWrittenJson(open: Open, columns: readonly OutputColumn[]): Open {
  return withWork(open, jsonSlots(columns), WRITING);
}

function jsonSlots(columns: readonly OutputColumn[]): readonly number[] {
  return columns.flatMap(({ type }, slot) => (type.name === "jsonb" || type.name === "json" ? [slot] : []));
}

function withWork(open: Open, slots: readonly number[], work: Work): Open {
  return slots.length === 0 ? open : (context) => new LargeDocuments(slots, work, open(context), context);
}

class LargeDocuments extends AroundOperator {
  constructor(
    private readonly slots: readonly number[],
    private readonly work: Work,
    input: Operator,
    private readonly context: ExecContext,
  ) {
    super(input);
  }

  next(): Pulled {
    const pulled = this.operator.next();
    return pulled instanceof Promise ? pulled.then((batch) => this.ready(batch)) : this.ready(pulled);
  }

  private ready(batch: Batch | null): Pulled {
    if (batch === null || batch instanceof FromThread) return batch;
    if (!(batch instanceof Chunk)) return this.readyIn(batch, batch, this.slots);
    const slots = this.slots.filter((slot) => !isEncoded(batch.vectors[slot]!));
    // Each reader of an encoded value gets one of its own, unless the values are made here.
    if (slots.length < this.slots.length && this.work === PARSING && this.slots.some((slot) => hasLong(batch, slot)))
      return this.ready(valuesOfBatch(batch));
    return slots.length === 0 ? batch : this.readyIn(batch, batch.only(slots), slots);
  }

  private readyIn(batch: Batch, read: Batch, slots: readonly number[]): Pulled {
    const due: Json[] = [];
    for (const slot of slots) {
      const values = read.columns[slot]!;
      for (let row = 0; row < read.length; row++) {
        const value = values[row];
        if (value instanceof Json && this.work.isDue(value)) due.push(value);
      }
    }
    return due.length === 0 ? batch : this.workOff(due, batch);
  }

  private async workOff(due: readonly Json[], batch: Batch): Promise<Batch> {
    for (const json of due) await this.work.run(json, this.context);
    return batch;
  }
}

/** Its values are stored as their text, and dictionaries have no long ones. */
const isEncoded = (column: Column): boolean => column.kind === "encoded" || column instanceof EncodedDictionary;

function hasLong({ vectors, selections, length }: Chunk, slot: number): boolean {
  const column = vectors[slot]!;
  if (column.kind !== "encoded") return false;
  const { offsets } = column.payloads;
  const { rows, from } = selections[slot]!;
  if (rows === null && offsets[from + length]! - offsets[from]! <= LONG_JSON_CHARACTERS) return false;
  for (let i = 0; i < length; i++) {
    const row = rows === null ? from + i : rows[i]!;
    if (offsets[row + 1]! - offsets[row]! > LONG_JSON_CHARACTERS) return true;
  }
  return false;
}
