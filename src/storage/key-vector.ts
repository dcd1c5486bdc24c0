/**
 * Vectors in keys, in pgvector's order: member by member, and a shorter one before those that it begins. Used by
 * key-codec.ts.
 */
import { damagedKey, type KeyReader } from "./key-reader.js";
import { checkKeyLength, writeByte, writeFloat32 } from "./key-writer.js";

const END = 0;
const MEMBER = 1;

export function writeVector(vector: Float32Array): void {
  for (const member of vector) {
    writeByte(MEMBER);
    writeFloat32(member);
    checkKeyLength();
  }
  writeByte(END);
}

export function readVector(reader: KeyReader): Float32Array {
  const members: number[] = [];
  for (let marker = reader.byte(); marker !== END; marker = reader.byte()) {
    if (marker !== MEMBER) throw damagedKey();
    members.push(reader.float32());
  }
  return Float32Array.from(members);
}
