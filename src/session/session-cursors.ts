/**
 * The cursors of a session, by name: what happens to them when transactions and savepoints end, and the memory that
 * they share. Owned by the session.
 */
import { sqlError } from "../protocol/errors.js";
import { CURSORS_MAX } from "../protocol/limits.js";
import { type ExecContext, StatementState } from "../query/exec/context.js";
import { isVolatilePlan } from "../query/plan/walk.js";
import type { BoundDeclare } from "../sql/bind/bound-statement.js";
import type { ShardTransaction } from "../storage/transaction.js";
import { Cursor } from "./cursor.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";

/** Memory of all cursors of a session: as much as one statement may use. */
interface SharedMemory {
  bytes: number;
}

class CursorState extends StatementState {
  constructor(
    memoryBytesMax: number,
    private readonly shared: SharedMemory,
  ) {
    super(memoryBytesMax);
  }

  override reserve(bytes: number): void {
    this.shared.bytes += bytes;
    // The bound is that of all cursors; what this one holds has been counted among them.
    if (this.shared.bytes > this.memoryBytesMax) {
      throw sqlError("53200", "out of memory", {
        hint: `The session's cursors need more than ${this.memoryBytesMax} bytes (memoryBytesMax). Close some.`,
      });
    }
    super.reserve(bytes);
  }

  override release(bytes: number): void {
    this.shared.bytes -= bytes;
    super.release(bytes);
  }
}

interface Doings {
  readonly opened: Set<Cursor>;
  readonly closed: Set<Cursor>;
  /** Of cursors that were there before: what takes them back to where they stood. */
  readonly positions: Map<Cursor, () => void>;
}

/** Never written to. */
const NO_CURSORS = new Map<string, Cursor>();

/** So begin names of cursors that no statement can say: of portals without a name. */
export const UNNAMED_PORTAL = "<portal ";

export class SessionCursors {
  /** Made with the first one: most sessions are of one statement. */
  private cursors: Map<string, Cursor> = NO_CURSORS;
  private memory: SharedMemory | null = null;
  /** The request that waits for the rows being fetched. */
  private client: Client | null = null;
  private ownFetcher: Client | null = null;
  /** What functions of the running statement did to cursors; null: nothing. */
  private doings: Doings | null = null;

  /** The client of every cursor: the request that fetches. */
  get fetcher(): Client {
    const cursors = this;
    this.ownFetcher ??= {
      get standsFor() {
        return cursors.client;
      },
      get origin() {
        return cursors.client?.origin ?? cursors.client ?? undefined;
      },
      checkpoint: () => this.client?.checkpoint(),
      shouldYield: () => this.client?.shouldYield() ?? false,
      yieldTurn: () => this.client?.yieldTurn() ?? Promise.resolve(),
      audited: () => this.client?.audited?.() ?? null,
      signal: () => this.client?.signal?.() ?? new AbortController().signal,
    };
    return this.ownFetcher;
  }

  get isEmpty(): boolean {
    return this.cursors.size === 0;
  }

  has(name: string): boolean {
    return this.cursors.has(name);
  }

  all(): readonly Cursor[] {
    return [...this.cursors.values()];
  }

  /** Throws 42P03, 54000. `context` is of the transaction, with `fetcher` as its client; `depth`: open savepoints. */
  declare(bound: BoundDeclare, plan: StatementPlan, sql: string, context: ExecContext, depth: number): Cursor {
    const { name, hold, binary } = bound;
    if (this.cursors.has(name)) throw sqlError("42P03", `cursor "${name}" already exists`);
    if (this.cursors.size === CURSORS_MAX) throw sqlError("54000", `a session can have at most ${CURSORS_MAX} cursors`);
    const tx = context.tx as ShardTransaction;
    // Rows of volatile functions would not be the same a second time.
    const scroll = bound.scroll ?? (isVolatilePlan(plan.program!.plan) || null);
    const { memoryBytesMax } = context.statement;
    // It reads the current state; functions that it calls see and change the state at the time when they run.
    this.memory ??= { bytes: 0 };
    const own = { ...context, tx: tx.frozen(), live: tx, statement: new CursorState(memoryBytesMax, this.memory) };
    tx.holdSnapshot();
    const cursor = new Cursor(
      { name, sql, hold, binary, scroll, createdAt: context.statementMicros },
      plan,
      own,
      depth,
    );
    if (this.cursors === NO_CURSORS) this.cursors = new Map();
    this.cursors.set(name, cursor);
    return cursor;
  }

