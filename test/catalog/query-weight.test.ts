/** What likeness weighs beside words, by the query. */
import t from "tap";
import { STATIC_WEIGHT, weightForQuery } from "../../src/catalog/ranked-search.js";

t.test("names with digits and quotes are meant letter by letter", async (t) => {
  const weight = (query: string) => weightForQuery(STATIC_WEIGHT, query) / STATIC_WEIGHT;
  for (const code of ["INV-2041", "pump XR7", "max_rows", "v1.2.3", '"ORD-12"']) t.ok(weight(code) < 0.3, code);
  t.equal(weight('"event loop"'), 0.5);
  for (const usual of ["event loop", "how is a loaf baked?", "in 2019", "well-known authors"])
    t.equal(weight(usual), 1, usual);
});

t.test("a query that tells what is wanted goes by likeness", async (t) => {
  t.equal(weightForQuery(STATIC_WEIGHT, "parse dates quickly"), STATIC_WEIGHT);
  t.equal(weightForQuery(STATIC_WEIGHT, "a small boat that carries people"), 0.5);
  t.equal(weightForQuery(STATIC_WEIGHT, "two young children play with coloured wooden blocks outside"), 0.8);
  t.ok(
    weightForQuery(STATIC_WEIGHT, "the invoice INV-2041 that somebody sent twice last month") < STATIC_WEIGHT,
    "but not where a code is in it",
  );
});
