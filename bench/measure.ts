/**
 * Measures one workload: starts the contenders, loads the data, warms up, and takes rounds in which all take turns.
 * First all rounds of throughput; then, at a fixed share of the throughput found, all rounds of latency.
 */
import { join } from "node:path";
import { type Contender, startContender } from "./contenders/contenders.js";
import type { ClientResult } from "./load/client.js";
import { type Generator, type Load, latency, throughput } from "./load/generators.js";
import { FIRST_KEY, LAST_KEY, writeRequests } from "./load/requests.js";
import { peakMemoryOf } from "./processes.js";
import { removeDirectory, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import { type Aim, prepare, type Surroundings, type Workload } from "./workloads/workload.js";

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  /** Share of the throughput at which latency is measured. */
  readonly share: number;
  /** Contenders by id, Tessera first. */
  readonly contenders: readonly string[];
  readonly generator: Generator;
}

export interface Round {
  readonly requestsPerSecond: number;
  readonly requestsPerServerCpuSecond: number;
  readonly serverCpuSecondsPer1000: number;
  readonly clientCpuSecondsPer1000: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** A row of the table. */
export interface Row {
  /** The contender's id, and the variant behind a blank. */
  readonly id: string;
  readonly name: string;
  readonly rounds: readonly Round[];
  /** Of the rounds. */
  readonly medians: Round;
  /** Requests a second at which latency was measured. */
  readonly rate: number;
  /** Medians of the rounds: how late the client sent, and what was left to answer when the last request was due. */
  readonly lateMs: number;
  readonly backlogMs: number;
  readonly peakMemoryBytes: number;
  readonly errors: number;
}

/** Medians of the rounds' ratios, the first row to another. */
export interface Ratio {
  readonly of: string;
  readonly to: string;
  readonly requestsPerSecond: number;
  readonly requestsPerServerCpuSecond: number;
}

export interface AimResult {
  readonly text: string;
  readonly measured: string;
  readonly met: boolean;
}

export interface WorkloadResult {
  readonly id: string;
  readonly title: string;
  readonly connections: number;
  readonly rows: readonly Row[];
  readonly ratios: readonly Ratio[];
  readonly aims: readonly AimResult[];
  /** What was left out and why, and what was seen beside the figures. */
  readonly notes: readonly string[];
  /** By contender: packages with versions, and what a commit means. */
  readonly contenders: Readonly<Record<string, { versions: Readonly<Record<string, string>>; durability: string }>>;
}

const WARM_UP_SECONDS = 3;
const CALIBRATION_SECONDS = 1.5;
const CALIBRATIONS_MAX = 6;
/**
 * What is left to answer when the last request is due, and how late the client sends: more, and they do not keep up.
 */
const BACKLOG_MS_MAX = 40;
const LATE_MS_MAX = 2;
const CALIBRATION_STEP = 0.8;

/** Keys of one run of a load generator: more than it can use up. */
const KEYS_PER_RUN = 5_000_000;

/** An entry while it is measured. */
class Entry {
  readonly throughputs: Omit<Round, "p50Ms" | "p99Ms" | "p999Ms">[] = [];
  readonly latencies: ClientResult[] = [];
  private readonly backlogsMs: number[] = [];
  rate = 0;
  errors = 0;
  private nextKey = FIRST_KEY;

  constructor(
    readonly contender: Contender,
    readonly variant: string,
    private readonly workload: Workload,
    private readonly file: string,
    private readonly generator: Generator,
  ) {}

  get id(): string {
    return this.variant === "" ? this.contender.id : `${this.contender.id} ${this.variant}`;
  }

  get name(): string {
    return this.variant === "" ? this.contender.name : `${this.contender.name}, ${this.variant}`;
  }

