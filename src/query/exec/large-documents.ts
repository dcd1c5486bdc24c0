/**
 * Large JSON values on their way out of tables and into them. Storage gives them as text; here they are parsed in turns
 * before an expression asks for them, and made text in turns before they are stored. Each takes a tenth of a second for
 * a document of 5 MB.
 */
import { isUnwritten, parseInTurns, writeInTurns } from "../../values/json-in-turns.js";
import { Json } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { Chunk } from "./segments/chunk.js";

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

class LargeDocuments implements Operator {
  constructor(
    private readonly slots: readonly number[],
    private readonly work: Work,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  acceptChunks(): void {
    this.input.acceptChunks?.();
  }

  expectRows(rows: number): void {
    this.input.expectRows?.(rows);
  }

  passOver(rows: number): boolean {
    return this.input.passOver?.(rows) === true;
  }

  next(): Pulled {
    const pulled = this.input.next();
    return pulled instanceof Promise ? pulled.then((batch) => this.ready(batch)) : this.ready(pulled);
  }

  private ready(batch: Batch | null): Pulled {
    if (batch === null) return null;
    const read = batch instanceof Chunk ? batch.only(this.slots) : batch;
    const due: Json[] = [];
    for (const slot of this.slots) {
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

  close(): void {
    this.input.close();
  }
}
