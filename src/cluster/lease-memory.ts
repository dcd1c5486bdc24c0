/**
 * What this node may believe (lease.ts), in memory that all of its threads share: the thread of the lease writes it,
 * everybody else reads it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ACTOR_DOWN, ACTOR_READY } from "./actor-readiness.js";
import { APART_MS, type Believed, type NodeClock } from "./lease.js";

const BYTES = 64;
/** After those, for each actor: the life in which it is ready, plus one; 0: it is down or starts. */
const ACTORS = BYTES / 4;
/** Words: of the writer's progress (odd while it writes), and of the node's life. */
const WRITING = 0;
const LIFE = 1;
/** Behind the numbers: counts what was said of actors. */
const ACTORS_SAID = 8;
/** Of 8 bytes, after those. */
const UNTIL = 1;
const MONOTONIC = 2;
const WALL = 3;

/** The clocks of this machine, the same in each thread. */
export const SYSTEM_CLOCK: NodeClock = {
  monotonicMs: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  wallMs: Date.now,
};

export function newLeaseMemory(actors = 1): SharedArrayBuffer {
  return new SharedArrayBuffer(BYTES + 4 * actors);
}

export class LeaseMemory {
  private readonly words: Int32Array;
  private readonly numbers: Float64Array;

  constructor(
    memory: SharedArrayBuffer,
    private readonly clock: NodeClock = SYSTEM_CLOCK,
  ) {
    this.words = new Int32Array(memory);
    this.numbers = new Float64Array(memory, 0, BYTES / 8);
  }

  /** Changes when the node has lost all that it owned: what began before is void. */
  get life(): number {
    return Atomics.load(this.words, LIFE);
  }

  /** Call it after a reply was computed. */
  get holds(): boolean {
    return this.leftMs > 0;
  }

  /**
   * `holds`, in that life. The life is read last: a lease that was lost and renewed between the two reads does not
   * count.
   */
  holdsIn(life: number): boolean {
    return this.holds && this.life === life;
  }

  /** For which the node may still believe; 0: it may not. */
  get leftMs(): number {
    for (;;) {
      const before = Atomics.load(this.words, WRITING);
      const [until, monotonic, wall] = [this.numbers[UNTIL]!, this.numbers[MONOTONIC]!, this.numbers[WALL]!];
      // Both words in one order for all threads: what was read between two equal even ones belongs together.
      if (before % 2 !== 0 || Atomics.load(this.words, WRITING) !== before) continue;
      const now = this.clock.monotonicMs();
      const apart = this.clock.wallMs() - wall - (now - monotonic);
      return Math.abs(apart) > APART_MS ? 0 : Math.max(0, until - now);
    }
  }

  /**
   * Which actors are ready in this life of the node: those of the last one own nothing any more, and are about to end.
   */
  get actors(): string {
    const now = this.life + 1;
    const states = Array.from({ length: this.actorCount }, (_, actor) => Atomics.load(this.words, ACTORS + actor));
    return states.map((life) => (life === now ? ACTOR_READY : ACTOR_DOWN)).join("");
  }

  private get actorCount(): number {
    return this.words.length - ACTORS;
  }

  /** The actor takes partitions from now on, for as long as the node has this life. */
  actorReady(actor: number, life: number): void {
    this.say(actor, life + 1);
  }

  /** Its thread is no more. */
  actorDown(actor: number): void {
    this.say(actor, 0);
  }

  private say(actor: number, state: number): void {
    Atomics.store(this.words, ACTORS + actor, state);
    Atomics.add(this.words, ACTORS_SAID, 1);
    Atomics.notify(this.words, ACTORS_SAID);
  }

  /** How often something was said of an actor. */
  get actorsSaid(): number {
    return Atomics.load(this.words, ACTORS_SAID);
  }

  /** Resolves when something has been said of an actor since it was so often, at the latest after so long. */
  async saidMore(often: number, withinMs: number): Promise<void> {
    const said = Atomics.waitAsync(this.words, ACTORS_SAID, often, withinMs);
    if (!said.async) return;
    const over = new AbortController();
    // That alone would not keep the thread.
    await Promise.race([said.value, sleep(withinMs, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  /** Of the actor whose the partition is where this node owns it. */
  actorOfDown(partition: number): void {
    this.actorDown(partition % this.actorCount);
  }

  renewed({ untilMs, monotonicMs, wallMs }: Believed): void {
    this.write(untilMs, monotonicMs, wallMs);
  }

  lost(): void {
    this.write(0, 0, 0);
    Atomics.add(this.words, LIFE, 1);
  }

  private write(until: number, monotonic: number, wall: number): void {
    Atomics.add(this.words, WRITING, 1);
    this.numbers[UNTIL] = until;
    this.numbers[MONOTONIC] = monotonic;
    this.numbers[WALL] = wall;
    Atomics.add(this.words, WRITING, 1);
  }
}
