/**
 * The inverted index against counting by hand, under additions and removals; queries as people write them; highlights.
 */
import fc from "fast-check";
import t from "tap";
import { analyzerOf } from "../../src/text/analysis.js";
import type { TextItem } from "../../src/text/document-terms.js";
import { highlight } from "../../src/text/highlight.js";
import { parseTextQuery, type TextQuery } from "../../src/text/query.js";
import { TextBody } from "../../src/text/text-body.js";
import { Strangers, searchText } from "../../src/text/text-search.js";

const WORDS = ["alpha", "beta", "gamma", "delta", "run", "running", "the", "of", "data", "database", "e-mail"];

/** Whether a document answers, straight from its words. */
function answers(query: TextQuery, item: TextItem): boolean {
  const analyzer = analyzerOf("english");
  const columns = item.map((text) => analyzer.tokens(text ?? "").map(({ term }) => term));
  switch (query.kind) {
    case "term":
      return columns.some((terms) => terms.includes(query.term));
    case "prefix":
      return columns.some((terms) => terms.some((term) => term !== "" && term.startsWith(query.prefix)));
    case "phrase":
      return columns.some((terms) =>
        terms.some((_, start) => {
          let at = start;
          return query.terms.every((term, i) => {
            at += query.gaps[i]!;
            return terms[at] === term;
          });
        }),
      );
    case "or":
      return query.parts.some((part) => answers(part, item));
    case "and":
      return query.parts.every((part) => answers(part, item));
    case "boosted":
      return answers(query.part, item);
    case "without":
      return answers(query.part, item) && !answers(query.not, item);
    case "some":
      return query.terms.filter((term) => columns.some((terms) => terms.includes(term))).length >= query.least;
    case "nothing":
      return false;
  }
}

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(" "));
const item = fc.tuple(fc.option(text), fc.option(text));
const written = fc
  .array(
    fc.constantFrom(...WORDS, "+beta", "-gamma", '"alpha beta"', '"run of data"', "da*", "OR", "AND", "(", ")", "NOT"),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(" "));
const step = fc.oneof(
  item.map((add) => ({ add })),
  fc.nat().map((remove) => ({ remove })),
);

/** What was saved, after all steps of loading. */
function loaded(bytes: Uint8Array): TextBody {
  const steps = TextBody.load("english", bytes);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

t.test("hits and scores under changes", async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.array(written, { maxLength: 5 }), (steps, queries) => {
      let body = new TextBody("english");
      const items = new Map<number, TextItem>();
      for (const one of steps) {
        if ("add" in one) {
          const slot = body.add(one.add);
          if (items.has(slot)) throw new Error("a slot was given twice");
          items.set(slot, one.add);
        } else if (items.size > 0) {
          const slot = [...items.keys()][one.remove % items.size]!;
          body.remove(slot);
          items.delete(slot);
        }
      }
      const fresh = new TextBody("english");
      const numbers = new Map([...items].map(([slot, one]) => [slot, fresh.add(one)]));
      if (steps.length % 2 === 0) body = loaded(Buffer.concat([...body.save()]));
      for (const [slot, one] of items) if (!body.holds(slot, one)) throw new Error("an item is not held");
      for (const query of queries.map((each) => parseTextQuery(each, body.analyzer))) {
        const { slots, scores } = searchText(body, query);
        const expected = [...items].filter(([, one]) => answers(query, one)).map(([slot]) => slot);
        t.same(
          [...slots],
          expected.sort((a, b) => a - b),
        );
        const again = searchText(fresh, query);
        slots.forEach((slot, i) => {
          const other = again.scores[again.slots.indexOf(numbers.get(slot)!)]!;
          const alone = new Strangers(body).score(query, items.get(slot)!)!;
          for (const score of [other, alone])
            if (!(Math.abs(score - scores[i]!) < 1e-9)) throw new Error("scores differ");
        });
      }
    }),
    { numRuns: 300 },
  );
});

