/**
 * Writes MessagePack of large values with turns in between; it reads like msgpackr's. Called by answer-in-turns.ts.
 */

import { Packr } from "msgpackr";
import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { resultTooLarge } from "../protocol/size-errors.js";
import type { Turns } from "../protocol/turns.js";
import { costLeft } from "../values/value-cost.js";

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true, variableMapSize: true });

/** Parts of a value that are packed at once. */
const PARTS_AT_ONCE = 4096;
const ITEMS_AT_ONCE = 1024;

export class PackedPieces {
  readonly pieces: Uint8Array[] = [];
  bytes = 0;

  constructor(private readonly turns: Turns) {}

  add(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.bytes > RESULT_BYTES_MAX) throw resultTooLarge();
  }

  async pack(value: unknown): Promise<void> {
    if (this.turns.shouldYield()) await this.turns.yieldTurn();
    if (costLeft(value, PARTS_AT_ONCE) >= 0) this.add(packr.pack(value));
    else if (Array.isArray(value)) {
      this.add(listHeader(value.length));
      await this.packItems(value, ITEMS_AT_ONCE);
    } else if (isPlainObject(value)) {
      const members = Object.entries(value);
      this.add(mapHeader(members.length));
      await this.packMembers(members);
    } else this.add(packr.pack(value));
  }

  /** Without a header. */
  async packMembers(members: readonly (readonly [string, unknown])[]): Promise<void> {
    for (const [name, value] of members) {
      this.add(packr.pack(name));
      await this.pack(value);
    }
  }

  /** Many at once where they are small. */
  private async packItems(items: readonly unknown[], atOnce: number): Promise<void> {
    for (let from = 0; from < items.length; from += atOnce) {
      const some = items.slice(from, from + atOnce);
      if (costLeft(some, PARTS_AT_ONCE) >= 0) this.add(packr.pack(some).subarray(listHeader(some.length).length));
      else if (atOnce === 1) await this.pack(some[0]);
      else await this.packItems(some, atOnce === ITEMS_AT_ONCE ? 32 : 1);
      if (this.turns.shouldYield()) await this.turns.yieldTurn();
    }
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

export function mapHeader(members: number): Uint8Array {
  return header(members, 0x80, 0xde);
}

function listHeader(items: number): Uint8Array {
  return header(items, 0x90, 0xdc);
}

/** As msgpackr writes it: `short` holds up to 15, then come two bytes, then four. */
function header(count: number, short: number, long: number): Uint8Array {
  if (count < 16) return Uint8Array.of(short | count);
  if (count < 0x10000) return Uint8Array.of(long, count >> 8, count & 0xff);
  const bytes = Buffer.allocUnsafe(5);
  bytes[0] = long + 1;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}
