/**
 * Matches as long as POSIX has them, where golden/postgres/regular-expressions.txt does not show it: long texts end in
 * time, and what JavaScript decides alike stays with its engine.
 */
import t from "tap";
import { beginStretch, endStretch, Overrun } from "../../src/protocol/stretch.js";
import { regexOf } from "../../src/query/expr/functions/regex.js";

const lengths = (pattern: string, text: string) =>
  regexOf(pattern)
    .exec(text)!
    .map((group) => group?.length ?? null);

t.test("long texts", async (t) => {
  const text = "<b class=x>word</b> and <i>more</i> text, ".repeat(1000);
  t.same(lengths("(.*?)and(.*)", text), [23, 20, 0]);
  t.same(lengths("(.*)and(.*)", text), [text.length, text.lastIndexOf("and"), 19]);
  t.same(lengths("(<b.*>|<i.*>)(.*)", text), [text.length, text.lastIndexOf(">") + 1, 7]);
  t.same(lengths("<([a-z]+[^a-z]*)*", text), [text.length, "text, ".length]);
  t.equal(text.replace(regexOf("word|words|and"), "-").length, text.length - 1000 * (3 + 2));
  t.equal(Array.from(text.matchAll(regexOf("a|an|and"))).length, 2000);
});

t.test("hostile patterns end with an error or an answer", async (t) => {
  const text = `${"a".repeat(30_000)}b`;
  t.same(lengths("(a|aa|ab)*", text), [30_001, 2]);
  const slow = () => regexOf("((a*|aa*?)*|(.*|a.*?)*)*c?").exec("ab".repeat(1_000_000));
  t.throws(slow, { details: { sqlstate: "54001" }, message: /too complex/ }, "many ways in a long text");
  t.same(lengths("(a|aa)+$", "a".repeat(40)), [40, 1]);
});

t.test("a long match asks for turns, and can be run again without", async (t) => {
  const regex = regexOf("((a|ab|b)*)c");
  const text = `${"ab".repeat(100_000)}c`;
  beginStretch(performance.now());
  t.throws(() => regex.exec(text), Overrun);
  endStretch();
  t.equal(regex.exec(text)![1]!.length, 200_000);
});

t.test("splitting, replacing and going on behind a match", async (t) => {
  t.same("foobar,foo;x".split(regexOf("foo|foobar")), ["", ",", ";x"]);
  t.equal("foobar foo".replace(regexOf("(foo|foobar)( ?)"), "[$1$2]"), "[foobar ][foo]");
  const regex = regexOf("a|ab");
  const found: string[] = [];
  for (let match = regex.exec("ab a ab"); match !== null; match = regex.exec("ab a ab")) found.push(match[0]);
  t.same(found, ["ab", "a", "ab"]);
  t.equal(regex.lastIndex, 0);
  t.ok(regex.test("xxab"));
});
