/** Which tokens may follow which, and what stretches they make; after whisper/decoding.py and whisper/transcribe.py. */
import t from "tap";
import { stretchesOf } from "../../../src/ai/speech/segments.js";
import { nextToken, type TokenRules } from "../../../src/ai/speech/token-rules.js";

/** Words 0 to 9, the end, 11 and 12 (which steer), no times, and times. */
const END = 10;
const FIRST_TIME = 14;
const COUNT = FIRST_TIME + 1501;
const RULES: TokenRules = {
  end: END,
  firstTime: FIRST_TIME,
  suppressed: new Set([9]),
  suppressedFirst: new Set([END, 8]),
};
const at = (seconds: number) => FIRST_TIME + Math.round(seconds * 50);

/** The likeliest first. */
function choose(said: readonly number[], likely: readonly number[], rules = RULES): number {
  const logits = new Float32Array(COUNT).fill(-50);
  for (const [i, id] of likely.entries()) logits[id] = 20 - i;
  return nextToken(logits, said, rules).id;
}

t.test("what may be said next", async (t) => {
  t.equal(choose([], [3, END, at(2), at(0.5)]), at(0.5), "first a time, of the first second");
  t.equal(choose([at(0)], [at(1), 9, 3]), 3, "behind the first time a word, none that is never said");
  t.equal(choose([at(0), 3], [4, at(1)]), 4);
  t.equal(choose([at(2), 3], [at(1), at(2), at(3), 4]), at(3), "times do not go back");
  t.equal(choose([at(0), 3, at(1)], [4, at(0.5), at(1)]), at(1), "behind an end a beginning, not before it");
  t.equal(choose([at(0), 3, at(1)], [4, END]), END, "or the end");
  t.equal(choose([at(0), 3, at(1), at(1)], [at(2), 4]), 4, "behind a beginning a word");
  t.equal(choose([at(0), 3], [13, 4]), 4, "never that there are no times");
  const logits = new Float32Array(COUNT).fill(-50);
  logits[4] = 10;
  for (let seconds = 1; seconds < 3; seconds += 0.02) logits[at(seconds)] = 9;
  t.ok(nextToken(logits, [at(0), 3], RULES).id >= FIRST_TIME, "many times together are likelier than one word");
  const without = { ...RULES, firstTime: null };
  t.equal(choose([], [END, 8, 3], without), 3);
  t.equal(choose([3], [END, 8], without), END);
  const sure = new Float32Array(COUNT).fill(-50);
  sure[3] = 5;
  sure[4] = 5;
  t.ok(Math.abs(nextToken(sure, [at(0), 5], RULES).log - Math.log(0.5)) < 1e-3);
});

t.test("stretches, and where the next window begins", async (t) => {
  const of = (...tokens: number[]) => stretchesOf(tokens, FIRST_TIME, 30);
  t.same(of(), { stretches: [], next: 30 });
  t.same(of(at(0), 1, 2, at(4.5)), { stretches: [{ start: 0, end: 4.5, tokens: [1, 2] }], next: 30 });
  t.same(of(at(1), 1, 2), { stretches: [{ start: 1, end: 30, tokens: [1, 2] }], next: 30 }, "without an end");
  t.same(
    of(at(0), 1, at(4), at(5), 2, at(9), at(9)),
    {
      stretches: [
        { start: 0, end: 4, tokens: [1] },
        { start: 5, end: 9, tokens: [2] },
      ],
      next: 9,
    },
    "what follows the last whole one is for the next window",
  );
  t.same(of(at(0), 1, at(4), at(5), 2, at(9)).next, 30, "all is whole");
  t.same(of(at(0), 1, at(4), at(5), 2).stretches, [{ start: 0, end: 4, tokens: [1] }]);
  t.equal(of(at(0), at(0)).next, 30, "a window that says nothing is gone over");
  t.same(stretchesOf([1, 2], null, 12), { stretches: [{ start: 0, end: 12, tokens: [1, 2] }], next: 12 });
  t.equal(stretchesOf([at(0), 1, at(29)], FIRST_TIME, 12).stretches[0]!.end, 12, "no later than the sound");
});
