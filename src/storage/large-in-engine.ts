/**
 * How the engine takes a large commit, after the log has it on disk: some operations at a time, in the calls of
 * `takeSome`; or on the engine's other thread, which the first call sets to work. Made by the shard, one at a time.
 */
import type { Engine } from "./engine.js";
import { stepsOf } from "./large-commit.js";
import type { LargeCommitSizes } from "./large-commit-sizes.js";
import type { LargeSource } from "./large-source.js";
import { bytesOfPart, type OperationPart } from "./packed-operations.js";

/** The shard, as it is needed here. None of it is called after the commit has been given up. */
export interface LargeHost {
  readonly engine: Engine;
  /** The log has all of the commit on disk, and the engine none of it. */
  begins(): void;
  /** Whether a snapshot from before that commit is open. */
  isNewTo(sequence: number): boolean;
  /** Such snapshots keep what the operations will replace. */
  keepReplaced(operations: OperationPart): void;
  /** Writes in this thread. */
  write(operations: OperationPart): void;
  /** The engine has all of that commit. */
  writeSequence(sequence: number): void;
  /** The other thread has written them. */
  written(operations: OperationPart): void;
  /** It has written so many entries fewer than operations. */
  spared(entries: number): void;
  /** There is something to do for `takeSome`. */
  wake(): void;
  /** The engine has all of it. */
  done(): void;
  fail(error: unknown): void;
}

/** Operations from which on the other thread pays: its start takes as long as some ten thousand. */
const ELSEWHERE_OPERATIONS = 16_384;
/** Operations and bytes of one write on the other thread; a millisecond of this one. */
const SENT_OPERATIONS = 4096;
const SENT_BYTES = 1024 * 1024;
/** Writes that wait for the other thread. */
const IN_FLIGHT_MAX = 3;

export class LargeInEngine {
  /** Operations that remain. */
  private rest: Iterator<OperationPart>;
  private isElsewhere: boolean;
  private inFlight = 0;
  /** What it has written, and nobody was told of. */
  private readonly unnoted: OperationPart[] = [];
  /** All has been given to the other thread. */
  private isSent = false;
  private isGivenUp = false;
  private hasBegun = false;

  constructor(
    readonly sequence: number,
    sources: readonly LargeSource[],
    sizes: LargeCommitSizes,
    private readonly host: LargeHost,
  ) {
    let size = 0;
    for (const { writes } of sources) size += writes.size;
    this.isElsewhere = size >= ELSEWHERE_OPERATIONS && host.engine.writeElsewhere !== undefined;
    this.rest = stepsOf(sources, sizes);
  }

  /** `takeSome` has nothing to do until the other thread has answered. */
  get isUnderWay(): boolean {
    if (this.unnoted.length > 0 || this.inFlight === 0) return false;
    return this.isSent || this.inFlight >= IN_FLIGHT_MAX;
  }

  /** What the other thread still does is no longer of interest. */
  giveUp(): void {
    this.isGivenUp = true;
  }

  /** One step, of a millisecond or so. */
  takeSome(): void {
    if (this.isUnderWay) return;
    try {
      if (!this.hasBegun) this.host.begins();
      this.hasBegun = true;
      if (this.isElsewhere) this.takeElsewhere();
      else this.takeHere();
    } catch (error) {
      this.host.fail(error);
    }
  }

  private takeHere(): void {
    const { host, sequence } = this;
    const step = this.rest.next();
    if (step.done === true) {
      host.writeSequence(sequence);
      host.done();
      return;
    }
    if (host.isNewTo(sequence)) host.keepReplaced(step.value);
    host.write(step.value);
  }

  private takeElsewhere(): void {
    const { host, sequence } = this;
    const part = this.unnoted.shift();
    if (part !== undefined) host.written(part);
    else if (!this.isSent) {
      // To look up what is replaced takes a step's time.
      const isSlow = host.isNewTo(sequence);
      this.send(isSlow ? 1 : SENT_OPERATIONS, isSlow);
    } else {
      host.writeSequence(sequence);
      host.done();
    }
  }

  private send(operationsMax: number, keepsReplaced: boolean): void {
    const { host } = this;
    const parts = this.nextParts(operationsMax);
    if (keepsReplaced) for (const part of parts) host.keepReplaced(part);
    const written = host.engine.writeElsewhere!(parts);
    if (written === null) {
      // It has no other thread after all.
      this.isElsewhere = false;
      this.rest = chained(parts, this.rest);
      return;
    }
    this.inFlight++;
    written.then(
      (entries) => this.hasWritten(parts, entries),
      (error: unknown) => {
        if (!this.isGivenUp) host.fail(error);
      },
    );
  }

  private nextParts(operationsMax: number): readonly OperationPart[] {
    const parts: OperationPart[] = [];
    for (let operations = 0, bytes = 0; operations < operationsMax && bytes < SENT_BYTES; ) {
      const step = this.rest.next();
      if (step.done === true) {
        this.isSent = true;
        break;
      }
      parts.push(step.value);
      operations += step.value.length;
      bytes += bytesOfPart(step.value);
    }
    return parts;
  }

  /** The steps that follow are taken in turns: answers come faster than others would get theirs in between. */
  private hasWritten(parts: readonly OperationPart[], entries: number): void {
    if (this.isGivenUp) return;
    this.inFlight--;
    let operations = 0;
    for (const part of parts) operations += part.length;
    this.host.spared(operations - entries);
    this.unnoted.push(...parts);
    this.host.wake();
  }
}

function* chained(first: readonly OperationPart[], rest: Iterator<OperationPart>): IterableIterator<OperationPart> {
  yield* first;
  for (let step = rest.next(); step.done !== true; step = rest.next()) yield step.value;
}
