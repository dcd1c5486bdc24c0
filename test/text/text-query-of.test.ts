/** What an index is asked for a tsquery finds every document that the tsquery matches. */
import fc from "fast-check";
import t from "tap";
import { TextBody } from "../../src/text/text-body.js";
import { textQueryOf } from "../../src/text/text-query-of.js";
import { searchText } from "../../src/text/text-search.js";
import { vectorMatches } from "../../src/text/ts-match.js";
import { phraseToTsQuery, plainToTsQuery, toTsQuery } from "../../src/text/ts-query-input.js";
import { TsVectorBuilder } from "../../src/text/ts-vector-builder.js";
import { tsQueryOf } from "../../src/values/ts-query.js";
import { tsVectorOf } from "../../src/values/ts-vector.js";
import { tries } from "../lengths.js";

const PIECES =
  "running|runs|the|don't|O'Reilly|state-of-the-art|foo_bar|e-mail|3.14|-5km|1.5abc|1e5x|v1.2.3rc1|www.Example.org/a-b?c=d|joe_x@mail.example.com|/usr/lib/x.so|<b class='x'>|</b>|&amp;|日本語を|東京都com|example.com的|ﬁles|ﬀ|x²|İstanbul|straße-Häuser|2nd-hand|foo-12|́a|cafés|a.bé|STOP|beta1-x|١٢٣|Ⅷ";

const piece = fc.oneof(fc.constantFrom(...PIECES.split("|")), fc.string({ unit: "grapheme", maxLength: 4 }));
const text = fc
  .array(fc.tuple(piece, fc.constantFrom(" ", " ", " ", "", "-", ".", "'")), { maxLength: 8 })
  .map((parts) => parts.flat().join(""));

/**
 * A host name, an address or a path is cut before a letter that is not ASCII, in the middle of a word of the index:
 * "fin.Cétait" has the lexemes "fin.c" and "était". The index does not find the second one. Ideographs are words of
 * their own.
 */
const CUT_WITHIN =
  /[./@][\w./@-]*(?![\p{ASCII}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}]/u;

t.test("candidates are a superset", async (t) => {
  let narrowed = 0;
  fc.assert(
    fc.property(
      fc.constantFrom("english", "simple", "german", "russian"),
      fc.array(text, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(piece, fc.constantFrom("&", "|", "<->", "&!", "")), { minLength: 1, maxLength: 3 }),
      (language, texts, parts) => {
        fc.pre(!texts.some((one) => CUT_WITHIN.test(one)));
        const body = new TextBody(language);
        const slots = texts.map((one) => body.add([one]));
        const documents = texts.map((one) => {
          const builder = new TsVectorBuilder(language, () => {});
          builder.add(one);
          return tsVectorOf(builder.finish());
        });
        const words = parts.map(([word, sign], i) => {
          const quoted = `'${word.replace(/['\\]/g, "$&$&") || "x"}'`;
          return i + 1 < parts.length ? `${quoted} ${sign || "&"}` : quoted;
        });
        const queries = [
          toTsQuery(language, words.join(" ")),
          ...texts.flatMap((one) => [plainToTsQuery(language, one), phraseToTsQuery(language, one)]),
        ];
        for (const query of queries) {
          const asked = textQueryOf(query, language);
          if (asked === null) continue;
          narrowed++;
          const found = new Set(searchText(body, asked).slots);
          documents.forEach((document, i) => {
            if (vectorMatches(document, tsQueryOf(query)) && !found.has(slots[i]!)) {
              throw new Error(`${query} does not find ${JSON.stringify(texts[i])}`);
            }
          });
        }
      },
    ),
    { numRuns: tries(1000) },
  );
  t.ok(narrowed > 500, "most queries can be looked up");
});

t.test("what an index is asked", async (t) => {
  const term = (name: string) => ({ kind: "term", term: name });
  t.same(textQueryOf("'fat':A & 'rat' & !'cat'", "english"), { kind: "and", parts: [term("fat"), term("rat")] });
  t.same(textQueryOf("'fat' <2> 'rat' | 'cow'", "english"), {
    kind: "or",
    parts: [{ kind: "and", parts: [term("fat"), term("rat")] }, term("cow")],
  });
  t.same(textQueryOf("'www.example.com'", "english"), term("exampl"));
  t.same(textQueryOf("", "english"), { kind: "nothing" });
  t.equal(textQueryOf("!'cat'", "english"), null);
  t.equal(textQueryOf("'ca':* | 'rat'", "english"), null);
});
