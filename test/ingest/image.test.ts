/** Images from bytes that nobody vouches for, and what the classical feature makes of them. */
import sharp, { type Sharp } from "sharp";
import { test } from "tap";
import { decodeImage, ImageError, inspectImage, plainImage, thumbnailOf } from "../../src/ingest/image/open-image.js";
import { VISUAL_DIMENSIONS, VISUAL_SIDE, visualFeature } from "../../src/ingest/image/visual-feature.js";

const picture = (svg: string, width = 200, height = 120): Sharp =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${svg}</svg>`));
const red = '<rect width="100%" height="100%" fill="#c02020"/>';

async function refused(work: Promise<unknown>): Promise<ImageError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ImageError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

async function featureOf(image: Sharp): Promise<Float32Array> {
  const bytes = await image.png().toBuffer();
  return visualFeature(await decodeImage(bytes, { width: VISUAL_SIDE, height: VISUAL_SIDE, fit: "stretch" }));
}

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

test("what an image is, by its header", async (t) => {
  for (const format of ["png", "jpeg", "webp", "gif", "tiff", "avif"] as const) {
    const bytes = await picture(red).toFormat(format).toBuffer();
    t.match(await inspectImage(bytes), { mediaType: `image/${format}`, width: 200, height: 120, frames: 1 });
    const { width, height, rgb } = await decodeImage(bytes);
    t.same([width, height, rgb.length], [200, 120, 200 * 120 * 3]);
    t.ok(Math.abs(rgb[0]! - 0xc0) < 12 && rgb[1]! < 0x40, `${format} is red`);
  }
  const turned = await picture(red).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  t.match(await inspectImage(turned), { width: 120, height: 200 });
  t.match(await decodeImage(turned), { width: 120, height: 200 });
  const grey = await picture(red).toColourspace("b-w").png().toBuffer();
  t.equal((await decodeImage(grey)).rgb.length, 200 * 120 * 3);
  const clear = await sharp({ create: { width: 9, height: 9, channels: 4, background: "#00000000" } })
    .png()
    .toBuffer();
  t.same((await decodeImage(clear)).rgb.slice(0, 3), new Uint8Array([255, 255, 255]), "on white");
  t.match(await inspectImage(await thumbnailOf(await picture(red, 2000, 100).png().toBuffer())), {
    mediaType: "image/webp",
    width: 256,
    height: 13,
  });
  const plain = await plainImage(await picture(red, 3000, 1500).tiff().toBuffer(), 1000);
  t.equal(plain.mediaType, "image/png");
  t.match(await inspectImage(plain.bytes), { format: "png", width: 1000, height: 500 });
});

test("what is no image, cut off or too large", async (t) => {
  t.match(await refused(inspectImage(Buffer.from("just some words"))), { reason: "unsupported", message: /PNG, JPEG/ });
  t.match(await refused(inspectImage(new Uint8Array(0))), { reason: "unsupported" });
  const svg = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>`,
  );
  t.match(await refused(decodeImage(svg)), { reason: "unsupported", message: /format svg/ });
  for (const format of ["png", "jpeg", "webp", "gif"] as const) {
    const noise = sharp({
      create: {
        width: 300,
        height: 200,
        channels: 3,
        background: "#888",
        noise: { type: "gaussian", mean: 128, sigma: 40 },
      },
    });
    const whole = await noise.toFormat(format).toBuffer();
    t.match(await refused(decodeImage(whole.subarray(0, whole.length >> 1))), { reason: "broken" }, `half a ${format}`);
    t.match(await refused(thumbnailOf(whole.subarray(0, 16))), { reason: "broken" }, `the head of a ${format}`);
  }
  const huge = pngOf(20_000, 20_000);
  t.ok(huge.length < 100, "a bomb is small");
  t.match(await refused(decodeImage(huge)), { reason: "too_large", message: /20000 × 20000/ });
  t.match(await refused(inspectImage(pngOf(40_000, 10))), { reason: "too_large" });
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
