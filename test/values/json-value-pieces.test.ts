/** Large values in pieces: the text that the writer of cells makes, and an end for what has too many parts. */
import fc from "fast-check";
import t from "tap";
import { jsonWriter } from "../../src/values/json-format.js";
import { jsonPieces } from "../../src/values/json-value-pieces.js";
import { Numeric } from "../../src/values/numeric.js";
import { costLeft } from "../../src/values/value-cost.js";
import { arrayOf, INT4, JSONB, Json, type SqlType, TEXT, VARIANT, type Value } from "../../src/values/values.js";
import { Float, GraphNode, GraphPath, GraphRelationship, type Variant } from "../../src/values/variant.js";
import { variantToJson, variantToPlain } from "../../src/values/variant-format.js";

const inPieces = (type: SqlType, value: Value): string => [...jsonPieces(type, value)].join("");
const same = (t: { equal(a: unknown, b: unknown, message: string): boolean }, type: SqlType, value: Value): void => {
  const text = jsonWriter(type)(value);
  t.equal(inPieces(type, value) === text, true, text.slice(0, 60));
};

t.test("the same text in pieces", async (t) => {
  same(t, TEXT, "");
  same(t, TEXT, 'é"\\\n\u{1f600}\ud800'.repeat(40_000));
  // Pairs at every place around where a piece ends.
  for (let i = 0; i < 3; i++) same(t, TEXT, `${"x".repeat(64 * 1024 - i)}\u{1f600}y`);
  const numbers = Array.from({ length: 20_000 }, (_, i) => (i % 7 === 0 ? Numeric.parse(`${i}.50`) : i));
  const document = { a: numbers, 'ü"': { b: numbers, c: [] }, __proto: {}, t: "x".repeat(300_000), n: null };
  same(t, JSONB, new Json(document));
  same(t, JSONB, new Json(Object.fromEntries(numbers.map((n, i) => [`k${i}`, { n }]))));
  const flat = { elements: [...numbers.keys(), null], dimensions: [20_001], lowerBounds: [1] };
  same(t, arrayOf(INT4), flat);
  same(t, arrayOf(INT4), { elements: [...numbers.keys()], dimensions: [20, 10, 100], lowerBounds: [1, 1, 1] });
  same(t, arrayOf(INT4), { elements: [], dimensions: [], lowerBounds: [] });
  same(t, arrayOf(TEXT), { elements: ["a", null, "x".repeat(500_000)], dimensions: [3], lowerBounds: [1] });
  const properties = new Map<string, Variant>([
    ["list", [...numbers.keys()]],
    ["f", new Float(1)],
    ["t", 'é"'],
    ["b", Uint8Array.from({ length: 20_000 }, (_, i) => i)],
  ]);
  const node = new GraphNode(1, ["A", "B"], properties);
  const edge = new GraphRelationship(7, "T", 1, 1, properties);
  same(t, VARIANT, node);
  same(t, VARIANT, [edge, new GraphPath([node, node], [edge]), new Map([["m", [properties, null, 2n ** 60n]]])]);
});

t.test("the same text of any document", async () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      (json) => inPieces(JSONB, new Json(json)) === jsonWriter(JSONB)(new Json(json)),
    ),
  );
});

t.test("a value that shares its parts without end is refused", async (t) => {
  let list: Variant = [1];
  for (let i = 0; i < 40; i++) list = [list, list];
  const refused = { details: { sqlstate: "54000" } } as unknown as Error;
  t.throws(() => variantToJson(list), refused);
  t.throws(() => variantToPlain(list), refused);
  t.ok(costLeft(list, 1000) < 0);
  // Whoever writes it in pieces can stop at any.
  let written = 0;
  for (const piece of jsonPieces(VARIANT, list)) {
    written += piece.length;
    if (written > 1_000_000) break;
  }
  t.ok(written > 1_000_000);
});