t.test("queries", async (t) => {
  const parse = (query: string, operator?: "or" | "and") => parseTextQuery(query, analyzerOf("english"), operator);
  const term = (name: string) => ({ kind: "term", term: name });
  t.same(parse("Running dogs"), { kind: "or", parts: [term("run"), term("dog")] });
  t.same(parse("running the dogs", "and"), { kind: "and", parts: [term("run"), term("dog")] });
  t.same(parse("the of"), { kind: "nothing" });
  t.same(parse('"state of the art"'), { kind: "phrase", terms: ["state", "art"], gaps: [0, 3] });
  t.same(parse("data* e-mail"), {
    kind: "or",
    parts: [
      { kind: "prefix", prefix: "data" },
      { kind: "phrase", terms: ["e", "mail"], gaps: [0, 1] },
    ],
  });
  t.same(parse("+red green -blue"), {
    kind: "without",
    part: { kind: "boosted", part: term("red"), more: term("green") },
    not: term("blue"),
  });
  t.same(parse("(red OR green) AND blue"), {
    kind: "and",
    parts: [{ kind: "or", parts: [term("red"), term("green")] }, term("blue")],
  });
  for (const odd of ["(((", "))", '"', "+", "- -", "AND", "OR OR", "*", `${"(".repeat(500)}x`, "a".repeat(1e5)])
    t.ok(parse(odd));
});

t.test("words of several languages and scripts", async (t) => {
  const terms = (language: string, words: string) =>
    analyzerOf(language)
      .tokens(words)
      .map(({ term }) => term);
  t.same(terms("german", "Die Häuser der Städte"), ["", "haus", "", "stadt"]);
  t.same(terms("simple", "Die Häuser"), ["die", "häuser"]);
  t.same(terms("english", "Bob's ﬁles don't"), ["bob", "", "file", "", ""]);
  t.same(terms("english", "snake_case well-known 12.5km www.example.org"), [
    "snake",
    "case",
    "well",
    "known",
    "12",
    "5",
    "km",
    "www",
    "exampl",
    "org",
  ]);
  t.ok(terms("simple", "東京都に住む").length > 1);
  t.throws(() => analyzerOf("klingon"), /does not exist/);
});

t.test("highlights", async (t) => {
  const analyzer = analyzerOf("english");
  const of = (text: string, query: string, options = {}) =>
    highlight(text, parseTextQuery(query, analyzer), analyzer, options);
  t.same(of("The dogs are running.", "run dog"), ["The <em>dogs</em> are <em>running</em>."]);
  t.same(of("Databases and data", "data*", { before: "[", after: "]" }), ["[Databases] and [data]"]);
  t.same(of("nothing here", "else"), []);
  const long = `${"word ".repeat(50)}needle ${"word ".repeat(50)}needle and thread ${"word ".repeat(50)}`;
  const found = of(long, "needle thread", { words: 8, passages: 1 });
  t.equal(found.length, 1);
  t.match(found[0], /<em>needle<\/em> and <em>thread<\/em>/);
});

t.test("a large text is taken in, compared and taken out in many steps", async (t) => {
  const body = new TextBody("english");
  const large = Array.from({ length: 50_000 }, (_, i) => `word${(i * 7919) % 40_000}x`).join(" ");
  const steps = <Result>(work: Generator<undefined, Result>): { count: number; result: Result } => {
    for (let count = 0; ; count++) {
      const { done, value } = work.next();
      if (done === true) return { count, result: value };
    }
  };
  const added = steps(body.addInSteps([large, "東京都に住む".repeat(5000)]));
  t.ok(added.count > 60, `${added.count} steps`);
  const slot = added.result;
  t.same([...searchText(body, { kind: "term", term: "word7919x" }).slots], [slot]);
  t.equal(body.document(slot)!.count, new Set(body.terms).size);
  t.match(steps(body.holdsInSteps(slot, [large, null])), { result: false });
  const ordered = Array.from({ length: body.document(slot)!.count }, (_, i) => body.document(slot)!.term(i));
  t.same(
    ordered,
    ordered.toSorted((a, b) => a - b),
  );
  const removed = steps(body.removeInSteps(slot));
  t.ok(removed.count > 5, `${removed.count} steps`);
  t.equal(body.count, 0);
  t.equal(searchText(body, { kind: "term", term: "word7919x" }).slots.length, 0);
});
