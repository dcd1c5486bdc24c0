/** Values sent to another process come back as they were, and whoever has to give way does so while it sends. */

import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import t from "tap";
import type { Turns } from "../../src/protocol/turns.js";
import { receivedValue, type Sent, sentValue } from "../../src/query/expr/sent-value.js";
import { parseJson } from "../../src/values/json-text.js";
import { Numeric } from "../../src/values/numeric.js";
import { fromText, toText } from "../../src/values/text-format.js";
import {
  arrayOf,
  BYTEA,
  INT4,
  JSON_TYPE,
  JSONB,
  Json,
  NUMERIC,
  type SqlType,
  TEXT,
  VARIANT,
  type Value,
} from "../../src/values/values.js";
import { Float, GraphNode, type Variant } from "../../src/values/variant.js";
import { sized } from "../lengths.js";
import { arrayOfElements, numbers, text } from "./large-values.js";

class CountedTurns implements Turns {
  count = 0;
  shouldYield(): boolean {
    return true;
  }
  async yieldTurn(): Promise<void> {
    this.count++;
  }
}

async function thereAndBack(type: SqlType, value: Value, turns: Turns = new CountedTurns()): Promise<Value> {
  const sent = await sentValue(type, value, turns);
  if (sent === undefined) throw new Error("not sent");
  return receivedValue(type, deserialize(serialize(sent)) as Sent, turns);
}

const scalars = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.bigInt({ min: 1n << 53n, max: (1n << 63n) - 1n }),
  fc.double().map((x): Variant => (Number.isInteger(x) ? new Float(x) : x)),
  fc.string(),
  fc.integer().map((x) => new Float(x)),
);
const { variant } = fc.letrec<{ variant: Variant }>((tie) => ({
  variant: fc.oneof(
    { depthSize: "medium" },
    scalars,
    fc.array(tie("variant")),
    fc.dictionary(fc.string(), tie("variant")).map((object) => new Map(Object.entries(object))),
  ),
}));

t.test("variants come back as they were", async (t) => {
  await fc.assert(
    fc.asyncProperty(variant, async (value) => {
      const back = await thereAndBack(VARIANT, value);
      t.strictSame(back, value);
    }),
  );
});

t.test("JSON comes back with all digits of its numbers, and json with its spaces", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (json) => {
      const back = (await thereAndBack(JSONB, new Json(parseJson(json)))) as Json;
      t.strictSame(back.value, parseJson(json));
      t.notOk("text" in back && back.text !== undefined);
    }),
  );
  const exact = '{"a": [1.10, 123456789012345678901234567890, 1e400]}';
  t.equal(toText(JSONB, await thereAndBack(JSONB, fromText(JSONB, exact))), toText(JSONB, fromText(JSONB, exact)));
  const spaced = '{ "b" : 1.0,  "a":2, "a": 3 }';
  t.equal(toText(JSON_TYPE, await thereAndBack(JSON_TYPE, fromText(JSON_TYPE, spaced))), spaced);
});

t.test("arrays keep their shape, NULLs and values of classes", async (t) => {
  const cases: [SqlType, string][] = [
    [arrayOf(INT4), "[0:1][2:3]={{1,2},{3,NULL}}"],
    [arrayOf(NUMERIC), "{1.50,NULL,NaN}"],
    [arrayOf(JSONB), '{"{\\"a\\": 1.10}",NULL}'],
    [arrayOf(BYTEA), '{"\\\\x01ff",NULL}'],
    [arrayOf(TEXT), "{}"],
  ];
  for (const [type, written] of cases) {
    t.equal(toText(type, await thereAndBack(type, fromText(type, written))), toText(type, fromText(type, written)));
  }
});

t.test("what is large goes and comes in many turns", async (t) => {
  const LARGE = sized(40_000, 100_000);
  const large: [SqlType, Value][] = [
    [JSONB, new Json(numbers(LARGE))],
    [JSONB, new Json(Object.fromEntries(numbers(LARGE).map((value, i) => [`k${i}`, [value]])))],
    [JSONB, new Json([[[numbers(LARGE / 2)]]])],
    [arrayOf(INT4), arrayOfElements(numbers(LARGE))],
    [arrayOf(NUMERIC), arrayOfElements(numbers(20_000).map((value) => Numeric.parse(`${value}.50`)))],
    [VARIANT, numbers(LARGE)],
    [VARIANT, [1, [2, numbers(LARGE / 2)], new Map([["a", numbers(LARGE / 2)]])]],
    [VARIANT, new Map(numbers(30_000).map((value, i): [string, Variant] => [`k${i}`, [value, new Float(1)]]))],
    [VARIANT, [text(1_000_000), "a", text(1_000_000)]],
  ];
  for (const [type, value] of large) {
    const turns = new CountedTurns();
    t.strictSame(await thereAndBack(type, value, turns), value);
    t.ok(turns.count > 4, `${turns.count} turns`);
  }
});

t.test("what only this process knows is not sent", async (t) => {
  const node = new GraphNode(1, ["A"], new Map());
  for (const value of [node, [node], [1, [node]], new Map([["a", node]])] as Variant[]) {
    t.equal(await sentValue(VARIANT, value, new CountedTurns()), undefined);
  }
});
