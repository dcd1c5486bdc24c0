/**
 * The rows of a statement that ran, until the client has pulled or discarded them. Those of a query that changes
 * nothing are read from a cursor as they are asked for; others were made when the statement ran.
 */
import { PackWriter } from "../../protocol/bolt/pack-writer.js";
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import { Overrun } from "../../protocol/stretch.js";
import type { Batch } from "../../query/expr/expr.js";
import { afterOverrun } from "../../session/overrun.js";
import type { Session } from "../../session/session.js";
import { UNNAMED_PORTAL } from "../../session/session-cursors.js";
import type { ResultShape, RowCollector, Rows } from "../../session/sql-result.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import type { Client, StatementRun } from "../../session/statement-run.js";
import { rowWriter, type WriteRow } from "./row-writer.js";
import type { Dialect } from "./value-writer.js";

/** Rows that are read from a cursor at once. */
const ROWS_AT_ONCE = 1000;
/** From so many bytes on rows leave. */
const PIECE_BYTES = 64 * 1024;

/** Where rows are written; null: they are discarded. */
export interface RowSink {
  readonly writer: PackWriter;
  /** Sends what was written. */
  flush(): Promise<void>;
}

export interface OpenResult {
  readonly fieldNames: readonly string[];
  /** There were rows. */
  readonly hasRows: boolean;
  /** Bytes of rows that wait here to be pulled. */
  readonly keptBytes: number;
  /** Gives the next `count` rows to the sink; answers whether there are more. */
  take(count: number, sink: RowSink | null): boolean | Promise<boolean>;
  /** The rest is not wanted. */
  close(): void;
}

/** Rows of a statement that has run, as finished messages. */
export class KeptRows implements OpenResult {
  hasRows = false;
  private readonly writer = new PackWriter();
  private shape: ResultShape | null = null;
  /** Where each row ends. */
  private ends: number[] = [];
  private bytes: Buffer | null = null;
  private next = 0;

  constructor(private readonly dialect: Dialect) {}

  get fieldNames(): readonly string[] {
    return this.shape?.outputs.map(({ name }) => name) ?? [];
  }

  get keptBytes(): number {
    return this.ends.at(-1) ?? 0;
  }

  readonly collector: RowCollector = (shape): Rows => {
    this.shape = shape;
    this.writer.cut(0);
    this.ends = [];
    const write = rowWriter(shape.outputs, this.dialect);
    return {
      append: ({ columns }, count) => {
        const before = this.writer.length;
        for (let row = 0; row < count; row++) {
          write(this.writer, columns, row);
          this.ends.push(this.writer.length);
        }
        if (this.writer.length > RESULT_BYTES_MAX) throw resultTooLarge();
        return this.writer.length - before;
      },
    };
  };

  /** The statement has no rows of its own: what was written is the text of a command. */
  discard(): void {
    this.shape = null;
    this.ends = [];
  }

  async take(count: number, sink: RowSink | null): Promise<boolean> {
    this.bytes ??= this.writer.take();
    this.hasRows ||= this.ends.length > 0;
    const until = Math.min(this.ends.length, this.next + count);
    while (sink !== null && this.next < until) {
      const from = this.next === 0 ? 0 : this.ends[this.next - 1]!;
      while (this.next < until && this.ends[this.next]! - from < PIECE_BYTES) this.next++;
      if (this.next < until) this.next++;
      sink.writer.finished(this.bytes.subarray(from, this.ends[this.next - 1]));
      if (sink.writer.length >= PIECE_BYTES) await sink.flush();
    }
    this.next = until;
    return until < this.ends.length;
  }

  close(): void {
    this.bytes = null;
    this.ends = [];
  }
}

export interface CursorSource {
  readonly session: Session;
  readonly client: Client;
  readonly dialect: Dialect;
  readonly number: number;
}

/** Rows that a cursor of the session reads. */
export class CursorRows implements OpenResult {
  hasRows = false;
  readonly keptBytes = 0;
  private readonly name: string;
  private write: WriteRow;
  private readonly pending = new PackWriter();

  constructor(
    private readonly source: CursorSource,
    private plan: StatementPlan,
    private run: StatementRun,
  ) {
    this.name = `${UNNAMED_PORTAL}bolt ${source.number}>`;
    this.write = rowWriter(plan.shape!.outputs, source.dialect);
    this.open();
  }

  get fieldNames(): readonly string[] {
    return this.plan.shape!.outputs.map(({ name }) => name);
  }

  private open(): void {
    this.source.session.protocol.openCursor(this.name, this.plan, this.run);
  }

  async take(count: number, sink: RowSink | null): Promise<boolean> {
    let left = count;
    for (;;) {
      // One more than is wanted tells whether there are more.
      left -= this.givePending(left, sink);
      const wanted = Math.min(left, ROWS_AT_ONCE);
      if (wanted === 0) return true;
      const rows = await this.fetch(wanted + 1, wanted, sink);
      if (rows <= wanted) return false;
      left -= wanted;
      if (sink !== null && sink.writer.length >= PIECE_BYTES) await sink.flush();
    }
  }

  /** The row that was read to know that there is one. Answers how many were given. */
  private givePending(left: number, sink: RowSink | null): number {
    if (this.pending.length === 0 || left === 0) return 0;
    const bytes = this.pending.take();
    sink?.writer.finished(bytes);
    return 1;
  }

  private async fetch(count: number, given: number, sink: RowSink | null): Promise<number> {
    let at = 0;
    const take = ({ columns, length }: Batch): void => {
      for (let row = 0; row < length; row++, at++) {
        const writer = at < given ? sink?.writer : this.pending;
        if (writer !== undefined) this.write(writer, columns, row);
      }
    };
    const { session, client } = this.source;
    try {
      const rows = await session.protocol.fetchCursor(this.name, count, take, client);
      this.hasRows ||= rows > 0;
      return rows;
    } catch (error) {
      if (this.hasRows || !this.replans(error)) throw error;
      return this.fetch(count, given, sink);
    }
  }

  /** It computed too long without giving way, and is planned so that it can. False: that is not why it failed. */
  private replans(error: unknown): boolean {
    if (!(error instanceof Overrun)) return false;
    const again = afterOverrun(error, this.plan, this.run);
    if (again === null) return false;
    const { session } = this.source;
    session.protocol.forgiveFailure();
    this.close();
    this.run = again;
    this.plan = session.protocol.planText(again);
    this.open();
    return true;
  }

  close(): void {
    this.source.session.protocol.closeCursor(this.name);
  }
}
