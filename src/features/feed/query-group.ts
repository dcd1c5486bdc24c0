/**
 * All subscriptions to one query. A client gets the answer, then what is added, removed and changed as the data
 * changes. If the changes follow from the changed rows, only they are computed (query-delta.ts, aggregate-delta.ts).
 * Otherwise the query runs again, soon but not for every commit, and the two answers are compared. The newest answer is
 * kept for that comparison and for clients that join later. Made by query-subscriptions.ts with its first member.
 */
import { DbError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { jsonWriter } from "../../values/json-format.js";
import {
  type AnswerDelta,
  type AnswerRows,
  type Difference,
  differenceOf,
  orderedDifferenceOf,
  type WriteRow,
} from "./answer-delta.js";
import type { ChangeForm } from "./change-form.js";
import type { Member } from "./change-group.js";
import type { ChangedRow, TableEvent } from "./row-change.js";
import type { TableFollower, TableWatch } from "./table-watch.js";

export interface QueryGroupHost {
  withContext<T>(work: (context: ExecContext) => T): T;
  /** Runs the whole query; rows are JSON lists. `micros`: the answer has all changes up to it. */
  run(): Promise<{ readonly rows: AnswerRows; readonly micros: number }>;
  publish(channel: number, sequence: number, message: Uint8Array): void;
  failed(error: unknown): void;
  empty(): void;
  after(ms: number, work: () => void): void;
}

export interface QueryGroupOptions {
  readonly columns: readonly OutputColumn[];
  /** Null: the query runs again. */
  readonly delta: AnswerDelta | null;
  /** The answer has an order, which clients are to keep. */
  readonly isOrdered: boolean;
  readonly watches: readonly TableWatch[];
  readonly rowsMax: number;
  readonly intervalMs: number;
}

export class QueryGroup implements TableFollower {
  readonly members = new Set<Member>();
  /** Null until the first answer is there. */
  private rows: AnswerRows | null = null;
  private micros = 0;
  /** Changes that came while the query ran. */
  private waiting: ChangedRow[] = [];
  private isRunning = false;
  private isStale = false;
  private isOver = false;
  private lastRunMs = 0;
  /** Of a row that a delta gave. */
  readonly write: WriteRow;
  private first: Promise<void> | null = null;

  constructor(
    readonly channel: number,
    readonly form: ChangeForm,
    private readonly options: QueryGroupOptions,
    private readonly host: QueryGroupHost,
  ) {
    const writers = options.columns.map(({ type }) => jsonWriter(type));
    this.write = (values) =>
      `[${writers.map((write, i) => (values[i] === null ? "null" : write(values[i]!))).join(",")}]`;
    for (const watch of options.watches) watch.followers.add(this);
  }

  get isIncremental(): boolean {
    return this.options.delta !== null;
  }

  /** Resolves when there is an answer to begin with. */
  ready(): Promise<void> {
    this.first ??= this.run().then(() => {
      if (this.rows === null) throw new DbError("internal_error");
    });
    return this.first;
  }

  get columns(): readonly OutputColumn[] {
    return this.options.columns;
  }

  /** The answer as it is now. */
  answer(): { readonly rows: AnswerRows; readonly micros: number } {
    return { rows: new Map(this.rows!), micros: this.micros };
  }

  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
    if (this.members.size === 0) this.close();
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const watch of this.options.watches) watch.followers.delete(this);
    this.host.empty();
  }

  changed(rows: readonly ChangedRow[]): void {
    if (this.isOver) return;
    if (this.options.delta === null) {
      if (rows.some(({ micros }) => micros > this.micros)) this.soon();
    } else if (this.rows === null || this.isRunning) this.waiting.push(...rows);
    // A run that is to come has them.
    else if (!this.isStale) this.apply(rows);
  }

  happened(event: TableEvent, _micros: number): void {
    if (this.isOver) return;
    if (event === "truncated") this.soon();
    else {
      const what = event === "dropped" ? "A table of the query was dropped." : "A table of the query was altered.";
      this.endAll(new DbError("subscription_interrupted", `${what} Subscribe again.`));
    }
  }

  private apply(given: readonly ChangedRow[]): void {
    const delta = this.options.delta!;
    const answer = this.rows!;
    const rows = given.filter(({ micros }) => micros > this.micros);
    if (rows.length === 0) return;
    try {
      const difference = this.host.withContext((context) => delta.apply(rows, answer, context, this.write));
      if (difference === null) {
        this.soon();
        return;
      }
      this.micros = rows.at(-1)!.micros;
      this.tell(difference);
      this.checkSize(answer);
    } catch (error) {
      this.endAll(error);
    }
  }

  private checkSize(answer: AnswerRows): void {
    const { rowsMax } = this.options;
    if (answer.size > rowsMax) {
      throw new DbError(
        "query_error",
        `The answer has more than ${rowsMax} rows, which is the limit of a subscription.`,
        {
          sqlstate: "54000",
          hint: "Narrow the query, or subscribe to the table with a filter.",
        },
      );
    }
  }

  /** What is different in an answer since another one. */
  since(before: AnswerRows, after: AnswerRows): Difference {
    return this.options.isOrdered ? orderedDifferenceOf(before, after) : differenceOf(before, after);
  }

  private tell(difference: Difference): void {
    const json = this.changesJson(difference, this.micros);
    if (json === null) return;
    this.host.publish(this.channel, this.micros, this.form.shared("changes", json, this.micros));
  }

  /** Null: nothing is different. */
  changesJson({ added, removed, changed, places }: Difference, micros: number): string | null {
    if (added.length + removed.length + changed.length === 0) return null;
    const pairs = changed.map(([old, now]) => `{"old":${old},"new":${now}}`);
    const timestamp = new Date(micros / 1000).toISOString();
    const lists = `"added":[${added.join(",")}],"removed":[${removed.join(",")}],"changed":[${pairs.join(",")}]`;
    const order = places === null ? "" : `,"places":${JSON.stringify(places)}`;
    return `{${lists}${order},"timestamp":"${timestamp}","sequence":${micros}}`;
  }

  /** Runs the query again, not before the interval has passed, nor more than a tenth of the time. */
  private soon(): void {
    if (this.isStale) return;
    this.isStale = true;
    if (this.isRunning) return;
    this.host.after(Math.max(this.options.intervalMs, this.lastRunMs * 9), () => {
      if (this.isStale && !this.isRunning && !this.isOver) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    this.isStale = false;
    const started = performance.now();
    try {
      const { rows, micros } = await this.host.run();
      this.checkSize(rows);
      const before = this.rows;
      this.rows = rows;
      this.micros = Math.max(this.micros, micros);
      if (before !== null) this.tell(this.since(before, rows));
    } catch (error) {
      if (this.rows === null) {
        this.close();
        throw error;
      }
      this.endAll(error);
    } finally {
      this.isRunning = false;
      this.lastRunMs = performance.now() - started;
    }
    if (this.isOver) return;
    const waiting = this.waiting.splice(0);
    if (this.isStale) {
      this.isStale = false;
      this.soon();
    } else if (waiting.length > 0) this.apply(waiting);
  }

  private endAll(thrown: unknown): void {
    if (!(thrown instanceof DbError)) this.host.failed(thrown);
    const error = thrown instanceof DbError ? thrown : new DbError("internal_error");
    for (const member of [...this.members]) member.end(error);
    this.close();
  }
}
