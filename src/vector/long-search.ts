/**
 * A search that measures so many vectors that it takes several turns: those that wait to be linked, or all of them. In
 * each turn it measures a part and remembers the nearest of it. At last the graph is searched in one go, and measures
 * what is remembered and what was added meanwhile. So the answer is of one state of the graph, however much that
 * changed between turns. The same holds for vectors that are read: what was measured of them is remembered, and a
 * search in one go reads a part of those it needs (read-distances.ts). Owned by an operator; vector-graph.ts asks it
 * whenever many are to be measured or read.
 */
import type { AddedSlots } from "./added-slots.js";
import { type AT_LEAST, type BY_CODE, floatsAt, type GraphModule, wordsAt } from "./graph-module.js";
import type { Ranked, Reads } from "./rank-originals.js";
import { ReadDistances } from "./read-distances.js";

/** By the vectors that the owner keeps. */
export const BY_ORIGINAL = 3;
export type MeasuredHow = typeof BY_CODE | typeof AT_LEAST | typeof BY_ORIGINAL;

/** Which slots: of those from `from` up to `to` whose bit is set, and those listed. */
export interface Slots {
  /** All of the graph, those that wait to be linked, or a list. */
  readonly of: "all" | "waiting" | "listed";
  readonly from: number;
  readonly to: number;
  readonly listed: readonly number[] | ReadonlySet<number>;
  readonly allowed: Uint32Array | undefined;
  /** About how many. */
  readonly count: number;
}

/** What a long search needs of its graph. */
export interface Measuring {
  readonly module: GraphModule;
  readonly dimensions: number;
  /** Numbers (dimensions of all vectors) that are measured in one go, and those of a part. */
  readonly onceNumbers: number;
  /** The search that is asked. */
  asked: LongSearch | null;
  /** Slots added since, in their order; kept while there are long searches. */
  readonly added: AddedSlots;
  /** The query, and the filter, are the module's from now on. */
  prepare(query: Float32Array, allowed: Uint32Array | undefined): void;
  rank(most: number, slots: readonly number[]): readonly Ranked[];
  /** The search is over. */
  ended(search: LongSearch): void;
}

/** Slots of a part that a filter leaves little of. */
const PART_SLOTS_MAX = 131_072;
/** The same of vectors that are read. */
const ONCE_READ = 512;
const PART_READ = 128;
/** A long pool takes each in its place by moving half of the others: parts are so much shorter, but not below this. */
const PART_MOVES = 3_000_000;
const PART_SLOTS_MIN = 1024;
/** Removed ones may have been among those remembered. */
const SPARE = 32;
/** What is measured in one go, by how many are added before they are measured in turns. */
const ADDED_SHARE = 8;
const FOUND = 1;

/** Thrown and caught in here. */
const NOT_YET = new Error("a search takes more turns");

interface Task {
  readonly how: MeasuredHow;
  readonly most: number;
  allowed: Uint32Array | undefined;
  readonly partSlots: number;
  from: number;
  readonly to: number;
  listed: readonly number[];
  listedFrom: number;
  /** Of `added`: those before are measured, or about to be. */
  addedFrom: number;
  /** Nearest first. */
  kept: readonly Ranked[];
  /** Of what is not remembered none is nearer. */
  bound: number;
}

export class LongSearch {
  /** By how they measure, and what of. */
  private readonly tasks = new Map<string, Task>();
  private readonly read: ReadDistances;

  constructor(
    private readonly graph: Measuring,
    private readonly query: Float32Array,
  ) {
    this.read = new ReadDistances(graph, () => this.giveUp());
  }

  /** What `search` answers; null: `step` until that says true, and ask again. */
  run<Result>(search: () => Result): Result | null {
    this.graph.asked = this;
    this.read.begin();
    try {
      return search();
    } catch (error) {
      if (error === NOT_YET) return null;
      throw error;
    } finally {
      this.graph.asked = null;
    }
  }

  close(): void {
    this.graph.ended(this);
  }

  /** Within `run`, which ends: what it has found out is remembered, and it goes on from there in another turn. */
  giveUp(): never {
    throw NOT_YET;
  }

  /** What was read of vectors. */
  get reads(): Reads {
    return this.read;
  }

