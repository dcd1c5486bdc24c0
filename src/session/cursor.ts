/**
 * One cursor: a query that has run as far as its client has fetched. It sees what its transaction saw when it was
 * declared. Rows that may be wanted again are kept, others only until they are fetched. Owned by session-cursors.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { ExecContext } from "../query/exec/context.js";
import { after, type Operator } from "../query/exec/operator.js";
import { emptyColumns, RowBuffer } from "../query/exec/row-buffer.js";
import type { Batch } from "../query/expr/expr.js";
import type { BoundFetch } from "../sql/bind/bound-statement.js";
import type { CursorTable } from "../sql/bind/cursor-tables.js";
import type { Value } from "../values/values.js";
import type { StatementPlan } from "./statement-plan.js";

/** Takes fetched rows. */
export type TakeRows = (batch: Batch) => void;

export interface CursorOptions {
  readonly name: string;
  readonly sql: string;
  readonly hold: boolean;
  readonly binary: boolean;
  /** SCROLL or NO SCROLL; null: neither. */
  readonly scroll: boolean | null;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

export class Cursor {
  readonly canScroll: boolean;
  /** Savepoints that were open when it was declared; null: it outlived its transaction. */
  depth: number | null;
  /** A loop of a function reads it: it outlives its transaction. */
  isPinned = false;
  /** A fetch ended in an error; nothing can be fetched any more. */
  private failed = false;
  /** A fetch is waiting for rows. */
  private isRunning = false;
  /** 0: before the first row; one more than there are rows: after the last. */
  private position = 0;
  private operator: Operator | null;
  private readonly rows: RowBuffer;
  /** How many rows came before those in `rows`. */
  private dropped = 0;
  /** Of the row that it stands on, what tells it in its tables; null: it stands on none, or nothing tells its rows. */
  private currentParts: readonly Value[] | null = null;
  /** Columns of the result; those that follow tell the row. */
  private readonly width: number;
  private keepsAll: boolean;

  constructor(
    readonly options: CursorOptions,
    readonly plan: StatementPlan,
    private readonly context: ExecContext,
    depth: number,
  ) {
    this.depth = depth;
    const { program } = plan;
    // Without a word about it a cursor can go back where running the plan again gives the same rows in the same order.
    this.canScroll = options.scroll ?? true;
    this.keepsAll = options.scroll === true;
    this.width = program!.columns.length - this.tables.reduce((sum, { parts }) => sum + parts.length, 0);
    this.rows = new RowBuffer(program!.columns, context);
    this.operator = program!.open(context);
  }

