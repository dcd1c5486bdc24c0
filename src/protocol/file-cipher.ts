/**
 * Encrypts temporary files, which are written once and read here and there (AES-256 in counter mode, NIST SP 800-38A).
 * Each file has a key of its own, which is nowhere but in memory. So nobody can read it later; who could change it
 * while it is open could read the process's memory, too. Used by spill-area.ts and by threads that read its files.
 */
import { createCipheriv, randomBytes } from "node:crypto";

const BLOCK_BYTES = 16;
const TWO_32 = 2 ** 32;

/** Of one file: 32 bytes. */
export type FileCipher = Uint8Array;

export function newFileCipher(): FileCipher {
  return new Uint8Array(randomBytes(32));
}

/** The other form of bytes that stand at `position` of the file: encrypted of plain ones, and plain of encrypted. */
export function cryptAt(cipher: FileCipher, bytes: Uint8Array, position: number): Buffer {
  const counter = Buffer.alloc(BLOCK_BYTES);
  const block = Math.floor(position / BLOCK_BYTES);
  counter.writeUInt32BE(Math.floor(block / TWO_32), 8);
  counter.writeUInt32BE(block % TWO_32, 12);
  const stream = createCipheriv("aes-256-ctr", cipher, counter);
  const skipped = position % BLOCK_BYTES;
  if (skipped > 0) stream.update(new Uint8Array(skipped));
  return stream.update(bytes);
}