  /** So many can be measured in one go. */
  isShort(count: number, how: MeasuredHow, most: number): boolean {
    return count <= this.part(how, most);
  }

  private part(how: MeasuredHow, most: number): number {
    const once = this.once(how);
    return how === BY_ORIGINAL ? once : Math.min(once, Math.max(PART_SLOTS_MIN, Math.floor(PART_MOVES / most)));
  }

  private once(how: MeasuredHow): number {
    return how === BY_ORIGINAL ? ONCE_READ : Math.ceil(this.graph.onceNumbers / this.graph.dimensions);
  }

  /**
   * Slots to be measured in the place of those given, and the distance below which there are no others. Called within
   * `run`, which ends if they are not known yet.
   */
  known(slots: Slots, how: MeasuredHow, most: number): { readonly slots: number[]; readonly bound: number } {
    // What was measured of some is not what is wanted of all, and a filter is the same until the search ends.
    const name = `${how} ${slots.of} ${slots.allowed === undefined ? "" : "filtered"}`;
    let task = this.tasks.get(name);
    if (task === undefined || task.most < most || this.isSpent(task, slots.allowed, most)) {
      // As many more may be wanted when it is asked again.
      task = this.begin(slots, how, most + (most >> 2) + SPARE);
      this.tasks.set(name, task);
    }
    if (!this.isShort(this.addedSince(task), how, most)) this.goOnWithAdded(task);
    if (!isDone(task)) throw NOT_YET;
    const found = new Set(task.kept.map(({ slot }) => slot));
    const added = new Set(this.graph.added.since(task.addedFrom));
    if (how === BY_ORIGINAL)
      for (const { slot, distance } of task.kept) if (!added.has(slot)) this.read.note(slot, distance);
    for (const slot of added) found.add(slot);
    const isWanted = (slot: number): boolean => this.isFound(slot) && passes(slots.allowed, slot);
    // Nearest first, so that the pool has nothing to move.
    return { slots: [...found].filter(isWanted), bound: task.bound };
  }

  /** So many of those remembered are gone that others, which are not remembered, may be among the nearest. */
  private isSpent(task: Task, allowed: Uint32Array | undefined, most: number): boolean {
    if (!isDone(task) || task.bound === Number.POSITIVE_INFINITY) return false;
    const added = new Set(this.graph.added.since(task.addedFrom));
    let left = 0;
    let isRefilled = false;
    for (const { slot } of task.kept) {
      if (added.has(slot)) isRefilled = true;
      else if (this.isFound(slot) && passes(allowed, slot)) left++;
    }
    if (left >= most) return false;
    // What is in their places now is to be measured first.
    if (isRefilled) this.goOnWithAdded(task);
    return !isRefilled;
  }

  /** Of the slots added, it needs those from this number on. */
  get addedFrom(): number {
    let least = this.read.addedFrom;
    for (const task of this.tasks.values()) least = Math.min(least, task.addedFrom);
    return least;
  }

  private addedSince(task: Task): number {
    return this.graph.added.count - task.addedFrom;
  }

  private goOnWithAdded(task: Task): void {
    if (!isDone(task)) return;
    task.listed = this.graph.added.since(task.addedFrom);
    task.listedFrom = 0;
    task.addedFrom = this.graph.added.count;
    // What was there before them is gone.
    const listed = new Set(task.listed);
    task.kept = task.kept.filter(({ slot }) => !listed.has(slot));
  }

  private begin(slots: Slots, how: MeasuredHow, most: number): Task {
    const { from, to, allowed, count } = slots;
    const listed = [...slots.listed];
    const share = (to - from + listed.length) / Math.max(1, count);
    const part = how === BY_ORIGINAL ? PART_READ : this.part(how, most);
    return {
      ...{ how, most, allowed, from, to, listed },
      partSlots: how === BY_ORIGINAL ? part : Math.ceil(Math.min(PART_SLOTS_MAX, part * Math.max(1, share))),
      listedFrom: 0,
      addedFrom: this.graph.added.count,
      kept: [],
      bound: Number.POSITIVE_INFINITY,
    };
  }

