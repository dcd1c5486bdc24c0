/**
 * Time and the event loop under a simulation's control: while installed, timers, immediates, clocks and sources of
 * chance of this process are these, so that a run follows from its seed alone, and a minute passes in a moment.
 *
 * Everything belongs to an owner (a thread of the simulated node, or the clients), that of the task that made it. When
 * an owner dies, what it still had to do never happens, as when a thread ends: at any point where it waits for
 * anything. What runs must wait for nothing real (files, sockets, threads, modules that were not loaded yet).
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { SeededRandom } from "./seeded-random.js";

export class Owner {
  alive = true;
  /** Its immediates and messages keep their order. */
  lastImmediateAt = 0;
  /** It stands still until then, as a process that was stopped. */
  stoppedUntil = 0;

  constructor(readonly name: string) {}
}

interface Task {
  at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
  cancelled: boolean;
}

const require = createRequire(import.meta.url);
const crypto = require("node:crypto") as Record<string, unknown>;
const timersPromises = require("node:timers/promises") as Record<string, unknown>;
const realImmediate = setImmediate;

/** 2026-01-01; a seed has an hour of its own, so that times only grow from one seed to the next in one process. */
const EPOCH_MS = 1_767_225_600_000;
const HOUR_MS = 3_600_000;

export class VirtualLoop {
  /** Milliseconds since the run began. */
  now = 0;
  readonly world = new Owner("world");
  current: Owner = this.world;
  tasksRun = 0;
  /** Of what ran when; equal for equal runs. */
  trace = 0;
  private order = 0;
  private readonly heap: Task[] = [];
  /** When the run began, by the wall clock. */
  readonly epochMs: number;
  private restore: (() => void)[] = [];

  constructor(
    seed: number,
    readonly random: SeededRandom,
  ) {
    this.epochMs = EPOCH_MS + (seed % 1_000_000) * HOUR_MS;
  }

  /** Has `run` happen so many milliseconds from now, as the owner's doing. */
  after(ms: number, run: () => void, owner: Owner = this.current): Task {
    const task = { at: this.now + Math.max(0, ms), order: this.order++, owner, run, cancelled: false };
    this.push(task);
    return task;
  }

  /** Soon, but after all that the owner was to do soon already. */
  soon(run: () => void, owner: Owner = this.current): Task {
    const at = Math.max(owner.lastImmediateAt, this.now + this.random.next() * 0.05);
    owner.lastImmediateAt = at;
    return this.after(at - this.now, run, owner);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs what is due until `done` says so; throws when nothing is left to do or it takes too long. */
  async run(done: () => boolean, msMax: number): Promise<void> {
    const end = this.now + msMax;
    while (!done()) {
      const task = this.pop();
      if (task === undefined) throw new Error(`nothing is left to do at ${this.now.toFixed(3)} ms`);
      if (task.cancelled || !task.owner.alive) continue;
      if (task.owner.stoppedUntil > task.at) {
        task.at = task.owner.stoppedUntil;
        this.push(task);
        continue;
      }
      this.now = Math.max(this.now, task.at);
      if (this.now > end) throw new Error(`not over after ${msMax} ms`);
      this.current = task.owner;
      this.note(`${task.owner.name}@${this.now.toFixed(4)}`);
      this.tasksRun++;
      task.run();
      // Promises that are settled now have their turn, as between two tasks of a real loop.
      await new Promise((resolve) => realImmediate(resolve));
      this.current = this.world;
    }
  }

  /** Makes `what` part of the trace. */
  note(what: string): void {
    let hash = this.trace;
    for (let i = 0; i < what.length; i++) hash = (Math.imul(hash, 31) + what.charCodeAt(i)) | 0;
    this.trace = hash;
  }

  /** Clocks go on while code runs, now and then by more than a slice of the scheduler's. */
  private tick(): number {
    this.now += this.random.chance(0.01) ? this.random.next() * 3 : this.random.next() * 0.004;
    return this.now;
  }

  install(): void {
    const { random } = this;
    const wall = () => Math.floor(this.epochMs + this.now);
    const once = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      this.handle(this.after(Math.max(1, ms), () => run(...args)));
    const RealDate = Date;
    this.replace(Date as never, "now", wall);
    this.replace(
      globalThis as never,
      "Date",
      new Proxy(RealDate, {
        construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [wall()] : args, made),
      }),
    );
    this.replace(performance as never, "now", () => this.tick());
    this.replace(
      process as never,
      "hrtime",
      Object.assign(() => [0, 0], { bigint: () => BigInt(Math.floor(this.tick() * 1e6)) }),
    );
    this.replace(process as never, "cpuUsage", () => {
      throw new Error("a simulated thread has no CPU time");
    });
    this.replace(Math as never, "random", () => random.next());
    const g = globalThis as never;
    this.replace(g, "setImmediate", (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      this.handle(this.soon(() => run(...args))),
    );
    this.replace(g, "setTimeout", once);
    this.replace(g, "setInterval", (run: () => void, ms: number) => this.repeat(run, Math.max(1, ms)));
    for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) {
      this.replace(g, name, (handle: { cancel?: () => void } | undefined | null) => handle?.cancel?.());
    }
    // Node waits for a millisecond at least.
    this.replace(timersPromises, "setTimeout", (ms: number) => this.sleep(Math.max(1, ms)));
    this.replace(timersPromises, "setImmediate", () => new Promise<void>((resolve) => this.soon(resolve)));
    this.replaceChance();
    syncBuiltinESMExports();
  }

