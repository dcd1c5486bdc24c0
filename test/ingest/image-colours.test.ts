/** Colours of images by their plain names. */
import t from "tap";
import { coloursOf } from "../../src/ingest/image/image-colours.js";

/** Pixels of these colours, so many of each. */
const pixels = (...parts: readonly (readonly [hex: string, count: number])[]) => ({
  rgb: Uint8Array.from(
    parts.flatMap(([hex, count]) => Array.from({ length: count }, () => [...Buffer.from(hex, "hex")]).flat()),
  ),
});

t.test("names", async (t) => {
  for (const [hex, name] of [
    ["000000", "black"],
    ["ffffff", "white"],
    ["808080", "grey"],
    ["d02020", "red"],
    ["ff8c00", "orange"],
    ["8b4513", "brown"],
    ["ffe000", "yellow"],
    ["228b22", "green"],
    ["1e60d0", "blue"],
    ["800080", "purple"],
    ["ff69b4", "pink"],
    ["ffc0cb", "pink"],
  ] as const) {
    t.match(coloursOf(pixels([hex, 4])), [{ name, hex: `#${hex}`, share: 1 }], hex);
  }
});

t.test("shares, the most frequent first; little is left out", async (t) => {
  t.same(coloursOf(pixels(["d02020", 30], ["ffffff", 69], ["0000ff", 1])), [
    { name: "white", hex: "#ffffff", share: 0.69 },
    { name: "red", hex: "#d02020", share: 0.3 },
  ]);
});
