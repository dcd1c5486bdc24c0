/** Images that tests of ingestion draw. */
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";

/** Black words on white, one line each, as a PNG. */
export async function imageOfWords(lines: readonly string[]): Promise<Buffer> {
  const text = lines.map((line, i) => `<text x="40" y="${80 + i * 64}">${line.replaceAll("&", "&amp;")}</text>`);
  const size = `width="900" height="${80 + lines.length * 64}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect ${size} fill="white"/><g font-family="DejaVu Sans, Liberation Sans, Arial, sans-serif" font-size="40">${text.join("")}</g></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

/** Without fonts librsvg draws no words, or boxes. */
export async function svgHasFonts(): Promise<boolean> {
  const draw = async (word: string) =>
    sharp(await imageOfWords([word]))
      .raw()
      .toBuffer();
  const [i, w] = [await draw("i"), await draw("W")];
  return !i.equals(w) && i.some((value) => value < 128);
}

/** A PNG of one bit per pixel with the given compressed rows. */
export function pngHeader(width: number, height: number, rows: Uint8Array = deflateSync(Buffer.alloc(0))): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const start = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([start, pngPart("IHDR", header), pngPart("IDAT", rows), pngPart("IEND", new Uint8Array())]);
}

function pngPart(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const part = Buffer.alloc(body.length + 8);
  part.writeUInt32BE(data.length, 0);
  body.copy(part, 4);
  part.writeUInt32BE(crc32(body), body.length + 4);
  return part;
}