  async throughput(seconds: number, counts: boolean): Promise<void> {
    const before = this.contender.cpuSeconds();
    const measured = await throughput(this.load(seconds), this.generator);
    const cpuSeconds = this.contender.cpuSeconds() - before;
    this.errors += measured.errors;
    if (!counts) return;
    this.throughputs.push({
      requestsPerSecond: measured.requests / measured.seconds,
      requestsPerServerCpuSecond: measured.requests / cpuSeconds,
      serverCpuSecondsPer1000: (1000 * cpuSeconds) / measured.requests,
      clientCpuSecondsPer1000: (1000 * measured.clientCpuSeconds) / measured.requests,
    });
  }

  /** Finds a rate that the contender and the client on this machine can both keep up with. */
  async calibrate(share: number): Promise<void> {
    this.rate = share * median(this.throughputs.map(({ requestsPerSecond }) => requestsPerSecond));
    for (let i = 0; i < CALIBRATIONS_MAX; i++) {
      const { elapsedMs, lateMs, errors } = await latency(this.load(CALIBRATION_SECONDS), this.rate);
      this.errors += errors;
      if (elapsedMs < 1000 * CALIBRATION_SECONDS + BACKLOG_MS_MAX && lateMs < LATE_MS_MAX) return;
      this.rate *= CALIBRATION_STEP;
    }
  }

  async latency(seconds: number): Promise<void> {
    const measured = await latency(this.load(seconds), this.rate);
    this.errors += measured.errors;
    this.latencies.push(measured);
    this.backlogsMs.push(measured.elapsedMs - 1000 * seconds);
  }

  row(): Row {
    const rounds = this.throughputs.map((round, i): Round => {
      const { p50Ms, p99Ms, p999Ms } = this.latencies[i]!;
      return { ...round, p50Ms, p99Ms, p999Ms };
    });
    const names = Object.keys(rounds[0]!) as (keyof Round)[];
    const medians = Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))]));
    return {
      id: this.id,
      name: this.name,
      rounds,
      medians: medians as unknown as Round,
      rate: this.rate,
      lateMs: median(this.latencies.map(({ lateMs }) => lateMs)),
      backlogMs: median(this.backlogsMs),
      peakMemoryBytes: peakMemoryOf(this.contender.roots),
      errors: this.errors,
    };
  }

  private load(seconds: number): Load {
    const { connections, keepAlive } = this.workload;
    const firstKey = this.nextKey;
    this.nextKey += KEYS_PER_RUN;
    if (this.nextKey > LAST_KEY) throw new Error("too many rounds: there are no keys left");
    return { url: this.contender.url, file: this.file, firstKey, connections, seconds, keepAlive };
  }
}

export async function measure(workload: Workload, options: Options): Promise<WorkloadResult> {
  const notes: string[] = [];
  const directory = temporaryDirectory("requests");
  const contenders: Contender[] = [];
  const surroundings: Surroundings[] = [];
  try {
    const entries: Entry[] = [];
    for (const id of options.contenders) {
      const contender = await startOrNote(id, notes);
      if (contender === null) continue;
      contenders.push(contender);
      const surrounded = await workload.surround?.(contender);
      if (typeof surrounded === "string") {
        notes.push(`${contender.name} is left out: ${surrounded}.`);
        continue;
      }
      if (surrounded !== undefined) surroundings.push(surrounded);
      entries.push(...(await entriesOf(workload, contender, directory, options.generator, notes)));
    }
    if (entries.length > 0) await takeRounds(entries, options);
    const rows = entries.map((entry) => entry.row());
    notes.push(...rows.flatMap(doubts));
    const { id, title, connections } = workload;
    const described = Object.fromEntries(
      contenders.map(({ name, versions, durability }) => [name, { versions, durability }]),
    );
    for (const surrounding of surroundings) await surrounding.stop();
    const ratios = rows.slice(1).map((row) => ratioOf(rows[0]!, row));
    const aims = workload.aims.flatMap((aim) => aimResults(aim, rows));
    return { id, title, connections, rows, ratios, aims, notes, contenders: described };
  } finally {
    await Promise.all(contenders.map((contender) => contender.stop()));
    removeDirectory(directory);
  }
}

