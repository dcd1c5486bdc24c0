/** Values of long lists that are made in turns are those that one go makes. */
import t from "tap";
import { convertParameters, parametersInTurns } from "../../src/session/run-program.js";
import type { StatementPlan } from "../../src/session/statement-plan.js";
import { arrayOf, INT4, type SqlType, TEXT, VECTOR } from "../../src/values/values.js";

let turns = 0;
const always = { shouldYield: () => true, yieldTurn: async () => void turns++ };

const planOf = (parameterTypes: readonly SqlType[]) => ({ parameterTypes, parameterNames: null }) as StatementPlan;

const many = <Item>(item: (i: number) => Item): Item[] => Array.from({ length: 50_000 }, (_, i) => item(i));

t.test("lists", async (t) => {
  const lists: readonly [SqlType, unknown[]][] = [
    [arrayOf(TEXT), many((i) => `text ${i}`)],
    [arrayOf(INT4), many((i) => (i % 3 === 0 ? null : i))],
    [arrayOf(INT4), many(String)],
    [arrayOf(INT4), many((i) => [i, i])],
  ];
  for (const [type, list] of lists) {
    const plan = planOf([INT4, type]);
    const before = turns;
    const values = await parametersInTurns(plan, [1, list], always);
    t.same(values, convertParameters(plan, [1, list]));
    if (!Array.isArray(list[0])) {
      t.ok(turns > before + 10, `${turns - before} turns`);
      t.equal((await parametersInTurns(plan, [1, list], always))[1], values[1], "made once");
    }
  }
});

t.test("short ones at once", async (t) => {
  const plan = planOf([INT4, arrayOf(INT4)]);
  t.same(parametersInTurns(plan, [1, [1, 2]], always), convertParameters(plan, [1, [1, 2]]));
  t.throws(() => parametersInTurns(plan, [1], always), { message: /takes 2 parameters, but 1 were sent/ });
});

t.test("a wrong item", async (t) => {
  const wrong = async (list: unknown[]) => parametersInTurns(planOf([arrayOf(INT4)]), [list], always);
  await t.rejects(wrong([...many((i) => i), "x"]), { message: 'invalid input syntax for type integer: "x"' });
  await t.rejects(wrong([...many((i) => i), [1]]), { message: "a parameter of type int4 cannot be a list" });
});

t.test("many values that take long each", async (t) => {
  const vectors = Array.from(
    { length: 300 },
    (_, i) => `[${Array.from({ length: 100 }, (_, j) => (i + j) / 7).join()}]`,
  );
  const plan = planOf(vectors.map(() => VECTOR));
  const before = turns;
  t.same(await parametersInTurns(plan, vectors, always), convertParameters(plan, vectors));
  t.ok(turns > before + 20, `${turns - before} turns`);
  const numbers = many((i) => i);
  const long = planOf([...numbers, ...numbers].map(() => INT4));
  t.same(await parametersInTurns(long, [...numbers, ...numbers], always), [...numbers, ...numbers]);
  await t.rejects(async () => parametersInTurns(plan, [...vectors.slice(1), "[1,x]"], always), /vector/);
});