  /** Throws 34000. */
  find(name: string): Cursor {
    const cursor = this.cursors.get(name);
    if (cursor === undefined) throw sqlError("34000", `cursor "${name}" does not exist`);
    return cursor;
  }

  /** Runs `work` on a cursor on behalf of the client. */
  on<T>(client: Client, work: () => T | Promise<T>): T | Promise<T> {
    // The query of a cursor may call functions that fetch from others.
    const before = this.client;
    this.client = client;
    const done = () => {
      this.client = before;
    };
    try {
      const result = work();
      if (result instanceof Promise) return result.finally(done);
      done();
      return result;
    } catch (error) {
      done();
      throw error;
    }
  }

  /** `name` null: all. Throws 34000. */
  close(name: string | null): void {
    if (name !== null) this.remove(this.find(name));
    else for (const cursor of this.all()) this.remove(cursor);
  }

  // ---- what functions do, which a statement that fails takes back: it may be run again ----

  beginStatement(): void {
    for (const cursor of this.doings?.closed ?? []) cursor.close();
    this.doings = null;
  }

  private get ofStatement(): Doings {
    this.doings ??= { opened: new Set(), closed: new Set(), positions: new Map() };
    return this.doings;
  }

  noteOpened(cursor: Cursor): void {
    this.ofStatement.opened.add(cursor);
  }

  /** A cursor is about to move that may have been there before the statement. */
  noteMoved(cursor: Cursor): void {
    const { opened, positions } = this.ofStatement;
    if (!opened.has(cursor) && !positions.has(cursor)) positions.set(cursor, cursor.mark());
  }

  /** Throws 34000. */
  closeInStatement(name: string): void {
    const cursor = this.find(name);
    if (this.ofStatement.opened.delete(cursor)) this.remove(cursor);
    else {
      this.cursors.delete(name);
      this.ofStatement.closed.add(cursor);
    }
  }

  undoStatement(): void {
    const { doings } = this;
    if (doings === null) return;
    this.doings = null;
    for (const cursor of doings.opened) if (this.cursors.get(cursor.options.name) === cursor) this.remove(cursor);
    for (const cursor of doings.closed) this.cursors.set(cursor.options.name, cursor);
    for (const back of doings.positions.values()) back();
  }

  /** Rolled back to where only these were open. */
  keepOnly(there: ReadonlySet<Cursor>): void {
    for (const cursor of this.all()) if (!there.has(cursor)) this.remove(cursor);
  }

  /** The transaction is about to commit: WITH HOLD cursors read what they need of it, the others go. */
  async hold(client: Client): Promise<void> {
    for (const cursor of this.all()) {
      if (cursor.depth === null) continue;
      if (cursor.options.hold || cursor.isPinned) await this.on(client, () => cursor.hold());
      else this.remove(cursor);
    }
  }

  /** The transaction ended without `hold`: its cursors go. */
  endTransaction(): void {
    for (const cursor of this.all()) if (cursor.depth !== null) this.remove(cursor);
  }

  /** Rolled back to a savepoint before which `depth` others were open: cursors declared after it go. */
  rollbackTo(depth: number): void {
    for (const cursor of this.all()) if (cursor.depth !== null && cursor.depth > depth) this.remove(cursor);
  }

  /** The savepoint was released: cursors that were declared after it now belong to the surrounding level. */
  release(depth: number): void {
    for (const cursor of this.cursors.values()) {
      if (cursor.depth !== null) cursor.depth = Math.min(cursor.depth, depth);
    }
  }

  private remove(cursor: Cursor): void {
    cursor.close();
    this.cursors.delete(cursor.options.name);
  }
}