async function startOrNote(id: string, notes: string[]): Promise<Contender | null> {
  try {
    return await startContender(id);
  } catch (error) {
    if (id === "tessera") throw error;
    notes.push(`${id} is left out: ${(error as Error).message}.`);
    return null;
  }
}

async function entriesOf(
  workload: Workload,
  contender: Contender,
  directory: string,
  generator: Generator,
  notes: string[],
): Promise<Entry[]> {
  const prepared = await prepare(contender, workload.data);
  const entries: Entry[] = [];
  for (const { variant, requests } of await workload.entries(contender, prepared)) {
    if (typeof requests === "string") {
      notes.push(`${contender.name}, ${variant} is left out: ${requests}.`);
      continue;
    }
    const file = join(directory, `${contender.id}-${entries.length}`);
    writeRequests(file, contender.url, requests, workload.keepAlive);
    entries.push(new Entry(contender, variant, workload, file, generator));
  }
  return entries;
}

/** In each round another entry begins. */
async function takeRounds(entries: readonly Entry[], { rounds, seconds, share }: Options): Promise<void> {
  const inTurn = (round: number): Entry[] => {
    const first = round % entries.length;
    return [...entries.slice(first), ...entries.slice(0, first)];
  };
  for (const entry of entries) await entry.throughput(WARM_UP_SECONDS, false);
  for (let round = 0; round < rounds; round++) {
    for (const entry of inTurn(round)) await entry.throughput(seconds, true);
  }
  for (const entry of entries) await entry.calibrate(share);
  for (let round = 0; round < rounds; round++) {
    for (const entry of inTurn(round)) await entry.latency(seconds);
  }
}

/** Whether the latencies tell of something else than the server. */
function doubts({ name, rate, lateMs, backlogMs }: Row): string[] {
  const rounded = Math.round(rate).toLocaleString("en");
  if (lateMs > LATE_MS_MAX) {
    return [`${name}: the client sent ${lateMs.toFixed(1)} ms late itself, so the latencies are this machine's load.`];
  }
  if (backlogMs > BACKLOG_MS_MAX) {
    return [
      `${name}: ${rounded} requests/s were not held; ${backlogMs.toFixed(0)} ms of answers were owed at the end.`,
    ];
  }
  return [];
}

function ratioOf(a: Row, b: Row): Ratio {
  const ratio = (of: (round: Round) => number): number =>
    median(a.rounds.map((round, i) => of(round) / of(b.rounds[i]!)));
  return {
    of: a.name,
    to: b.name,
    requestsPerSecond: ratio((round) => round.requestsPerSecond),
    requestsPerServerCpuSecond: ratio((round) => round.requestsPerServerCpuSecond),
  };
}

/** None when a row that the aim is about is left out. */
function aimResults(aim: Aim, rows: readonly Row[]): AimResult[] {
  const of = rows.find(({ id }) => id === aim.of);
  if (of === undefined) return [];
  if (aim.kind === "latency") {
    const { p50Ms, p99Ms } = of.medians;
    const measured = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
    return [{ text: `${of.name}: ${aim.text}`, measured, met: p99Ms <= aim.p99AtMost(p50Ms) }];
  }
  const to = rows.find(({ id }) => id === aim.to);
  if (to === undefined) return [];
  const ratio = ratioOf(of, to);
  return [
    ["requests/s", ratio.requestsPerSecond] as const,
    ["requests/server CPU second", ratio.requestsPerServerCpuSecond] as const,
  ].map(([figure, value]) => ({
    text: `${figure}: ${of.name} ≥ ${aim.atLeast} × ${to.name}`,
    measured: `${value.toFixed(2)} ×`,
    met: value >= aim.atLeast,
  }));
}