  /** Gives the rows to `take` and moves; answers how many there were. Throws 55000. */
  fetch({ direction, count }: BoundFetch, take: TakeRows): number | Promise<number> {
    if (this.failed) throw sqlError("55000", `portal "${this.options.name}" cannot be run`);
    try {
      const fetched = this.go(direction, count, take);
      if (!(fetched instanceof Promise)) return fetched;
      this.isRunning = true;
      const done = (number: number) => {
        this.isRunning = false;
        return number;
      };
      return fetched.then(done, (error) => this.fail(error));
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(error: unknown): never {
    this.failed = true;
    this.isRunning = false;
    this.close();
    throw error;
  }

  private go(direction: BoundFetch["direction"], count: number, take: TakeRows): number | Promise<number> {
    switch (direction) {
      case "forward":
        if (count === 0) return this.at(this.position, take);
        return count > 0 ? this.forward(count, take) : this.backward(-count, take);
      case "backward":
        if (count === 0) return this.at(this.position, take);
        return count > 0 ? this.backward(count, take) : this.forward(-count, take);
      case "absolute":
        if (count >= 0) return this.at(count, take);
        return after(this.fill(Number.POSITIVE_INFINITY), () => {
          const length = this.length;
          this.position = length + 1;
          return this.at(Math.max(0, length + 1 + count), take);
        });
      case "relative":
        return this.at(Math.max(0, this.position + count), take);
    }
  }

  private forward(count: number, take: TakeRows): number | Promise<number> {
    const from = this.position;
    return after(this.fill(from + count), () => {
      const there = Math.max(0, Math.min(count, this.length - from));
      this.give(from + 1, there, 1, take);
      this.position = there < count ? this.length + 1 : from + there;
      this.forget();
      return there;
    });
  }

  private backward(count: number, take: TakeRows): number | Promise<number> {
    return after(this.rewind(), () => {
      const there = Math.max(0, Math.min(count, this.position - 1));
      this.give(this.position - 1, there, -1, take);
      this.position = there < count ? 0 : this.position - there;
      return there;
    });
  }

  /** The row with this number, which the cursor then stands on. */
  private at(target: number, take: TakeRows): number | Promise<number> {
    const isBack = target <= this.position && this.position > 0;
    return after(isBack ? this.rewind() : undefined, () =>
      after(this.fill(target), () => {
        const isRow = target > 0 && target <= this.length;
        if (isRow) this.give(target, 1, 1, take);
        this.position = isRow ? target : target === 0 ? 0 : this.length + 1;
        this.forget();
        return isRow ? 1 : 0;
      }),
    );
  }

  /** Rows that were read so far; all there are once the operator has ended. */
  private get length(): number {
    return this.dropped + this.rows.length;
  }

  /** Reads until the row with this number is there, or there are no more. */
  private fill(upTo: number): void | Promise<void> {
    while (this.operator !== null && this.length < upTo) {
      const batch = this.operator.next();
      if (batch instanceof Promise) {
        return batch.then((arrived) => {
          this.add(arrived);
          return this.fill(upTo);
        });
      }
      this.add(batch);
    }
  }

  private add(batch: Batch | null): void {
    if (batch !== null) {
      this.rows.append(batch);
      return;
    }
    this.operator!.close();
    this.operator = null;
  }

  /** Makes the rows up to here available again. Throws 55000 for a cursor that only goes forward. */
  private rewind(): void | Promise<void> {
    if (!this.canScroll) {
      throw sqlError("55000", "cursor can only scan forward", {
        hint: "Declare it with SCROLL option to enable backward scan.",
      });
    }
    if (this.dropped === 0) {
      this.keepsAll = true;
      return;
    }
    const { length } = this;
    this.operator?.close();
    this.rows.clear();
    this.dropped = 0;
    this.keepsAll = true;
    this.operator = this.plan.program!.open(this.context);
    return this.fill(length);
  }

  /** What takes it back to where it stands now. It keeps its rows from here on, so that they need not be read again. */
  mark(): () => void {
    const { position, currentParts } = this;
    this.keepsAll = true;
    return () => {
      this.position = position;
      this.currentParts = currentParts;
    };
  }

  /** Rows that were fetched are not needed any more, unless the client may go back. */
  private forget(): void {
    if (this.keepsAll || this.rows.length === 0 || this.position < this.length) return;
    this.dropped += this.rows.length;
    this.rows.clear();
  }

  /** The rows from number `first` on, upwards or downwards. */
  private give(first: number, count: number, step: 1 | -1, take: TakeRows): void {
    if (count === 0) return;
    const numbers = Array.from({ length: count }, (_, i) => first - 1 - this.dropped + i * step);
    const rows = this.rows.gather(numbers, 0, count, emptyColumns(this.rows.columns.length));
    if (this.tables.length > 0) this.currentParts = rows.columns.slice(this.width).map((column) => column[count - 1]!);
    take(this.tables.length === 0 ? rows : { ...rows, columns: rows.columns.slice(0, this.width) });
  }

  /** The tables whose rows WHERE CURRENT OF may change. */
  private get tables(): readonly CursorTable[] {
    const { bound } = this.plan;
    return bound.kind === "declare cursor" ? (bound.statement.cursorTables ?? []) : [];
  }

  /** A part of what tells the row that it stands on. Throws 24000. */
  currentPart(table: string, tableId: number, part: number): Value {
    const { name } = this.options;
    if (this.depth === null) throw sqlError("24000", `cursor "${name}" is held from a previous transaction`);
    if (this.tables.filter((each) => each.tableId === tableId).length > 1) {
      throw sqlError("24000", `cursor "${name}" has multiple FOR UPDATE/SHARE references to table "${table}"`);
    }
    let at = 0;
    for (const each of this.tables) {
      const place = each.parts.indexOf(part);
      if (each.tableId !== tableId || place < 0) {
        at += each.parts.length;
        continue;
      }
      const isOnRow = this.position > 0 && this.position <= this.length && this.currentParts !== null;
      const value = isOnRow ? this.currentParts![at + place]! : null;
      if (value === null) throw sqlError("24000", `cursor "${name}" is not positioned on a row`);
      return value;
    }
    throw sqlError("24000", `cursor "${name}" is not a simply updatable scan of table "${table}"`, {
      hint: "Declare it for a query of that table alone, without grouping, or FOR UPDATE.",
    });
  }

  /**
   * WITH HOLD, at the end of the transaction: reads the remaining rows, so that the transaction is no longer needed.
   */
  hold(): void | Promise<void> {
    this.depth = null;
    return after(this.canScroll ? this.rewind() : undefined, () => {
      this.keepsAll = true;
      return this.fill(Number.POSITIVE_INFINITY);
    });
  }

  /** A fetch that is under way ends in an error first: its transaction was ended from outside. */
  close(): void {
    if (this.isRunning) return;
    this.operator?.close();
    this.operator = null;
    this.rows.clear();
  }
}
