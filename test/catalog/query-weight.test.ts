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
