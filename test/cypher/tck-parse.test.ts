/** Every query of the TCK parses, or fails as its scenario says; printed and parsed again it is the same tree. */
import t from "tap";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { printCypher } from "../../src/cypher/parse/print.js";
import type { SyntaxErrorDetail } from "../../src/cypher/parse/syntax-error.js";
import { DbError } from "../../src/protocol/errors.js";
import { TCK, tckPresent, tckQueries } from "./tck-features.js";
import { fingerprint } from "./trees.js";

/** Mistakes that the grammar shows. The others need to know the variables. */
const SYNTACTIC: ReadonlySet<string> = new Set<SyntaxErrorDetail>([
  "UnexpectedSyntax",
  "InvalidNumberLiteral",
  "IntegerOverflow",
  "FloatingPointOverflow",
  "InvalidUnicodeLiteral",
  "InvalidUnicodeCharacter",
  "InvalidParameterUse",
  "InvalidClauseComposition",
  "InvalidArgumentPassingMode",
  "InvalidDelete",
  "CreatingVarLength",
  "RequiresDirectedRelationship",
  "InvalidRelationshipPattern",
]);

const skip = tckPresent() ? false : `no suite in ${TCK}`;

t.test("queries of the TCK", { skip }, async (t) => {
  const queries = tckQueries();
  let parsed = 0;
  let refused = 0;
  const wrong: string[] = [];
  for (const { scenario, text, error } of queries) {
    const compileTime = error?.type === "SyntaxError" && error.phase === "compile time";
    const mustFail = compileTime && SYNTACTIC.has(error.detail);
    try {
      const tree = parseCypher(text);
      if (mustFail) wrong.push(`${scenario}: no ${error.detail}`);
      const printed = printCypher(tree);
      if (fingerprint(parseCypher(printed)) !== fingerprint(tree)) wrong.push(`${scenario}: printed as ${printed}`);
      parsed++;
    } catch (caught) {
      if (!(caught instanceof DbError)) throw caught;
      refused++;
      const detail = caught.details?.detail;
      if (!compileTime || (mustFail && detail !== error.detail)) wrong.push(`${scenario}: ${detail} ${caught.message}`);
    }
  }
  t.same(wrong, []);
  t.ok(queries.length > 3000, `${queries.length} queries: ${parsed} parsed, ${refused} refused`);
});
