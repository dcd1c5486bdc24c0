/** Patterns of paths against a matcher that tries everything, and texts that are read as they were printed. */
import t from "tap";
import { lqueryFromText, matchesLquery } from "../../src/values/lquery.js";
import { isBelow } from "../../src/values/ltree.js";
import { ltxtqueryFromText, matchesLtxtquery } from "../../src/values/ltxtquery.js";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";

interface Level {
  readonly text: string;
  readonly takes: (label: string) => boolean;
  readonly low: number;
  readonly high: number;
}

function levelOf(random: Random): Level {
  const [low, high] = [random.below(3), 2 + random.below(3)];
  if (random.chance(0.3)) return { text: `*{${low},${high}}`, takes: () => true, low, high };
  const label = random.one(["a", "b"]);
  const negated = random.chance(0.3);
  const text = `${negated ? "!" : ""}${label}`;
  const takes = (other: string) => (other === label) !== negated;
  if (random.chance(0.5)) return { text, takes, low: 1, high: 1 };
  return { text: `${text}{${low},${high}}`, takes, low, high };
}

function matches(labels: readonly string[], levels: readonly Level[]): boolean {
  const [level, ...rest] = levels;
  if (level === undefined) return labels.length === 0;
  for (let count = level.low; count <= Math.min(level.high, labels.length); count++) {
    if (labels.slice(0, count).every(level.takes) && matches(labels.slice(count), rest)) return true;
  }
  return false;
}

t.test("patterns match what trying everything matches", async (t) => {
  const random = new Random(11);
  let matched = 0;
  for (let i = 0; i < tries(5000); i++) {
    const levels = Array.from({ length: 1 + random.below(4) }, () => levelOf(random));
    const labels = Array.from({ length: random.below(9) }, () => random.one(["a", "b", "c"]));
    const query = lqueryFromText(levels.map(({ text }) => text).join("."));
    const expected = matches(labels, levels);
    if (expected) matched++;
    if (matchesLquery(labels, query) !== expected) t.equal(!expected, expected, `${labels.join(".")} ~ ${query}`);
    if (lqueryFromText(query) !== query) t.equal(lqueryFromText(query), query);
  }
  t.ok(matched > 500, `${matched} matched`);
});

t.test("a long path and a long pattern take time of their product at most", async (t) => {
  const labels = new Array<string>(3000).fill("a");
  t.notOk(matchesLquery(labels, `${new Array(100).fill("*{1,40}.!b{,9}").join(".")}.b`));
  t.ok(matchesLquery(labels, `${new Array(100).fill("*{1,40}").join(".")}.*.a{5}`));
});

t.test("what is printed of a query is read again, however it is nested", async (t) => {
  for (const text of [
    new Array(500).fill("a").join("|"),
    `${"!".repeat(499)}a`,
    `${"(".repeat(900)}a${")".repeat(900)}`,
  ]) {
    const printed = ltxtqueryFromText(text);
    t.equal(ltxtqueryFromText(printed), printed);
    t.equal(typeof matchesLtxtquery(["a"], printed), "boolean");
  }
  t.throws(() => ltxtqueryFromText(new Array(501).fill("a").join("|")), { message: /more than 500 words/ });
  t.throws(() => ltxtqueryFromText("(".repeat(5000)), { message: /nested too deeply/ });
});

t.test("a path is below another only at the end of a label", async (t) => {
  t.ok(isBelow("a.b", "a"));
  t.notOk(isBelow("ab", "a"));
  t.notOk(isBelow("a", "a.b"));
});
