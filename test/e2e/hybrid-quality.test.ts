/**
 * Searches of both kinds together find no less than the better kind alone: nDCG@10 (Järvelin and Kekäläinen, 2002) over the
 * descriptions of npm packages and of metrics, with questions and grades (0 to 2) written for them
 * (test/golden/…-descriptions.json).
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { TestServer } from "./server.js";

interface DescriptionSet {
  readonly descriptions: Readonly<Record<string, string>>;
  readonly queries: readonly { readonly query: string; readonly relevant: Readonly<Record<string, number>> }[];
}

function setNamed(name: string): DescriptionSet {
  return JSON.parse(readFileSync(new URL(`../../../test/golden/${name}-descriptions.json`, import.meta.url), "utf8"));
}

const K = 10;
const PER_REQUEST = 100;

const server = await TestServer.shared();
t.teardown(() => server.stop());

function gainOf(grades: readonly number[]): number {
  return grades.slice(0, K).reduce((sum, grade, rank) => sum + (2 ** grade - 1) / Math.log2(rank + 2), 0);
}

function ndcg(found: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const best = Object.values(relevant).sort((a, b) => b - a);
  return gainOf(found.map((id) => relevant[id] ?? 0)) / gainOf(best);
}

async function fill(name: string, { descriptions }: DescriptionSet): Promise<void> {
  const fields = [{ name: "about", type: "string", embed: true }];
  await server.expect(201, "POST", "/v1/collections", { name, schema: { fields } });
  const documents = Object.entries(descriptions).map(([id, about]) => ({ id, about }));
  for (let at = 0; at < documents.length; at += PER_REQUEST) {
    const body = { documents: documents.slice(at, at + PER_REQUEST) };
    await server.expect(201, "POST", `/v1/collections/${name}/documents/bulk`, body);
  }
}

type Search = (query: string) => Promise<readonly string[]>;

/** Of all questions. */
async function mean({ queries }: DescriptionSet, search: Search): Promise<number> {
  let sum = 0;
  for (const { query, relevant } of queries) sum += ndcg(await search(query), relevant);
  return sum / queries.length;
}

for (const name of ["package", "metric"]) {
  const set = setNamed(name);
  const byRoute =
    (mode: string | null): Search =>
    async (query) => {
      const body = { query, limit: K, ...(mode !== null && { mode }) };
      const reply = await server.expect(200, "POST", `/v1/collections/${name}/search`, body);
      return reply.body.data.documents.map(({ id }: { id: string }) => id);
    };
  const byStatement =
    (mode: string | null): Search =>
    async (query) => {
      const rows = await server.rows(`SELECT id FROM search('${name}', $1, $2, '${mode ?? "hybrid"}')`, [query, K]);
      return rows.map(([id]) => id as string);
    };
  t.test(`descriptions of ${name}s`, async (t) => {
    await fill(name, set);
    for (const by of [byRoute, byStatement]) {
      const [words, vectors, both] = [by("text"), by("vector"), by(null)];
      const found = { words: await mean(set, words), vectors: await mean(set, vectors), both: await mean(set, both) };
      const shown = JSON.stringify(found, (_, value) => (typeof value === "number" ? Number(value.toFixed(3)) : value));
      t.comment(`nDCG@${K}, ${by.name}: ${shown}`);
      t.ok(found.both >= Math.max(found.words, found.vectors), `both are no worse than the better one: ${shown}`);
    }
  });
}
