/**
 * Searches by words, by vectors and by both: nDCG@10 as evaluations of retrieval measure it. The documents are
 * descriptions of npm packages, of metrics and of records, with questions and grades (0 to 2) written for them
 * (test/golden/…-descriptions.json).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ndcg } from "../../src/features/evaluation/retrieval-metrics.js";
import type { TestServer } from "../../test/e2e/server.js";
import { ROOT } from "../servers.js";

export interface DescriptionSet {
  readonly descriptions: Readonly<Record<string, string>>;
  readonly queries: readonly { readonly query: string; readonly relevant: Readonly<Record<string, number>> }[];
}

export const DESCRIPTION_SETS = ["package", "metric", "record"] as const;
export type FindIds = (query: string) => Promise<readonly string[]>;

export const GAIN_PLACES = 10;
const PER_REQUEST = 100;

export function descriptionSet(name: string): DescriptionSet {
  return JSON.parse(readFileSync(join(ROOT, `test/golden/${name}-descriptions.json`), "utf8"));
}

export async function storeDescriptions(
  server: TestServer,
  name: string,
  { descriptions }: DescriptionSet,
): Promise<void> {
  const fields = [{ name: "about", type: "string", embed: true }];
  await server.expect(201, "POST", "/v1/collections", { name, schema: { fields } });
  const documents = Object.entries(descriptions).map(([id, about]) => ({ id, about }));
  for (let at = 0; at < documents.length; at += PER_REQUEST) {
    const body = { documents: documents.slice(at, at + PER_REQUEST) };
    await server.expect(201, "POST", `/v1/collections/${name}/documents/bulk`, body);
  }
}

/** By the route; `mode` null: the usual one. */
export function searchBy(server: TestServer, name: string, mode: string | null): FindIds {
  return async (query) => {
    const body = { query, limit: GAIN_PLACES, ...(mode !== null && { mode }) };
    const reply = await server.expect(200, "POST", `/v1/collections/${name}/search`, body);
    return reply.body.data.documents.map(({ id }: { id: string }) => id);
  };
}

/** Of each question. */
export async function gains({ queries }: DescriptionSet, search: FindIds): Promise<number[]> {
  const found: number[] = [];
  for (const { query, relevant } of queries) {
    found.push(ndcg(await search(query), new Map(Object.entries(relevant)), GAIN_PLACES));
  }
  return found;
}
