/**
 * The soak's clients, in a process of their own: `node load.js '<SoakLoad as JSON>'`, started by run.ts. An open loop:
 * pieces of work are due by a schedule that does not look at the answers, and each is timed from when it was due, so
 * that a server that stalls is charged for all that its stall held up. Sends a WindowReport every ten seconds, and ends
 * when asked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Caller, Unexpected } from "./caller.js";
import { allWorks, type Work } from "./works.js";

export interface SoakLoad {
  readonly url: string;
  readonly token: string;
  readonly operatorToken: string;
  /** A folder that the server may read. */
  readonly folder: string;
  readonly ratePerSecond: number;
  readonly seconds: number;
}

/** What ended in ten seconds. */
export interface WindowReport {
  /** Since the load began. */
  readonly second: number;
  /** Milliseconds from when each piece was due, by kind of work. */
  readonly latenciesMs: Readonly<Record<string, readonly number[]>>;
  readonly failures: readonly Failure[];
  /** Pieces that are under way. */
  readonly open: number;
  /** The latest that this process itself began one. */
  readonly lateMsMax: number;
  /** Answers of 409 after which a client tried again. */
  readonly conflicts: number;
}

export interface Failure {
  readonly kind: string;
  readonly status: number;
  readonly message: string;
}

export type LoadMessage = { readonly prepared: true } | { readonly window: WindowReport };

const WINDOW_MS = 10_000;
/** Pieces under way above which no more are begun: the server does not keep up, which the latencies then say. */
const OPEN_MAX = 256;

class Load {
  private readonly caller: Caller;
  private readonly works: readonly Work[];
  private readonly counts = new Map<Work, number>();
  private latenciesMs: Record<string, number[]> = {};
  private failures: Failure[] = [];
  private open = 0;
  private lateMsMax = 0;

  constructor(private readonly load: SoakLoad) {
    this.caller = new Caller(load.url, load.token, load.operatorToken);
    this.works = allWorks(load.folder);
  }

  async prepare(): Promise<void> {
    for (const work of this.works) await work.prepare?.(this.caller);
  }

  async run(): Promise<void> {
    const startMs = performance.now();
    const endMs = startMs + this.load.seconds * 1000;
    const windows = setInterval(() => this.report(startMs), WINDOW_MS);
    const periodic = this.works.filter(({ everySeconds }) => everySeconds !== undefined);
    await Promise.all([this.steady(startMs, endMs), ...periodic.map((work) => this.every(work, startMs, endMs))]);
    while (this.open > 0) await sleep(50);
    clearInterval(windows);
    this.report(startMs);
    await this.caller.close();
  }

  /** Pieces of all works with a share, in an order that mixes them, at the rate. */
  private async steady(startMs: number, endMs: number): Promise<void> {
    const order = mixed(this.works);
    const gapMs = 1000 / this.load.ratePerSecond;
    for (let sent = 0; ; ) {
      const now = performance.now();
      if (now >= endMs) return;
      for (; startMs + sent * gapMs <= now && this.open < OPEN_MAX; sent++) {
        this.lateMsMax = Math.max(this.lateMsMax, now - (startMs + sent * gapMs));
        void this.one(order[sent % order.length]!, startMs + sent * gapMs);
      }
      await sleep(1);
    }
  }

  /** Pieces at the work's interval; one that takes longer than that delays the next. */
  private async every(work: Work, startMs: number, endMs: number): Promise<void> {
    const gapMs = work.everySeconds! * 1000;
    // Those with long intervals begin soon, too, but not all together.
    let dueMs = startMs + Math.min(gapMs, 30_000) * (0.2 + 0.6 * Math.random());
    for (; dueMs < endMs; dueMs += gapMs) {
      await sleep(Math.max(0, dueMs - performance.now()));
      await this.one(work, dueMs);
    }
  }

  private async one(work: Work, dueMs: number): Promise<void> {
    const n = (this.counts.get(work) ?? 0) + 1;
    this.counts.set(work, n);
    this.open++;
    try {
      await work.one(this.caller, n);
      this.latenciesMs[work.kind] ??= [];
      this.latenciesMs[work.kind]!.push(Math.round((performance.now() - dueMs) * 100) / 100);
    } catch (error) {
      const status = error instanceof Unexpected ? error.status : 0;
      this.failures.push({ kind: work.kind, status, message: String((error as Error).message ?? error).slice(0, 500) });
    }
    this.open--;
  }

  private report(startMs: number): void {
    const second = Math.round((performance.now() - startMs) / 1000);
    const { latenciesMs, failures, open, lateMsMax } = this;
    tell({ window: { second, latenciesMs, failures, open, lateMsMax, conflicts: this.caller.conflicts } });
    this.latenciesMs = {};
    this.failures = [];
    this.lateMsMax = 0;
    this.caller.conflicts = 0;
  }
}

/** Each work as often as its share says, spread evenly. */
function mixed(works: readonly Work[]): Work[] {
  const places: { readonly at: number; readonly work: Work }[] = [];
  for (const [index, work] of works.entries()) {
    const share = work.share ?? 0;
    for (let i = 0; i < share; i++) places.push({ at: (i + ((index * 0.618) % 1)) / share, work });
  }
  return places.sort((a, b) => a.at - b.at).map(({ work }) => work);
}

function tell(message: LoadMessage): void {
  process.send!(message);
}

const load = new Load(JSON.parse(process.argv[2]!) as SoakLoad);
await load.prepare();
tell({ prepared: true });
await load.run();
process.disconnect();
