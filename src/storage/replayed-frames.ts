/**
 * What the log has of a large commit, on its way to the engine's other thread while the log is replayed (recovery.ts):
 * frames are put together and given away, so that there is no object for each operation.
 */
import type { Engine } from "./engine.js";
import { FramedPart } from "./framed-part.js";
import type { Operation } from "./operation.js";

/** Bytes and operations of one write, as while the server runs (large-in-engine.ts). */
const SENT_BYTES = 1024 * 1024;
const SENT_OPERATIONS = 4096;
/** Writes that wait for the other thread. */
const IN_FLIGHT_MAX = 3;

export class ReplayedFrames {
  private readonly gathered = Buffer.allocUnsafeSlow(SENT_BYTES);
  private length = 0;
  private operations = 0;
  private readonly inFlight: Promise<unknown>[] = [];

  /** `write`: takes operations where there is no other thread for them. */
  constructor(
    private readonly engine: Engine,
    private readonly write: (operations: Iterable<Operation>) => Promise<void>,
    private readonly loopRound: () => Promise<void>,
  ) {}

  async take(part: FramedPart): Promise<void> {
    const { gathered } = this;
    const isTooMuch = this.length + part.frames.length > gathered.length;
    if (isTooMuch || this.operations + part.length > SENT_OPERATIONS) await this.send();
    if (part.frames.length > gathered.length) {
      await this.give(part);
      return;
    }
    gathered.set(part.frames, this.length);
    this.length += part.frames.length;
    this.operations += part.length;
  }

  /** Resolves when the engine has all that was taken. */
  async end(): Promise<void> {
    await this.send();
    await Promise.all(this.inFlight.splice(0));
  }

  private async send(): Promise<void> {
    if (this.operations === 0) return;
    const part = new FramedPart(this.gathered.subarray(0, this.length), this.operations);
    this.length = 0;
    this.operations = 0;
    await this.give(part);
  }

  private async give(part: FramedPart): Promise<void> {
    const written = this.engine.writeElsewhere?.([part]) ?? null;
    if (written === null) {
      await Promise.all(this.inFlight.splice(0));
      await this.write(part.copied());
      return;
    }
    // It is waited for below, or in `end`.
    written.catch(() => {});
    this.inFlight.push(written);
    if (this.inFlight.length > IN_FLIGHT_MAX) await this.inFlight.shift();
    await this.loopRound();
  }
}
