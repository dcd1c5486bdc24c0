/**
 * Hostile patterns are answered, or end with an error where only a bounded engine can run them; all engines say the
 * same.
 */
import { RE2JS } from "re2js";
import t from "tap";
import { linearRegExp } from "../../src/query/expr/functions/linear-regexp.js";
import { re2Syntax } from "../../src/query/expr/functions/re2-syntax.js";
import { regexOf } from "../../src/query/expr/functions/regex.js";
import { regExpCost } from "../../src/query/expr/functions/regexp-cost.js";

t.test("patterns that would backtrack without end are answered", async (t) => {
  const text = `${"a".repeat(5000)}b`;
  for (const pattern of [
    "^(a+)+$",
    "^(a|aa)+$",
    "^(a*)*$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "^(.*a){12}$",
    "(a?){30}a{30}$",
    "(x+x+)+y",
    "^(a|a|b)*\\Z(?#nothing)c",
  ]) {
    t.equal(regexOf(pattern).test(text), false, pattern);
    t.equal(regexOf(`${pattern}|b$`).test(text), true, `${pattern}|b$`);
  }
  t.same(regexOf("(a+)+b$").exec(text)?.index, 0);
  t.equal(regexOf("(a+)+c$").exec(text), null);
  t.equal("x".repeat(100_000).replace(regexOf("(x+x+)+y"), "-").length, 100_000);
  // Each start looks at the rest: a square of steps, though nothing is nested.
  t.equal(regexOf("a+c").exec("a".repeat(1_000_000)), null);
});

t.test("what only a backtracking engine can run ends with an error", async (t) => {
  const text = `${"a".repeat(40)}b`;
  for (const pattern of ["(a+)+\\1$", "^(a+)+(?=c)"]) {
    t.throws(() => regexOf(pattern).exec(text), { details: { sqlstate: "54001" }, message: /too complex/ }, pattern);
  }
  t.equal(regexOf("^((a)|aa)+$").exec(text), null);
  t.equal(regexOf("(\\w+) \\1").exec("say it it again")?.[1], "it");
  t.equal(regexOf("\\mfoo\\M").exec("a foo b")?.index, 2);
});

t.test("engines that take over do what V8's does", async (t) => {
  t.ok(regexOf("^(ab)+$").test("ababab"));
  t.notOk(regexOf("^(ab)+$").test("ababa"));
  t.equal("2026-11-21".replace(regexOf("(\\d+)-(\\d+)-(\\d+)"), "$3.$2.$1"), "21.11.2026");
  const long = "x1 ".repeat(3000);
  for (const pattern of ["([a-z]+)([0-9]+)", "([a-z]|[0-9])+", "(?:\\w\\d?)+", "\\s*", "^x|1 $"]) {
    const plain = new RegExp(pattern, "gu");
    const own = linearRegExp(pattern, "gu");
    const all = (regex: RegExp) => Array.from(long.matchAll(regex), (match) => [match.index, ...match]);
    t.strictSame(all(own), all(plain), pattern);
    t.equal(long.replace(own, "<$&>"), long.replace(plain, "<$&>"), pattern);
    t.equal(long.search(own), long.search(plain), pattern);
  }
});

t.test("lines end with a newline alone, in a short text and in a long one", async (t) => {
  for (const tail of ["", "z".repeat(10_000)]) {
    const text = `one\rtwo\nthree${tail}`;
    t.same([...text.matchAll(regexOf("^(\\w*.?t?)w?", "n"))].length, 2);
    t.equal(regexOf("^two", "n").test(text), false);
    t.equal(regexOf("^three", "n").test(text), true);
    t.equal(regexOf("one.two$", "n").test(text), true);
    t.equal(regexOf("two.three", "n").test(text), false);
    t.equal(regexOf("two.three").test(text), true);
  }
});

t.test("costs", async (t) => {
  for (const [pattern, cost] of [
    ["abc", { degree: 0, ways: 1, isAmbiguous: false }],
    ["^a+b*$", { degree: 2, isAnchored: true, isAmbiguous: false }],
    ["^a|b", { isAnchored: false, ways: 2 }],
    ["(?:ab)+", { degree: 1, isAmbiguous: false }],
    ["(a|b)+", { isAmbiguous: true, hasOwnGroups: false }],
    ["((a)|b)+", { isAmbiguous: true, hasOwnGroups: true }],
    ["(?:|a)+", { isAmbiguous: true, hasOwnGroups: true }],
    ["(a+){2}", { isAmbiguous: true }],
    ["a?b?c{2,4}", { degree: 0, ways: 12 }],
    ["[(+*]\\(\\+", { degree: 0, ways: 1 }],
    ["(a{100}){100}", { unfolded: 10_100 }],
  ] as const) {
    t.match(regExpCost(pattern), cost, pattern);
  }
});

t.test("random patterns: RE2 finds what V8 finds", async (t) => {
  let state = 11;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const one = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const atom = (depth: number): string => {
    if (depth > 0 && below(3) === 0) return `${one(["(", "(?:"])}${pattern(depth - 1)})`;
    return one([
      "a",
      "b",
      ".",
      "\\w",
      "\\d",
      "[ab]",
      "[^a\\s]",
      "\\s",
      "é",
      "\\u{1F388}",
      "\\p{L}",
      "\\b",
      "^",
      "$",
      "\\.",
    ]);
  };
  const piece = (depth: number): string => {
    const what = atom(depth);
    return /^(?:\\b|\^|\$)$/.test(what) ? what : what + one(["", "", "", "*", "+", "?", "{1,2}", "*?", "{2}"]);
  };
  const pattern = (depth: number): string => {
    const sequence = Array.from({ length: 1 + below(3) }, () => piece(depth)).join("");
    return below(4) === 0 ? `${sequence}|${piece(depth)}` : sequence;
  };
  const text = () =>
    Array.from({ length: below(8) }, () => one(["a", "b", "1", " ", "\n", "é", "🎈", ".", "\u2003"])).join("");
  let compared = 0;
  for (let i = 0; i < 2000; i++) {
    const source = pattern(2);
    const flags = one(["u", "us", "iu"]);
    const plain = new RegExp(source, flags);
    const translated = re2Syntax(source, flags);
    if (translated === null) continue;
    const linear = RE2JS.compile(translated);
    const where = text();
    const expected = plain.exec(where);
    const what = `/${source}/${flags} on ${JSON.stringify(where)} as ${translated}`;
    if (linear.test(where) !== (expected !== null)) t.fail(what);
    if (regExpCost(source).hasOwnGroups) continue;
    const matcher = linear.matcher(where);
    const found = matcher.find() ? [matcher.start(), matcher.end()] : null;
    const wanted = expected === null ? null : [expected.index, expected.index + expected[0].length];
    if (JSON.stringify(found) !== JSON.stringify(wanted)) t.fail(`${what}: ${found}, not ${wanted}`);
    compared++;
  }
  t.ok(compared > 800, `${compared} compared`);
});
