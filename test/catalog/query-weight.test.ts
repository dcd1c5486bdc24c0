/** What likeness weighs beside words, by the query. */
import t from "tap";
import { STATIC_WEIGHT, type TextShape, weightForQuery } from "../../src/catalog/ranked-search.js";

t.test("names with digits and quotes are meant letter by letter", async (t) => {
  const weight = (query: string) => weightForQuery(STATIC_WEIGHT, query, null) / STATIC_WEIGHT;
  for (const code of ["INV-2041", "pump XR7", "max_rows", "v1.2.3", '"ORD-12"']) t.ok(weight(code) < 0.3, code);
  t.equal(weight('"event loop"'), 0.5);
  for (const usual of ["event loop", "how is a loaf baked?", "in 2019", "well-known authors"])
    t.equal(weight(usual), 1, usual);
});

t.test("among short texts, a query that tells what is wanted goes by likeness", async (t) => {
  const short = { meanWords: 8, knownShare: 0.9 };
  const among = (query: string, shape: TextShape | null = short) => weightForQuery(STATIC_WEIGHT, query, shape);
  const long = "two young children play with coloured wooden blocks outside";
  t.equal(among("parse dates quickly"), STATIC_WEIGHT);
  t.equal(among("a small boat that carries people"), 0.6);
  t.equal(among(long), 0.95);
  t.equal(
    among("a movement that began somewhere in the 20th century and still goes on"),
    0.95,
    "an ordinal is no code",
  );
  t.equal(among('people stand beneath a sign that says "Red Light" downtown'), 0.95, "a name within a sentence");
  t.ok(among("the invoice INV-2041 that somebody sent twice last month") < STATIC_WEIGHT, "but not with a code in it");
  t.equal(among("parse dates quickly", { meanWords: 3, knownShare: 0.2 }), 0.8, "no text has these words");
  const names = { meanWords: 2, knownShare: 0.9 };
  t.equal(among("a small boat that carries people", names), 1, "what describes a name is not in it");
  t.equal(among("one who accepts an offer", names), 1, "no name has so many words");
  t.equal(among("rowing boat", names), STATIC_WEIGHT, "what is a name is");
  t.equal(among("a small red chair", names), STATIC_WEIGHT);
  t.equal(among(long, { meanWords: 40, knownShare: 0.2 }), STATIC_WEIGHT, "long texts have the words");
  t.equal(among(long, null), STATIC_WEIGHT);
});
