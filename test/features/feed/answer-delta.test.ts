/** What a client is told of an answer in an order, and what it makes of it. */
import t from "tap";
import { type AnswerRows, type Difference, orderedDifferenceOf } from "../../../src/features/feed/answer-delta.js";
import { Random } from "../../query/random-plans.js";

function answerOf(keys: readonly string[], values: (key: string) => string): AnswerRows {
  return new Map(keys.map((key) => [key, `["${key}","${values(key)}"]`]));
}

function taken(before: AnswerRows, { added, removed, changed, places }: Difference): readonly string[] {
  const rows = [...before.values()];
  const gone = [...removed, ...changed.map(([old]) => old)];
  t.same(
    places!.before.map((place) => rows[place]),
    gone,
    "they were there",
  );
  const kept = rows.filter((_, place) => !places!.before.includes(place));
  const brought = [...changed.map(([, now]) => now), ...added];
  const { after } = places!;
  return Array.from({ length: kept.length + brought.length }, (_, place) => {
    const at = after.indexOf(place);
    return at === -1 ? kept.shift()! : brought[at]!;
  });
}

t.test("rows that come, go, change and move end where they are in the answer", (t) => {
  const random = new Random(5);
  for (let round = 0; round < 200; round++) {
    const shuffled = () => random.shuffled([..."abcdefgh"].filter(() => random.below(3) > 0));
    const before = answerOf(shuffled(), () => "old");
    const after = answerOf(shuffled(), () => (random.below(4) === 0 ? "new" : "old"));
    t.same(taken(before, orderedDifferenceOf(before, after)), [...after.values()]);
  }
  t.end();
});

t.test("the fewest rows move", (t) => {
  const [before, after] = ["abcdef", "fabcde"].map((keys) => answerOf([...keys], () => "old"));
  t.same(orderedDifferenceOf(before!, after!).changed.length, 1);
  t.same(orderedDifferenceOf(after!, before!).places, { before: [0], after: [5] });
  t.end();
});
