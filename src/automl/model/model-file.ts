/**
 * The bytes of a model: "TSML", version, length of the JSON part, the JSON part, arrays (each on an 8-byte boundary),
 * and a SHA-256 digest of all before it. Little-endian. Data only: reading runs nothing. No state.
 */
import { createHash } from "node:crypto";
import { DbError } from "../../protocol/errors.js";
import type { ArraySink, StoredArray } from "./learner.js";

const MAGIC = "TSML";
const VERSION = 1;
const HEAD_BYTES = 12;
const DIGEST_BYTES = 32;

const TYPES = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u8: Uint8Array } as const;
type TypeName = keyof typeof TYPES;

export class ModelArrays implements ArraySink {
  readonly list: StoredArray[] = [];

  add(array: StoredArray): number {
    this.list.push(array);
    return this.list.length - 1;
  }
}

export function writeModel(content: object, arrays: readonly StoredArray[]): Uint8Array {
  const index = arrays.map((array) => [typeName(array), array.length] as const);
  const json = Buffer.from(JSON.stringify({ content, index }));
  const size = arrays.reduce((at, array) => aligned(at) + array.byteLength, HEAD_BYTES + json.length);
  const bytes = new Uint8Array(size + DIGEST_BYTES);
  bytes.set(Buffer.from(MAGIC));
  const view = new DataView(bytes.buffer);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, json.length, true);
  bytes.set(json, HEAD_BYTES);
  let at = HEAD_BYTES + json.length;
  for (const array of arrays) {
    at = aligned(at);
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  bytes.set(digestOf(bytes.subarray(0, size)), size);
  return bytes;
}

function aligned(at: number): number {
  return Math.ceil(at / 8) * 8;
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function typeName(array: StoredArray): TypeName {
  return (Object.keys(TYPES) as TypeName[]).find((name) => array instanceof TYPES[name])!;
}

/** Throws `model_unavailable` when the bytes are not a whole model of this version. */
export function readModel(bytes: Uint8Array): { content: Record<string, unknown>; arrays: StoredArray[] } {
  const size = bytes.length - DIGEST_BYTES;
  if (size < HEAD_BYTES || Buffer.from(bytes.subarray(0, 4)).toString() !== MAGIC) throw unreadable("it is no model");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(4, true);
  if (version !== VERSION) throw unreadable(`it has version ${version}, and this server reads version ${VERSION}`);
  if (Buffer.compare(digestOf(bytes.subarray(0, size)), bytes.subarray(size)) !== 0)
    throw unreadable("its digest is wrong");
  const end = HEAD_BYTES + view.getUint32(8, true);
  const { content, index } = JSON.parse(Buffer.from(bytes.subarray(HEAD_BYTES, end)).toString()) as {
    content: Record<string, unknown>;
    index: [TypeName, number][];
  };
  let at = end;
  const arrays = index.map(([name, length]) => {
    at = aligned(at);
    const type = TYPES[name];
    // Copied, so that it starts on a boundary whatever the bytes stand in.
    const array = new type(Uint8Array.from(bytes.subarray(at, at + length * type.BYTES_PER_ELEMENT)).buffer);
    at += array.byteLength;
    return array;
  });
  return { content, arrays };
}

function unreadable(why: string): DbError {
  return new DbError("model_unavailable", `The model cannot be read: ${why}. Train it again.`);
}
