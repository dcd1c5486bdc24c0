/**
 * A property index changes no answer: random properties and conditions, asked for by a label with an index and by one
 * without.
 */
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { open } from "../conformance/tck-adapter.js";

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, "", "a", "ab", "b", "\uffff", "😀", 0, 1, -1, 1.5, -0.5),
  fc.constantFrom(2 ** 53, 2 ** 53 + 2, 2n ** 53n + 1n, -(2n ** 60n), 2 ** 70, 1e-7),
  fc.integer({ min: -3, max: 3 }),
);
/** As a statement writes them; JSON has neither NaN nor dates. */
const written = fc.constantFrom(
  "0.0/0.0",
  "1/0.0",
  "1.0",
  "-0.0",
  "date('2020-01-01')",
  "date('2021-01-01')",
  "duration('P1D')",
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar.map((param) => ({ param })) },
  // Lists of properties are of one type.
  {
    weight: 1,
    arbitrary: fc
      .oneof(fc.array(fc.constantFrom(1, 2), { maxLength: 2 }), fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }))
      .map((param) => ({ param })),
  },
  { weight: 2, arbitrary: written.map((text) => ({ text })) },
);
type Written = { readonly param?: unknown; readonly text?: string };

const operators = ["=", "<>", "<", "<=", ">", ">=", "STARTS WITH", "IN"] as const;
const condition = fc.tuple(fc.constantFrom(...operators), value, value);

t.test("with an index and without", async (t) => {
  const db = await open();
  t.teardown(() => db.close());
  const property = fc.asyncProperty(
    fc.array(value, { maxLength: 12 }),
    fc.array(condition, { minLength: 1, maxLength: 6 }),
    async (values, conditions) => {
      await db.reset();
      await db.run("CREATE INDEX FOR (n:Indexed) ON (n.x)", {});
      for (const given of values) {
        const { text, params } = expression(given, "v");
        await db.run(`CREATE (:Indexed:Plain {x: ${text}})`, params);
      }
      for (const [operator, first, second] of conditions) {
        const [a, b] = [expression(first, "a"), expression(second, "b")];
        const right = operator === "IN" ? `[${a.text}, ${b.text}]` : a.text;
        const params = { ...a.params, ...b.params };
        const ask = async (label: string) => {
          const where = `MATCH (n:${label}) WHERE n.x ${operator} ${right}`;
          return (await db.run(`${where} RETURN id(n) AS id ORDER BY id`, params)).rows;
        };
        deepStrictEqual(await ask("Indexed"), await ask("Plain"), `x ${operator} ${right}`);
      }
      const joined = async (label: string) =>
        (
          await db.run(
            `MATCH (n:${label}), (m:${label}) WHERE n.x = m.x RETURN id(n) AS n, id(m) AS m ORDER BY n, m`,
            {},
          )
        ).rows;
      deepStrictEqual(await joined("Indexed"), await joined("Plain"), "join");
    },
  );
  await t.resolves(fc.assert(property, { numRuns: 40 }));
});

function expression({ param, text }: Written, name: string): { text: string; params: Record<string, unknown> } {
  return text === undefined ? { text: `$${name}`, params: { [name]: param } } : { text, params: {} };
}
