/**
 * Images in the forms that models and services want, those of requests, and what the classical feature makes of them.
 */
import sharp, { type Sharp } from "sharp";
import { test } from "tap";
import { fitImage, plainImage } from "../../src/ingest/image/fit-image.js";
import { inspectImage } from "../../src/ingest/image/inspect-image.js";
import { VISUAL_DIMENSIONS, VISUAL_SIDE, visualFeature } from "../../src/ingest/image/visual-feature.js";
import { lookAtImage } from "../../src/ingest/media/look-at-image.js";
import { checkBase64 } from "../../src/ingest/media/media-bytes.js";
import { DbError } from "../../src/protocol/errors.js";

const picture = (svg: string, width = 200, height = 120): Sharp =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${svg}</svg>`));
const red = '<rect width="100%" height="100%" fill="#c02020"/>';

async function refused(work: Promise<unknown>): Promise<DbError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

async function featureOf(image: Sharp): Promise<Float32Array> {
  const bytes = await image.png().toBuffer();
  return visualFeature(await fitImage(bytes, VISUAL_SIDE, "stretch"));
}

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

test("squares for models, and files for services", async (t) => {
  for (const format of ["png", "jpeg", "webp", "gif", "tiff", "avif"] as const) {
    const { width, height, rgb } = await fitImage(await picture(red).toFormat(format).toBuffer(), 32, "crop");
    t.same([width, height, rgb.length], [32, 32, 32 * 32 * 3]);
    t.ok(Math.abs(rgb[0]! - 0xc0) < 12 && rgb[1]! < 0x40, `${format} is red`);
  }
  const sides = '<rect width="50%" height="100%" fill="#f00"/><rect x="50%" width="50%" height="100%" fill="#00f"/>';
  const wide = await picture(sides, 400, 100).png().toBuffer();
  const red0 = (rgb: Uint8Array, x: number) => rgb[(16 * 32 + x) * 3]!;
  for (const fit of ["crop", "stretch"] as const) {
    const { rgb } = await fitImage(wide, 32, fit);
    t.ok(red0(rgb, 2) > 200 && red0(rgb, 29) < 50, `both halves of what is wide: ${fit}`);
  }
  const turned = await picture(sides, 400, 400).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  const upright = (await fitImage(turned, 32, "stretch")).rgb;
  t.ok(upright[(2 * 32 + 16) * 3]! > 200 && upright[(29 * 32 + 16) * 3]! < 50, "left is above, once it is turned");
  for (const odd of [
    await picture(red).toColourspace("b-w").png().toBuffer(),
    await picture(red).toColourspace("rgb16").png().toBuffer(),
    await picture(red).toColourspace("cmyk").tiff().toBuffer(),
  ]) {
    t.equal((await fitImage(odd, 16, "crop")).rgb.length, 16 * 16 * 3, "three bytes a pixel");
  }
  const clear = await sharp({ create: { width: 9, height: 9, channels: 4, background: "#00000000" } })
    .png()
    .toBuffer();
  t.same((await fitImage(clear, 4, "crop")).rgb.slice(0, 3), new Uint8Array([255, 255, 255]), "on white");
  const plain = await plainImage(await picture(red, 3000, 1500).tiff().toBuffer(), 1000);
  t.equal(plain.mediaType, "image/png");
  t.match(await inspectImage(plain.bytes), { format: "png", width: 1000, height: 500 });
  t.equal((await plainImage(await picture(red).jpeg().toBuffer(), 1000)).mediaType, "image/jpeg");
});

test("what is no image, cut off or too large", async (t) => {
  t.match(await refused(fitImage(Buffer.from("just some words"), 8, "crop")), { code: "file_unsupported" });
  t.match(await refused(fitImage(new Uint8Array(0), 8, "crop")), { code: "file_unsupported" });
  const noise = sharp({
    create: {
      width: 300,
      height: 200,
      channels: 3,
      background: "#888",
      noise: { type: "gaussian", mean: 128, sigma: 40 },
    },
  });
  for (const format of ["png", "jpeg", "webp", "gif"] as const) {
    const whole = await noise.toFormat(format).toBuffer();
    const half = whole.subarray(0, whole.length >> 1);
    t.match(await refused(fitImage(half, 64, "stretch")), { code: "file_corrupt" }, `half a ${format}`);
    t.match(await refused(plainImage(half, 64)), { code: "file_corrupt" }, `half a ${format}`);
  }
  const huge = pngOf(20_000, 20_000);
  t.ok(huge.length < 100, "a bomb is small");
  t.match(await refused(fitImage(huge, 8, "crop")), { code: "file_too_large", message: /20000 × 20000/ });
});

test("what a request sends", async (t) => {
  const whole = await picture(red).png().toBuffer();
  const base64 = whole.toString("base64");
  const seen = await lookAtImage({
    image: { field: "image", content: base64 },
    feature: true,
    record: true,
    shownSideMax: 50,
  });
  t.match(seen, { mediaType: "image/png", width: 200, height: 120, bytes: whole.length, exif: {}, notes: [] });
  t.equal(seen.feature!.length, VISUAL_DIMENSIONS);
  t.match(await inspectImage(Buffer.from(seen.thumbnail!, "base64")), { format: "webp", width: 200 });
  t.match(await inspectImage(Buffer.from(seen.shown!.base64, "base64")), { format: "png", width: 50 });
  const lines = base64.replaceAll(/.{76}/g, "$&\r\n");
  t.equal((await lookAtImage({ image: { field: "image", content: lines } })).sha256, seen.sha256);
  t.equal((await lookAtImage({ image: { field: "image_url", content: whole } })).sha256, seen.sha256);
  for (const [content, message] of [
    ["", /^image: is empty/],
    ["iVBOR!!!", /^image: is not valid base64: unexpected "!"/],
    ["iVBOR=aa", /unexpected "="/],
    [base64.slice(0, -1), /multiple of 4/],
    [base64.slice(0, 400), /^image: .*broken or cut off/],
    [Buffer.from("words, no image").toString("base64"), /^image: .*no image/],
    [pngOf(20_000, 20_000).toString("base64"), /^image: .*20000 × 20000/],
  ] as const) {
    const error = await refused(lookAtImage({ image: { field: "image", content } }));
    t.equal(error.code, "invalid_request");
    t.match(error.message, message);
  }
  for (const text of ["data:image/png;base64,iVBO", " DATA:;base64,"]) {
    t.throws(() => checkBase64("image", text), { code: "invalid_request", message: /without the "data/ });
  }
});

/** The head of a PNG that says to have so many pixels. */
function pngOf(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const chunk = (name: string, data: Buffer) => {
    const out = Buffer.alloc(12 + data.length);
    out.writeUInt32BE(data.length, 0);
    out.write(name, 4, "latin1");
    data.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const idat = Buffer.from("789c030000000001", "hex");
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header), chunk("IDAT", idat)]);
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

test("near vectors are like images", async (t) => {
  const sunset =
    '<rect width="100%" height="60%" fill="#e08030"/><rect y="60%" width="100%" height="40%" fill="#203060"/>';
  const first = await featureOf(picture(`${sunset}<circle cx="100" cy="70" r="20" fill="#ffe080"/>`));
  t.equal(first.length, VISUAL_DIMENSIONS);
  t.ok(Math.abs(cosine(first, first) - 1) < 1e-5, "of length 1");
  t.same(
    await featureOf(picture(`${sunset}<circle cx="100" cy="70" r="20" fill="#ffe080"/>`)),
    first,
    "the same again",
  );
  const moved = await featureOf(picture(`${sunset}<circle cx="112" cy="68" r="22" fill="#fff0a0"/>`));
  const larger = await featureOf(picture(`${sunset}<circle cx="100" cy="70" r="20" fill="#ffe080"/>`).resize(900, 600));
  const forest = await featureOf(
    picture(
      '<rect width="100%" height="100%" fill="#206020"/><path d="M20 120V0M60 120V0M100 120V0M150 120V0" stroke="#402010" stroke-width="12"/>',
    ),
  );
  const text = await featureOf(
    picture(
      '<rect width="100%" height="100%" fill="#fff"/><path d="M10 20H190M10 40H170M10 60H180M10 80H120" stroke="#000" stroke-width="4"/>',
    ),
  );
  t.ok(cosine(first, larger) > 0.97, `in another size ${cosine(first, larger)}`);
  t.ok(cosine(first, moved) > 0.85, `a little changed ${cosine(first, moved)}`);
  t.ok(cosine(first, forest) < cosine(first, moved) - 0.3, `another picture ${cosine(first, forest)}`);
  t.ok(cosine(first, text) < cosine(first, moved) - 0.3, `a page ${cosine(first, text)}`);
  for (const colour of ["#000000", "#808080", "#ffffff"]) {
    const plain = await featureOf(picture(`<rect width="100%" height="100%" fill="${colour}"/>`));
    t.ok(plain.every(Number.isFinite) && Math.abs(cosine(plain, plain) - 1) < 1e-5, colour);
  }
});
