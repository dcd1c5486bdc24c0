/** CRC-32 as in zlib (RFC 1952, section 8), continued from `seed`. For the commit log and backups. */
import zlib from "node:zlib";

// node:zlib has crc32 since Node 20.15 and 22.2; before that a table does.
export const crc32: (bytes: Uint8Array, seed: number) => number = (zlib as Partial<typeof zlib>).crc32 ?? tableCrc32();

function tableCrc32(): (bytes: Uint8Array, seed: number) => number {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    let remainder = i;
    for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
    table[i] = remainder;
  }
  return (bytes, seed) => {
    let crc = ~seed;
    for (let i = 0; i < bytes.length; i++) crc = table[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
    return ~crc >>> 0;
  };
}
