/** Images: bounds before decoding, EXIF, thumbnails, words; broken ones are refused. */
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import t from "tap";
import { decodeImage } from "../../src/ingest/image/decode-image.js";
import { inspectImage } from "../../src/ingest/image/inspect-image.js";
import { ingestFolder, textOf } from "./ingest-folder.js";
import { imageOfWords, pngHeader, svgHasFonts } from "./sample-images.js";

const noFonts = (await svgHasFonts()) ? false : "this machine has no fonts to draw words with";

t.test("the words in an image", { skip: noFonts }, async (t) => {
  const folder = ingestFolder(t);
  folder.write("note.png", await imageOfWords(["The harbour master", "counts seventeen boats"]));
  const read = await folder.parse("note.png", { ocrImages: true });
  t.match(textOf(read), /harbour master/);
  t.match(textOf(read), /seventeen boats/);
  t.ok((read.metadata.ocr_confidence as number) > 0.6);
  const unread = await folder.parse("note.png");
  t.strictSame(unread.chunks, []);
  t.match(unread.notes.join(), /ocr: not asked for/);
});

t.test("EXIF and thumbnail", async (t) => {
  const folder = ingestFolder(t);
  const plain = sharp({ create: { width: 640, height: 320, channels: 3, background: "#336699" } });
  const jpeg = await plain
    .withExif({
      IFD0: { Make: "Acme", Model: "Pocket 3", ImageDescription: "The old pier at dusk" },
      IFD2: { DateTimeOriginal: "2024:05:06 07:08:09", ExposureTime: "1/125", FNumber: "28/10" },
      IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 30/1 0/1", GPSLongitudeRef: "W", GPSLongitude: "13/1 15/1 0/1" },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const file = await folder.parsed("pier.jpg", jpeg);
  t.match(file, {
    kind: "image",
    mediaType: "image/jpeg",
    title: "The old pier at dusk",
    metadata: {
      width: 640,
      height: 320,
      camera: "Acme Pocket 3",
      taken: "2024-05-06T07:08:09",
      latitude: 52.5,
      longitude: -13.25,
      aperture: 2.8,
      exposureSeconds: 0.008,
    },
  });
  t.match(textOf(file), /The old pier at dusk[\s\S]*Acme Pocket 3[\s\S]*52\.5, -13\.25/);
  t.match(await sharp(file.thumbnail).metadata(), { format: "webp", width: 128, height: 256 }, "upright");
  t.equal((await folder.parse("pier.jpg", { thumbnails: false })).thumbnail, undefined);
});

t.test("decoded pixels", async (t) => {
  const green = await sharp({
    create: { width: 5, height: 3, channels: 4, background: { r: 0, g: 255, b: 0, alpha: 1 } },
  })
    .png()
    .toBuffer();
  const { width, height, rgb } = await decodeImage(green);
  t.strictSame([width, height, rgb.length, [...rgb.subarray(0, 3)]], [5, 3, 45, [0, 255, 0]]);
  await t.rejects(decodeImage(green, { pixelsMax: 14 }), { code: "file_too_large" });
  t.match(await inspectImage(green), { format: "png", mediaType: "image/png", width: 5, height: 3, frames: 1 });
});

t.test("20,000 × 20,000 pixels are refused by the header, whatever follows", async (t) => {
  const folder = ingestFolder(t);
  const before = process.memoryUsage().rss;
  // A real one: rows of zeros pack to next to nothing.
  const rows = deflateSync(Buffer.alloc((20_000 / 8 + 1) * 20_000));
  folder.write("bomb.png", pngHeader(20_000, 20_000, rows));
  t.equal(await folder.codeOf("bomb.png", { ocrImages: true }), "file_too_large");
  await t.rejects(decodeImage(pngHeader(20_000, 20_000, rows)), { code: "file_too_large" });
  t.ok(process.memoryUsage().rss - before < 256 * 1024 * 1024);
});

t.test("no image, cut off, or of a format that is not decoded", async (t) => {
  const folder = ingestFolder(t);
  const noise = sharp({
    create: {
      width: 300,
      height: 200,
      channels: 3,
      background: "#888",
      noise: { type: "gaussian", mean: 128, sigma: 40 },
    },
  });
  for (const format of ["png", "jpeg", "webp", "gif", "tiff", "avif"] as const) {
    const whole = await noise.clone().toFormat(format).toBuffer();
    t.match(await folder.parsed(`whole.${format}`, whole), { kind: "image", mediaType: `image/${format}` });
    folder.write(`cut.${format}`, whole.subarray(0, Math.floor(whole.length / 2)));
    t.equal(await folder.codeOf(`cut.${format}`), "file_corrupt", `half a ${format}`);
    folder.write(`start.${format}`, whole.subarray(0, 20));
    t.equal(await folder.codeOf(`start.${format}`), "file_corrupt", `the start of a ${format}`);
  }
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  await t.rejects(inspectImage(Buffer.from(svg)), { code: "file_unsupported" });
  await t.rejects(inspectImage(new Uint8Array()), { code: "file_unsupported" });
  await t.rejects(inspectImage(Buffer.from("BM".padEnd(90, "\0"))), { code: "file_unsupported", message: /BMP/ });
});
