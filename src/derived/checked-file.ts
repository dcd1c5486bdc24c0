/** A file with a checksum at its end, which takes the place of the one before it in one step. */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { DataKey } from "../storage/tenant-keys.js";
import { sealedChunks } from "./sealed-file.js";

/**
 * Writes the chunks (none of them empty: the checksum of nothing begins anew) and their CRC-32, u32 little-endian,
 * under another name; syncs, and renames. `durable` resolves when the commit that the content stands at can no longer
 * be lost.
 */
export async function replaceChecked(
  path: string,
  chunks: Iterable<Uint8Array>,
  durable: () => Promise<void>,
  key: DataKey | null = null,
): Promise<void> {
  const beside = `${path}.new`;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(beside, "w");
  try {
    const content = withSum(chunks);
    for (const chunk of key === null ? content : sealedChunks(path, key, content)) await file.writeFile(chunk);
    await file.sync();
    await durable();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

function* withSum(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  let sum = 0;
  for (const chunk of chunks) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  const tail = Buffer.allocUnsafe(4);
  tail.writeUInt32LE(sum);
  yield tail;
}
