/**
 * Operations as frames (operation-frame.ts) end to end: what a record of the commit log has of a large commit, for
 * recovery, which gives it to the engine's other thread without an object for each. The bytes are of use only until
 * whoever gave them is asked for more.
 */
import type { Memory } from "./copy-bytes.js";
import { SHARD_TENANT, SPACE } from "./keys.js";
import type { Operation } from "./operation.js";
import { FRAME_HEAD_BYTES, FRAME_KIND } from "./operation-frame.js";

const SPACE_AT = 4;

export class FramedPart implements Iterable<Operation> {
  constructor(
    readonly frames: Buffer,
    readonly length: number,
  ) {}

  /** Of keys and values. */
  get bytes(): number {
    return this.frames.length - this.length * FRAME_HEAD_BYTES;
  }

  /** Copies the frames. Answers where they end. */
  copyFrames({ bytes }: Memory, at: number): number {
    bytes.set(this.frames, at);
    return at + this.frames.length;
  }

  /** The same in memory of its own, for who keeps what it writes. */
  copied(): FramedPart {
    return new FramedPart(Buffer.from(this.frames), this.length);
  }

  /** Where the key of each operation begins and ends; `isPut`: it has a value. */
  each(visit: (key: number, keyEnd: number, isPut: boolean) => void): void {
    const { frames } = this;
    for (let at = 0; at < frames.length; ) {
      const isPut = frames[at] === FRAME_KIND.put;
      const key = at + FRAME_HEAD_BYTES;
      const keyEnd = key + (frames[at + 1]! | (frames[at + 2]! << 8));
      at = keyEnd + frames.readUInt32LE(at + 3);
      visit(key, keyEnd, isPut);
    }
  }

  /** All that it does is to put and delete what tenants have: it orders nothing, and says nothing of the shard. */
  get isPlain(): boolean {
    const { frames } = this;
    let isPlain = true;
    this.each((key, keyEnd) => {
      const isOfTenant = keyEnd - key > SPACE_AT && frames.readUInt32BE(key) !== SHARD_TENANT;
      if (!isOfTenant || frames[key + SPACE_AT] === SPACE.retired) isPlain = false;
    });
    return isPlain;
  }

  /** Whether it is so of a key of one of its tenants, where the answer is the same for all that the tenant has. */
  some(test: (operation: Pick<Operation, "key">) => boolean): boolean {
    const { frames } = this;
    const tested = new Set<number>();
    let [isSo, last] = [false, -1];
    this.each((at, end) => {
      const tenant = frames.readUInt32BE(at);
      if (tenant === last) return;
      last = tenant;
      if (isSo || tested.has(tenant)) return;
      tested.add(tenant);
      isSo = test({ key: frames.subarray(at, end) });
    });
    return isSo;
  }

  *[Symbol.iterator](): IterableIterator<Operation> {
    const { frames } = this;
    for (let at = 0; at < frames.length; ) {
      const key = at + FRAME_HEAD_BYTES;
      const value = key + frames.readUInt16LE(at + 1);
      const end = value + frames.readUInt32LE(at + 3);
      const isPut = frames[at] === FRAME_KIND.put;
      yield { key: frames.subarray(key, value), value: isPut ? frames.subarray(value, end) : null };
      at = end;
    }
  }
}
