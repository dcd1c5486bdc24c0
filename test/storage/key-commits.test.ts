/** What is known of the commits that have written keys: never less than there was, and under which one to look. */
import t from "tap";
import { KeyCommits } from "../../src/storage/key-commits.js";
import { Random } from "../fuzz/random.js";

const keyOf = (number: number): Buffer => {
  const key = Buffer.alloc(13);
  key.writeUInt32BE(7, 0);
  key.writeUInt32BE(number, 9);
  return key;
};

t.test("the first later commit that has written a key is told, or that there is none", async (t) => {
  const random = new Random(5);
  const from = 1000;
  const commits = new KeyCommits(from);
  const written = new Map<number, number[]>();
  let keys = 0;
  for (let sequence = from + 1; sequence <= from + 6000; sequence++) {
    for (let i = random.below(50); i >= 0; i--) {
      // A few are written again and again.
      const number = random.below(8) === 0 ? random.below(20) : random.below(100_000);
      commits.note(keyOf(number), sequence);
      const all = written.get(number) ?? [];
      if (all.at(-1) !== sequence) all.push(sequence);
      written.set(number, all);
      keys++;
    }
  }
  t.ok(keys > 100_000, "several tables");
  const [wrong, seen]: [string[], Record<string, number>] = [[], { none: 0, one: 0, unknown: 0 }];
  for (let i = 0; i < 50_000; i++) {
    const number = random.below(8) === 0 ? random.below(20) : random.below(200_000);
    const since = from + random.below(6200);
    const expected = (written.get(number) ?? []).find((sequence) => sequence > since) ?? null;
    const found = commits.firstAfter(keyOf(number), since);
    // Of a table's first and last commit of a key, one between them is not known.
    const mayBeUnknown = expected !== null && written.get(number)!.some((sequence) => sequence <= since);
    if (found === undefined ? !mayBeUnknown : found !== expected) wrong.push(`${number} since ${since}`);
    if (found !== undefined && expected !== null && (found === null || found > expected)) t.fail(`${number} is missed`);
    seen[found === undefined ? "unknown" : found === null ? "none" : "one"]!++;
  }
  // Two of all these keys may have one hash.
  t.ok(wrong.length < 10, wrong.slice(0, 10).join(", "));
  t.ok(seen.none! > 10_000 && seen.one! > 5000 && seen.unknown! > 100, JSON.stringify(seen));
});

t.test("of commits that it was not told of, it says nothing", async (t) => {
  const commits = new KeyCommits(10);
  t.equal(commits.firstAfter(keyOf(1), 9), undefined);
  t.equal(commits.firstAfter(keyOf(1), 10), null);
  commits.note(keyOf(1), 11);
  t.equal(commits.firstAfter(keyOf(1), 10), 11);
  t.equal(commits.firstAfter(keyOf(1), 11), null);
  // The oldest are forgotten: a key of its own each.
  const all = 13 * 0.75 * 2 ** 16;
  for (let i = 0; i < all; i++) commits.note(keyOf(2 + i), 12 + i);
  t.equal(commits.firstAfter(keyOf(1), 12), undefined);
  t.equal(commits.firstAfter(keyOf(all + 5), 12), undefined, "also of a key that nobody has written");
  t.equal(commits.firstAfter(keyOf(all + 5), all), null);
  t.equal(commits.firstAfter(keyOf(all), all), all + 10);
});

t.test("a key that each commit writes takes one place", async (t) => {
  const commits = new KeyCommits(0);
  for (let sequence = 1; sequence <= 500_000; sequence++) commits.note(keyOf(1), sequence);
  t.equal(commits.firstAfter(keyOf(1), 0), 1);
  t.equal(commits.firstAfter(keyOf(1), 499_999), undefined);
  t.equal(commits.firstAfter(keyOf(1), 500_000), null);
});

t.test("numbers of commits are told apart however far they lie", async (t) => {
  const commits = new KeyCommits(0);
  commits.note(keyOf(1), 5);
  commits.note(keyOf(1), 2 ** 33);
  commits.note(keyOf(1), 2 ** 33 + 7);
  t.equal(commits.firstAfter(keyOf(1), 4), 5);
  t.equal(commits.firstAfter(keyOf(1), 5), 2 ** 33);
  t.equal(commits.firstAfter(keyOf(1), 2 ** 33 + 7), null);
});