  /**
   * Measures a part, and what was added since, so that little of it is left for the end; true when nothing is left.
   * `allowed` is the filter as it is now: those added pass it or not.
   */
  step(allowed?: Uint32Array): boolean {
    for (const each of this.tasks.values()) {
      if (each.allowed !== undefined) each.allowed = allowed ?? each.allowed;
      if (this.addedSince(each) > this.once(each.how) / ADDED_SHARE) this.goOnWithAdded(each);
    }
    const task = [...this.tasks.values()].find((each) => !isDone(each));
    if (task === undefined) return true;
    this.graph.prepare(this.query, task.from < task.to ? task.allowed : undefined);
    if (task.how === BY_ORIGINAL) this.readPart(task);
    else this.measurePart(task, task.how);
    return isDone(task);
  }

  private measurePart(task: Task, how: typeof BY_CODE | typeof AT_LEAST): void {
    const { module } = this.graph;
    // There was room for a list of so many when the walk before it ended, or its owner says that there is none.
    if (module.startScan(task.most) === 0) {
      task.from = task.to;
      task.listedFrom = task.listed.length;
      return;
    }
    let size: number;
    if (task.from < task.to) {
      const end = Math.min(task.to, task.from + task.partSlots);
      size = module.scanSlots(task.from, end, task.allowed === undefined ? 0 : 1, how);
      task.from = end;
    } else size = offerSlots(module, this.takeListed(task, task.partSlots), how);
    const words = wordsAt(module, module.poolAt(), 2 * size);
    const measured = floatsAt(module, module.poolAt(), 2 * size);
    const found: Ranked[] = [];
    for (let i = 0; i < size && measured[2 * i]! <= task.bound; i++)
      found.push({ slot: words[2 * i + 1]! & 0x7fffffff, distance: measured[2 * i]! });
    if (size === task.most) task.bound = Math.min(task.bound, measured[2 * size - 2]!);
    keep(task, found);
  }

  private readPart(task: Task): void {
    const slots: number[] = [];
    for (; task.from < task.to && slots.length < PART_READ; task.from++)
      if (passes(task.allowed, task.from) && this.isFound(task.from)) slots.push(task.from);
    if (task.from === task.to) slots.push(...this.takeListed(task, PART_READ - slots.length));
    keep(task, this.graph.rank(slots.length, slots));
  }

  private takeListed(task: Task, most: number): readonly number[] {
    const some = task.listed.slice(task.listedFrom, task.listedFrom + most);
    task.listedFrom += some.length;
    return some.filter((slot) => this.isFound(slot) && passes(task.allowed, slot));
  }

  private isFound(slot: number): boolean {
    return this.graph.module.slotState(slot) === FOUND;
  }
}

function isDone(task: Task): boolean {
  return task.from >= task.to && task.listedFrom >= task.listed.length;
}

export function passes(allowed: Uint32Array | undefined, slot: number): boolean {
  return allowed === undefined || (((allowed[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 1;
}

/** The nearest of what is kept and what was found, nearest first. */
function keep(task: Task, found: readonly Ranked[]): void {
  const { kept } = task;
  const most = task.most + SPARE;
  const merged: Ranked[] = [];
  let [i, j] = [0, 0];
  while (merged.length < most && (i < kept.length || j < found.length)) {
    const isKept = j === found.length || (i < kept.length && kept[i]!.distance <= found[j]!.distance);
    merged.push(isKept ? kept[i++]! : found[j++]!);
  }
  if (i < kept.length || j < found.length) task.bound = Math.min(task.bound, merged.at(-1)!.distance);
  task.kept = merged;
}

/** Offers slots that can be found to the pool; returns how many that holds. */
export function offerSlots(
  module: GraphModule,
  slots: Iterable<number>,
  how: 0 | typeof BY_CODE | typeof AT_LEAST,
): number {
  const most = module.batchLength();
  let count = 0;
  // Measuring takes no memory, so the view lasts.
  const batch = wordsAt(module, module.batchAt(), most);
  for (const slot of slots) {
    if (module.slotState(slot) !== FOUND) continue;
    batch[count++] = slot;
    if (count < most) continue;
    module.offerWritten(count, how);
    count = 0;
  }
  return module.offerWritten(count, how);
}
