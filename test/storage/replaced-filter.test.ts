/** What the filter of replaced keys may say: never that a key was not replaced when it was. */
import t from "tap";
import { ReplacedFilter } from "../../src/storage/replaced-filter.js";
import { Random } from "../fuzz/random.js";

const keyOf = (number: number): Buffer => {
  const key = Buffer.alloc(13);
  key.writeUInt32BE(7, 0);
  key.writeUInt32BE(number, 9);
  return key;
};

t.test("a key that a later commit has replaced is never missed, of others few are taken for it", async (t) => {
  const random = new Random(5);
  const from = 1000;
  const filter = new ReplacedFilter(from);
  const newest = new Map<number, number>();
  for (let sequence = from + 1; sequence <= from + 3000; sequence++) {
    for (let i = random.below(50); i >= 0; i--) {
      const number = random.below(100_000);
      filter.note(keyOf(number), sequence);
      newest.set(number, sequence);
    }
  }
  let missed = 0;
  let wrong = 0;
  let others = 0;
  for (let i = 0; i < 50_000; i++) {
    const number = random.below(200_000);
    const since = from + random.below(3200);
    const isReplaced = (newest.get(number) ?? 0) > since;
    const mayHave = filter.mayHave(keyOf(number), since);
    if (isReplaced && !mayHave) missed++;
    // A filter knows of no commit which of its keys it has replaced.
    if (number >= 100_000) {
      others++;
      if (mayHave) wrong++;
    }
  }
  t.equal(missed, 0);
  t.ok(others > 10_000 && wrong / others < 0.03, `${wrong} of ${others}`);
});

t.test("of commits that it was not told of, it says nothing", async (t) => {
  const filter = new ReplacedFilter(10);
  t.equal(filter.mayHave(keyOf(1), 9), true);
  t.equal(filter.mayHave(keyOf(1), 10), false);
  // The oldest are forgotten: a key of its own each.
  const all = 17 * 2 ** 15;
  for (let i = 0; i < all; i++) filter.note(keyOf(i), 11 + i);
  t.equal(filter.mayHave(keyOf(1), 12), true);
  t.equal(filter.mayHave(keyOf(all), 12), true, "also of a key that nobody has replaced");
  t.equal(filter.mayHave(keyOf(all), all + 10), false);
});
