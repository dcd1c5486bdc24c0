/** Versions and ranges: the order of Semantic Versioning's section 11, and ranges as npm reads them. */
import t from "tap";
import { compareVersions, isVersion, parseRange } from "../../src/recipe/semver.js";

t.test("versions", (t) => {
  for (const text of ["0.0.0", "1.2.3", "1.0.0-alpha.1", "1.0.0+build.5", "10.20.30-rc.1+x"])
    t.ok(isVersion(text), text);
  for (const text of ["", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3", "1.2.3.4", "1.2.x"])
    t.notOk(isVersion(text), text);
  t.end();
});

t.test("their order", (t) => {
  const ordered = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.10.0",
    "2.0.0",
  ];
  for (let i = 0; i < ordered.length; i++) {
    for (let j = 0; j < ordered.length; j++) {
      t.equal(
        Math.sign(compareVersions(ordered[i]!, ordered[j]!)),
        Math.sign(i - j),
        `${ordered[i]} and ${ordered[j]}`,
      );
    }
  }
  t.equal(compareVersions("1.0.0+a", "1.0.0+b"), 0);
  t.end();
});

t.test("ranges", (t) => {
  const cases: readonly (readonly [range: string, inside: readonly string[], outside: readonly string[]])[] = [
    ["^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0", "2.0.0-rc.1"]],
    ["^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4"]],
    ["^0", ["0.0.1", "0.9.0"], ["1.0.0"]],
    ["~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0"]],
    ["~1", ["1.0.0", "1.9.9"], ["2.0.0"]],
    ["1.2", ["1.2.0", "1.2.7"], ["1.3.0", "1.1.9"]],
    ["1.x", ["1.0.0", "1.5.2"], ["2.0.0"]],
    ["*", ["0.0.1", "9.9.9"], []],
    [">=0.1.0 <1.0.0", ["0.1.0", "0.99.0"], ["0.0.9", "1.0.0"]],
    [">= 0.1.0", ["0.1.0"], ["0.0.1"]],
    [">1.2", ["1.3.0"], ["1.2.0", "1.2.9"]],
    ["<=1.2", ["1.2.9", "1.0.0"], ["1.3.0"]],
    ["=1.2.3", ["1.2.3"], ["1.2.4"]],
    ["1.0.0 || ^2.1", ["1.0.0", "2.1.0", "2.5.0"], ["1.0.1", "2.0.9", "3.0.0"]],
  ];
  for (const [range, inside, outside] of cases) {
    const test = parseRange(range)!;
    for (const version of inside) t.ok(test(version), `${version} is in ${range}`);
    for (const version of outside) t.notOk(test(version), `${version} is not in ${range}`);
  }
  for (const text of ["", "abc", ">=", "1.2.3 -", "^^1", "1.2.3.4", "||"]) t.equal(parseRange(text), null, text);
  t.end();
});
