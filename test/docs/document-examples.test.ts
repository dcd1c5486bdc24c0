/** What counts as an example of the documents, and what it must print. */
import t from "tap";
import { errorsIn, examplesOf, scriptOf } from "./document-examples.js";

const PAGE = `# A page

\`\`\`bash setup
TOKEN=secret
\`\`\`

\`\`\`json
{"is": "no example"}
\`\`\`

\`\`\`sql
SELECT 1;  -- → [[1]] … "rows"
SELECT nme FROM pet;  -- → query_error
\`\`\`

\`\`\`bash not-run: it needs a network
curl https://example.com   # → nothing
\`\`\`

\`\`\`cypher
RETURN 'it''s';  // → it
\`\`\`
`;

t.test("blocks in bash, SQL and Cypher are examples", (t) => {
  const examples = examplesOf(PAGE);
  t.same(
    examples.map(({ language, line, isSetup, notRun, expected }) => [language, line, isSetup, notRun, expected]),
    [
      ["bash", 4, true, null, []],
      ["sql", 12, false, null, ["[[1]]", '"rows"', "query_error"]],
      ["bash", 17, false, "it needs a network", ["nothing"]],
      ["cypher", 21, false, null, ["it"]],
    ],
  );
  t.equal(scriptOf(examples[0]!), "TOKEN=secret\n");
  t.match(scriptOf(examples[3]!), "RETURN 'it''s';");
  t.end();
});

t.test("a block that is not run says why", (t) => {
  for (const info of ["not-run", "not-run:", "not-run: slow", "norun: it needs a network"]) {
    t.throws(
      () => examplesOf(`\`\`\`bash ${info}\ntrue\n\`\`\`\n`),
      /neither "setup" nor "not-run: " with a reason/,
      info,
    );
  }
  t.end();
});

t.test("errors are found in what is printed", (t) => {
  t.same(errorsIn('{"data":1}\n{"error":{"code":"not_found","message":"x"}}{"error":{"code":"conflict"}}'), [
    "not_found",
    "conflict",
  ]);
  t.same(errorsIn('{"rows":[["error"]]}'), []);
  t.end();
});
