/**
 * Clients that read through all nodes of a cluster while faults are made, by the client package as programs use it: a
 * subscription, which must give each change once, and answers that are read as they come, which must not end too early.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ConnectionError, TesseraError } from "../../../clients/typescript/src/index.js";

/** A node from which nothing has come for so long may stand still: another one is asked. */
const SILENCE_MS = 3000;
/** What clients may meet while faults are made. 0: there was no answer, or not in time. 507: the disk is full. */
export const PASSING = [0, 408, 409, 503, 504, 507];
const PASSING_CODES = ["partition_unavailable", "shutting_down", "log_unavailable"];
const PACE_ROWS = 100;
/** For which a subscription is waited for at the end. */
const CATCH_UP_MS = 60_000;

/** Follows a table from its first row on. */
export class Follower {
  readonly problems: string[] = [];
  readonly numbers: number[] = [];
  private readonly seen = new Set<number>();
  private last: number | undefined;
  private readonly running: Promise<void>;
  private readonly stopping = new AbortController();
  private resolveBegun = (): void => {};
  /** Changes that are made from then on are seen. */
  readonly begun = new Promise<void>((resolve) => {
    this.resolveBegun = resolve;
  });

  constructor(
    private readonly clients: readonly Client[],
    private readonly table: string,
  ) {
    this.running = this.follow();
  }

  private async follow(): Promise<void> {
    for (let turn = 0; !this.stopping.signal.aborted; turn++) {
      const silence = new AbortController();
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const signal = AbortSignal.any([silence.signal, this.stopping.signal]);
      const from = this.last === undefined ? {} : { sequence: this.last };
      const subscribed = (): void => this.resolveBegun();
      try {
        const changes = this.clients[turn % this.clients.length]!.subscribe<{ n: number }>({
          ...{ table: this.table, signal, subscribed },
          ...from,
        });
        for await (const { sequence, document } of changes) {
          timer.refresh();
          this.take(sequence, document.n);
        }
      } catch (error) {
        if (!signal.aborted) this.problems.push(`a subscription ended: ${error}`);
      } finally {
        clearTimeout(timer);
      }
      await sleep(50);
    }
  }

  private take(sequence: number, n: number): void {
    if (this.last !== undefined && sequence <= this.last) this.problems.push(`change ${sequence} came late or twice`);
    if (this.seen.has(n)) this.problems.push(`a subscriber saw ${n} twice`);
    this.last = sequence;
    this.seen.add(n);
    this.numbers.push(n);
  }

  /** `numbers`: of all rows that there are, none of which was deleted. */
  async finish(numbers: ReadonlySet<number>): Promise<void> {
    const endMs = performance.now() + CATCH_UP_MS;
    while (this.seen.size < numbers.size && performance.now() < endMs) await sleep(100);
    this.stopping.abort();
    await this.running;
    const missed = [...numbers].filter((n) => !this.seen.has(n));
    if (missed.length > 0) this.problems.push(`a subscriber missed ${missed.length} changes: ${missed.slice(0, 10)}`);
    const invented = this.numbers.filter((n) => !numbers.has(n));
    if (invented.length > 0) this.problems.push(`a subscriber saw what is not there: ${invented.slice(0, 10)}`);
  }
}

/** Reads a table whose rows are 1 to `rows`, again and again; goes on at another node where an answer broke off. */
export class StreamReader {
  readonly problems: string[] = [];
  /** Whole readings, and answers that broke off. */
  whole = 0;
  broken = 0;
  private isOver = false;
  private readonly running: Promise<void>;

  constructor(
    private readonly clients: readonly Client[],
    private readonly table: string,
    private readonly rows: number,
  ) {
    this.running = this.read();
  }

  private async read(): Promise<void> {
    for (let turn = 0; !this.isOver; ) {
      let last = 0;
      while (last < this.rows && !this.isOver) {
        try {
          last = await this.readOn(this.clients[turn++ % this.clients.length]!, last);
          if (last < this.rows) this.problems.push(`an answer without an error ended at row ${last} of ${this.rows}`);
        } catch (error) {
          last = this.reached;
          this.broken++;
          if (!isPassing(error)) this.problems.push(`an answer ended: ${error}`);
        }
        await sleep(50);
      }
      if (!this.isOver) this.whole++;
    }
  }

  private reached = 0;

  private async readOn(client: Client, after: number): Promise<number> {
    this.reached = after;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new ConnectionError("Nothing comes.")), SILENCE_MS);
    const sql = `SELECT id FROM ${this.table} WHERE id > $1 ORDER BY id`;
    try {
      for await (const { id } of client.stream<{ id: number }>(sql, [after], { signal: silence.signal })) {
        timer.refresh();
        if (id !== this.reached + 1) this.problems.push(`row ${id} came after row ${this.reached}`);
        this.reached = id;
        // The answer is under way for a while, so that faults meet it.
        if (id % PACE_ROWS === 0) await sleep(1);
      }
    } finally {
      clearTimeout(timer);
    }
    return this.reached;
  }

  async finish(): Promise<void> {
    this.isOver = true;
    await this.running;
    if (this.whole === 0) this.problems.push("no answer was read to its end");
  }
}

/** What clients are told to try again. An answer that ends early has the status with which it began. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof TesseraError)) return false;
  return error.status === 200 ? PASSING_CODES.includes(error.code) : PASSING.includes(error.status);
}