  private replaceChance(): void {
    const { random } = this;
    const bytes = (size: number): Buffer => {
      const all = Buffer.alloc(size);
      for (let i = 0; i < size; i++) all[i] = random.between(0, 255);
      return all;
    };
    const fill = (buffer: Uint8Array): Uint8Array => {
      buffer.set(bytes(buffer.length));
      return buffer;
    };
    this.replace(crypto, "randomBytes", bytes);
    this.replace(crypto, "randomFillSync", fill);
    this.replace(crypto, "randomInt", (min: number, max?: number) =>
      max === undefined ? random.between(0, min - 1) : random.between(min, max - 1),
    );
    // Keys of backups, in virtual time: what they cost is no matter here.
    const { scryptSync } = crypto as { scryptSync: (...args: unknown[]) => Buffer };
    this.replace(crypto, "scrypt", (secret: string, salt: Uint8Array, length: number, ...rest: unknown[]) => {
      const done = rest.at(-1) as (error: unknown, key: Buffer) => void;
      this.after(random.next() * 5, () => done(null, scryptSync(secret, salt, length, { N: 2, r: 1, p: 1 })));
    });
    this.replace(crypto, "randomUUID", () => {
      const hex = bytes(16).toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
    });
  }

  uninstall(): void {
    for (const restore of this.restore.reverse()) restore();
    this.restore = [];
    syncBuiltinESMExports();
  }

  /** Until `uninstall`. */
  replace(target: Record<string, unknown>, name: string, value: unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
    this.restore.push(() => {
      if (before === undefined) delete target[name];
      else Object.defineProperty(target, name, before);
    });
  }

  private handle(task: Task): object {
    const handle = {
      cancel: () => {
        task.cancelled = true;
      },
      unref: () => handle,
      ref: () => handle,
    };
    return handle;
  }

  private repeat(run: () => void, ms: number): object {
    let task = this.after(ms, again);
    const loop = this;
    function again(): void {
      task = loop.after(ms, again);
      run();
    }
    const handle = {
      cancel: () => {
        task.cancelled = true;
      },
      unref: () => handle,
      ref: () => handle,
    };
    return handle;
  }

  // A binary heap by time, then by order of making.

  private push(task: Task): void {
    const heap = this.heap;
    let at = heap.length;
    heap.push(task);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(task, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = task;
  }

  private pop(): Task | undefined {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
