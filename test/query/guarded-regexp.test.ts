/** Hostile patterns end with an error, harmless ones and slow-looking but quick ones give their answers. */
import t from "tap";
import { regexOf } from "../../src/query/expr/functions/regex.js";

t.test("patterns that backtrack without end are stopped", async (t) => {
  const text = `${"a".repeat(40)}b`;
  for (const pattern of ["^(a+)+$", "^(a|aa)+$", "^(a*)*$", "(a+)+\\1$", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
    t.throws(() => regexOf(pattern).test(text), { code: "query_error", details: { sqlstate: "54001" } }, pattern);
  }
});

t.test("guarded patterns answer like any other", async (t) => {
  t.ok(regexOf("^(ab)+$").test("ababab"));
  t.notOk(regexOf("^(ab)+$").test("ababa"));
  t.equal("2026-11-21".replace(regexOf("(\\d+)-(\\d+)-(\\d+)"), "$3.$2.$1"), "21.11.2026");
  t.same(
    [..."a1bb22".matchAll(regexOf("([a-z]+)([0-9]+)"))].map((match) => match[0]),
    ["a1", "bb22"],
  );
});
