import type { IndexBody, IndexKind, LongWork } from "../../src/derived/index-body.js";

/** The words of rows, in a list; slots that are free are used again. */
export class Words implements IndexBody<string>, LongWork {
  free: number[] = [];
  worked = 0;
  isAway = false;
  isStopped = false;

  constructor(public words: (string | null)[] = []) {
    words.forEach((word, slot) => {
      if (word === null) this.free.push(slot);
    });
  }

  get count(): number {
    return this.words.length - this.free.length;
  }

  get bytes(): number {
    return 100 * this.words.length;
  }

  get hasWork(): boolean {
    return !this.isAway && this.worked < this.words.length;
  }

  add(word: string): number {
    const slot = this.free.pop() ?? this.words.length;
    this.words[slot] = word;
    return slot;
  }

  remove(slot: number): void {
    if (this.words[slot] === null) throw new Error("removed twice");
    this.words[slot] = null;
    this.free.push(slot);
  }

  holds(slot: number, word: string): boolean {
    return this.words[slot] === word;
  }

  has(slot: number): boolean {
    return this.words[slot] != null;
  }

  work(): void {
    this.worked++;
  }

  get waitingCount(): number {
    return this.words.length - this.worked;
  }

  *save(): Generator<Uint8Array> {
    if (this.isAway) throw new Error("saved while others work");
    const text = Buffer.from(JSON.stringify(this.words));
    for (let at = 0; at < text.length; at += 50) yield text.subarray(at, at + 50);
    if (text.toString() !== JSON.stringify(this.words)) throw new Error("changed while it was saved");
  }

  get longWork(): LongWork {
    return this;
  }

  get isWanted(): boolean {
    return this.hasWork && this.words.length - this.worked > 5;
  }

  begin(threads: number): readonly Words[] {
    this.isAway = true;
    this.isStopped = false;
    return new Array<Words>(threads).fill(this);
  }

  stop(): void {
    this.isStopped = true;
  }

  *end(): Generator<undefined, boolean> {
    yield;
    this.isAway = false;
    yield;
    return this.worked > 0;
  }
}

/** Takes each change in a few steps. */
export class SlowWords extends Words {
  override get longWork(): never {
    return undefined as never;
  }

  *addInSteps(word: string): Generator<undefined, number> {
    yield;
    const slot = this.add(word);
    yield;
    return slot;
  }

  *removeInSteps(slot: number): Generator<undefined, void> {
    yield;
    this.remove(slot);
    yield;
  }

  *holdsInSteps(slot: number, word: string): Generator<undefined, boolean> {
    yield;
    return this.holds(slot, word);
  }
}

export function wordsOf(bytes: Uint8Array): Words {
  return new Words(JSON.parse(Buffer.from(bytes).toString()) as (string | null)[]);
}

/** Rows whose record is empty are not in the index. */
export const KIND: IndexKind<string, Words> = {
  definition: "words 1",
  create: () => new Words(),
  isBody: (body) => body instanceof Words,
  *load(bytes) {
    const words = wordsOf(bytes);
    yield;
    return words;
  },
  itemOf: (record) => (record.length === 0 ? null : Buffer.from(record).toString()),
};

export const SLOW_KIND: IndexKind<string, Words> = {
  ...KIND,
  create: () => new SlowWords(),
  *load(bytes) {
    yield;
    return new SlowWords(wordsOf(bytes).words);
  },
};
