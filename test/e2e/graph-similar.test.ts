/** Nodes that are similar, by a vector index and without one, beside what comparing all pairs here gives. */
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const NODES = sized(250, 400);
const DIMENSIONS = 16;
const THRESHOLD = 0.6;

interface Doc {
  readonly n: number;
  readonly label: "Doc" | "Note";
  readonly embedding: readonly number[] | null;
}

const random = randomFrom(7);
const docs: Doc[] = Array.from({ length: NODES }, (_, n) => {
  const length = n % 50 === 7 ? DIMENSIONS / 2 : DIMENSIONS;
  const embedding = n % 60 === 11 ? null : Array.from({ length }, () => random() - 0.5);
  return { n, label: n % 20 === 3 ? "Note" : "Doc", embedding };
});

function similarity(a: Doc["embedding"], b: Doc["embedding"]): number {
  if (a === null || b === null || a.length !== b.length) return Number.NaN;
  const product = (x: readonly number[], y: readonly number[]) => x.reduce((sum, each, i) => sum + each * y[i]!, 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

const areSimilar = (a: Doc, b: Doc) => a.n !== b.n && similarity(a.embedding, b.embedding) > THRESHOLD;
const isDoc = ({ label }: Doc) => label === "Doc";

const rows = async (cypher: string, transaction?: string) => {
  const body = { cypher, sql: cypher, language: "cypher", parameters: { least: THRESHOLD }, max_rows: 100_000 };
  const path = transaction === undefined ? "/v1/graph/match" : `/v1/transactions/${transaction}/execute`;
  const sent =
    transaction === undefined
      ? { cypher, parameters: body.parameters, max_rows: body.max_rows }
      : { ...body, cypher: undefined };
  return (await server.expect(200, "POST", path, sent)).body.data.rows;
};

type Partners = (a: Doc) => readonly Doc[];

/** Compares all pairs once. */
function partnersAmong(all: readonly Doc[]): Partners {
  const partners = new Map(all.map((a) => [a, all.filter((b) => areSimilar(a, b))]));
  return (a) => partners.get(a)!;
}

/** Each pattern, and what it answers. */
function questions(all: readonly Doc[]): readonly (readonly [cypher: string, answer: unknown])[] {
  const known = all.filter(isDoc);
  const similarTo = partnersAmong(all);
  const partnersOf = (a: Doc) => similarTo(a).filter(isDoc);
  const pairs = (of: readonly Doc[], with_: readonly Doc[]) =>
    of.flatMap((a) =>
      similarTo(a)
        .filter((b) => with_.includes(b))
        .map((b) => [a.n, b.n]),
    );
  return [
    ["MATCH (a:Doc)-[:SIMILAR_TO > $least]-(b:Doc) RETURN a.n, b.n ORDER BY a.n, b.n", pairs(known, known)],
    ["MATCH (a)-[:SIMILAR_TO > $least]-(b) RETURN a.n, b.n ORDER BY a.n, b.n", pairs(all, all)],
    ["MATCH (a)-[:SIMILAR_TO > $least]->(b:Doc) RETURN a.n, b.n ORDER BY a.n, b.n", pairs(all, known)],
    [
      "MATCH (a:Doc {n: 5})-[:SIMILAR_TO > $least]-(b:Doc) RETURN b.n ORDER BY b.n",
      pairs(
        known.filter(({ n }) => n === 5),
        known,
      ).map(([, b]) => [b]),
    ],
    [
      "MATCH (a:Doc)-[:SIMILAR_TO > $least]-(b:Doc) WHERE b.n % 2 = 0 AND a.n < 40 RETURN a.n, b.n ORDER BY a.n, b.n",
      pairs(
        known.filter(({ n }) => n < 40),
        known.filter(({ n }) => n % 2 === 0),
      ),
    ],
    [
      "MATCH (a:Doc) WHERE (a)-[:SIMILAR_TO > $least]-(:Doc) RETURN a.n ORDER BY a.n",
      known.filter((a) => partnersOf(a).length > 0).map(({ n }) => [n]),
    ],
    [
      "MATCH (a:Doc) WHERE NOT (a)-[:SIMILAR_TO > $least]-(:Doc) RETURN a.n ORDER BY a.n",
      known.filter((a) => partnersOf(a).length === 0).map(({ n }) => [n]),
    ],
    [
      "MATCH (a:Doc) OPTIONAL MATCH (a)-[:SIMILAR_TO > $least]-(b:Doc) RETURN a.n, count(b) ORDER BY a.n",
      known.map((a) => [a.n, partnersOf(a).length]),
    ],
  ];
}

async function compare(test: Pick<typeof t, "same">, all: readonly Doc[], when: string, transaction?: string) {
  for (const [cypher, answer] of questions(all))
    test.same(await rows(cypher, transaction), answer, `${when}: ${cypher}`);
}

t.test("without an index, with one, and in a transaction", async (t) => {
  const create = "UNWIND $docs AS d CREATE (x:Doc {n: d.n}) SET x.embedding = d.embedding";
  await server.expect(200, "POST", "/v1/graph/match", { cypher: create, parameters: { docs } });
  await rows("MATCH (x:Doc) WHERE x.n % 20 = 3 REMOVE x:Doc SET x:Note");
  await compare(t, docs, "without an index");
  const options = `OPTIONS {indexConfig: {\`vector.dimensions\`: ${DIMENSIONS}}}`;
  await rows(`CREATE VECTOR INDEX doc_embedding FOR (d:Doc) ON (d.embedding) ${options}`);
  const sql = "EXPLAIN MATCH (a:Doc)-[:SIMILAR_TO > 0.5]-(b:Doc) RETURN a.n";
  const { body } = await server.expect(200, "POST", "/v1/query/execute", { sql });
  t.match(body.data.rows.join("\n"), /Vector Search using doc_embedding/);
  await compare(t, docs, "with an index");

  const { id } = (await server.expect(201, "POST", "/v1/transactions")).body.data;
  await rows("MATCH (x:Doc) WHERE x.n < 6 DETACH DELETE x", id);
  await rows("MATCH (x:Doc {n: 8}), (y:Doc {n: 9}) SET x.embedding = [z IN y.embedding | z * 2]", id);
  await rows("MATCH (x:Note {n: 23}) SET x:Doc", id);
  const changed = docs
    .filter(({ n, label }) => n >= 6 || label === "Note")
    .map((doc): Doc => {
      if (doc.n === 8) return { ...doc, embedding: docs[9]!.embedding!.map((x) => x * 2) };
      return doc.n === 23 ? { ...doc, label: "Doc" } : doc;
    });
  await compare(t, changed, "in a transaction", id);
  await server.expect(200, "POST", `/v1/transactions/${id}/rollback`);
  await compare(t, docs, "after it");
});
