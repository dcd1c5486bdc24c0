/**
 * Finished pieces of a search as bytes: written as they come, and read when the same job runs again. Pieces of another
 * job or of a damaged file are not used. A JSON line, then the predictions as 32-bit numbers. No state.
 */
import { createHash } from "node:crypto";
import type { TrainJob } from "../contract.js";

export interface Piece {
  readonly stage: "screen" | "full";
  readonly trial: number;
  readonly scores: readonly number[];
  readonly rounds: number | null;
  readonly durationMs: number;
  /** Of a full validation: what was predicted out of fold. */
  readonly predicted: Float32Array;
}

export function writePiece(job: string, { predicted, ...piece }: Piece): Uint8Array {
  const body = Buffer.from(predicted.buffer, predicted.byteOffset, predicted.byteLength);
  const head = JSON.stringify({ job, digest: digestOf(body), ...piece });
  return Uint8Array.from(Buffer.concat([Buffer.from(`${head}\n`), body]));
}

/** Null when the bytes are not a whole piece of this job. */
export function readPiece(job: string, bytes: Uint8Array): Piece | null {
  const end = bytes.indexOf(10);
  if (end < 0) return null;
  const body = Uint8Array.from(bytes.subarray(end + 1));
  try {
    const { job: of, digest, ...piece } = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString());
    if (of !== job || digest !== digestOf(body) || body.length % 4 !== 0) return null;
    return { ...piece, predicted: new Float32Array(body.buffer, body.byteOffset, body.length / 4) };
  } catch {
    return null;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Counts up when the same job is searched in another way: what an earlier version has finished is not used. */
const REVISION = 2;

/** Of all that decides the result: the settings and every cell. */
export function digestOfJob({ columns, ...settings }: TrainJob): string {
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify([REVISION, sorted]));
  for (const column of columns) {
    hash.update(JSON.stringify([column.name, column.kind]));
    if (Array.isArray(column.values)) for (const text of column.values) hash.update(JSON.stringify(text));
    else {
      const { buffer, byteOffset, byteLength } = column.values as Float64Array;
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    }
  }
  return hash.digest("hex");
}
