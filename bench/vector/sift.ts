/**
 * Recall of Tessera's searches in a sample of SIFT (9,800 × 128 bytes, 200 queries with their true neighbours) by each
 * metric, as the suites beside the checkout have it (SIFT: its folder). Called by bench/vector.ts.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonRequest } from "../load/requests.js";
import { post, ROOT, type Running } from "../servers.js";
import { indexed, sendRequest } from "./contenders.js";

const FOLDER = process.env.SIFT ?? join(ROOT, "../shared/suites/vectors/sift10k");
const K = 10;
const LOAD_VECTORS = 1000;
const EFS = [20, 40, 64, 128];
/** As collections are asked for them: whole vectors, a byte and a bit per number. */
const STORAGES = ["none", "int8", "binary"];
const TRUTH = { l2: "gt-l2", cosine: "gt-cosine", dot: "gt-ip" } as const;
const COLLECTIONS = "/v1/vectors/collections";

/** Records of a 32-bit length and as many elements. */
function readVectors(name: string, elementBytes: 1 | 4): number[][] {
  const file = readFileSync(join(FOLDER, name));
  const vectors: number[][] = [];
  for (let at = 0; at < file.length; ) {
    const length = file.readInt32LE(at);
    at += 4;
    vectors.push(
      Array.from({ length }, (_, i) => (elementBytes === 1 ? file[at + i]! : file.readInt32LE(at + elementBytes * i))),
    );
    at += elementBytes * length;
  }
  return vectors;
}

export async function siftRecall(server: Running): Promise<void> {
  if (!existsSync(FOLDER)) {
    console.log(`SIFT is left out: there is no ${FOLDER}`);
    return;
  }
  const base = readVectors("base.bvecs", 1);
  const queries = readVectors("query.bvecs", 1);
  for (const [metric, truth] of Object.entries(TRUTH)) {
    const near = readVectors(`${truth}.ivecs`, 4).map((all) => new Set(all.slice(0, K).map(String)));
    for (const quantization of STORAGES) {
      const recalls = await recallOf(server, metric, quantization, base, queries, near);
      const what = `SIFT ${base.length} × ${base[0]!.length} ${metric.padEnd(6)} ${quantization.padEnd(6)}`;
      console.log(`${what} recall@${K}  ${recalls.join("   ")}`);
    }
  }
}

/** Of a collection made for it, by ef. */
async function recallOf(
  server: Running,
  metric: string,
  quantization: string,
  base: readonly number[][],
  queries: readonly number[][],
  near: readonly ReadonlySet<string>[],
): Promise<string[]> {
  const name = `sift_${metric}_${quantization}`;
  const path = `${server.url}${COLLECTIONS}/${name}`;
  await post(server.url + COLLECTIONS, { name, dimensions: base[0]!.length, metric, quantization }, server.token);
  for (let first = 0; first < base.length; first += LOAD_VECTORS) {
    const vectors = base.slice(first, first + LOAD_VECTORS).map((vector, i) => ({ id: String(first + i), vector }));
    await post(`${path}/vectors/batch`, { vectors }, server.token);
  }
  const search = async (vector: readonly number[], ef: number): Promise<readonly string[]> => {
    const request = jsonRequest(`${COLLECTIONS}/${name}/search`, server.token, JSON.stringify({ vector, k: K, ef }));
    return ((await sendRequest(server, request)) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  await indexed(server, path, () => search(queries[0]!, EFS[0]!));
  const recalls: string[] = [];
  for (const ef of EFS) {
    let hits = 0;
    for (const [i, query] of queries.entries()) {
      hits += (await search(query, ef)).filter((id) => near[i]!.has(id)).length;
    }
    recalls.push(`ef ${ef}: ${(hits / (K * queries.length)).toFixed(4)}`);
  }
  return recalls;
}
