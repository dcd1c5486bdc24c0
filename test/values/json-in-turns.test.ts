/** Large JSON values, parsed and written in turns: the same values and texts as at once. */
import t from "tap";
import { isUnwritten, LONG_JSON_CHARACTERS, parseInTurns, writeInTurns } from "../../src/values/json-in-turns.js";
import { jsonToCompactText, parseJson } from "../../src/values/json-text.js";
import { Json } from "../../src/values/values.js";

const always = { shouldYield: () => true, yieldTurn: () => new Promise<void>(setImmediate) };
const members = Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, i % 3 === 0 ? `text ${i}` : i] as const);
const TEXTS: Readonly<Record<string, string>> = {
  "an object of many keys": JSON.stringify(Object.fromEntries(members)),
  "a list of numbers that doubles do not hold": `[${members.map((_, i) => `1.${i}00`).join()}]`,
  "nested objects": JSON.stringify(members.map(([key, value]) => ({ [key]: { value: [value] } }))),
  "a long text": JSON.stringify("x".repeat(2 * LONG_JSON_CHARACTERS)),
};

for (const [what, text] of Object.entries(TEXTS)) {
  t.test(what, async (t) => {
    const stored = Json.stored(text, false);
    t.equal(stored.unparsed, text, "is not parsed at first");
    await parseInTurns(stored, always);
    t.equal(stored.unparsed, undefined);
    t.strictSame(stored.value, parseJson(text), "is parsed as at once");
    t.strictSame(Json.stored(text, false).value, parseJson(text), "is parsed when it is asked for");
    t.notOk(isUnwritten(stored), "a stored value has its text");

    const made = new Json(parseJson(text));
    t.equal(isUnwritten(made), what !== "a long text");
    t.equal(await writeInTurns(made, always), jsonToCompactText(made.value));
    t.notOk(isUnwritten(made));
  });
}

t.test("a damaged text", async (t) => {
  const text = `[${"1,".repeat(LONG_JSON_CHARACTERS)}`;
  await t.rejects(parseInTurns(Json.stored(text, false), always));
  t.throws(() => Json.stored(text, false).value, /invalid input syntax for type json/);
});
