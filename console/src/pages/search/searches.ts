/** Searches, and what each hit scores by each way of searching. */
import { client } from "../../lib/session.js";

export interface Hit {
  readonly id: string;
  readonly content: Readonly<Record<string, unknown>>;
  /** By words and meaning together; null: only one of them was asked. */
  readonly both: number | null;
  /** Null: not found that way. */
  readonly words: number | null;
  readonly meaning: number | null;
  /** Passages with the words that were found; of each field the first ones. */
  readonly passages: Readonly<Record<string, readonly string[]>>;
}

export interface Answer {
  readonly hits: readonly Hit[];
  readonly ms: number;
  readonly note: string | null;
}

type Filter = Readonly<Record<string, unknown>> | undefined;
type Mode = "text" | "vector" | "hybrid";

interface SentHit {
  readonly id: string;
  readonly score?: number;
  readonly highlights?: Readonly<Record<string, readonly string[]>>;
}

interface SentAnswer {
  readonly documents: readonly SentHit[];
}

const LIMIT = 30;
/** Deeper, so that most hits of one way are found in the others. */
const LIMIT_OF_PARTS = 200;

/**
 * The order is that of words and meaning together. Two more searches, by words and by meaning alone, tell what each hit
 * scores by them. A collection that has only one of the two is searched by that.
 */
export async function searchDocuments(
  name: string,
  text: string,
  filter: Filter,
  signal: AbortSignal,
): Promise<Answer> {
  const startedAt = performance.now();
  const path = `/v1/collections/${encodeURIComponent(name)}/search`;
  const ask = (mode: Mode | undefined, limit: number): Promise<SentAnswer> => {
    const body = {
      limit,
      ...(text !== "" && { query: text }),
      ...(mode !== undefined && { mode }),
      ...(filter && { filter }),
    };
    return client().request<SentAnswer>("POST", path, { body, signal, idempotencyKey: "" });
  };
  if (text === "") {
    const { documents } = await ask(undefined, LIMIT);
    return {
      hits: documents.map((hit) => hitOf(hit, null, null, null)),
      ms: performance.now() - startedAt,
      note: "By the filter alone",
    };
  }
  const [both, words, meaning] = await Promise.all([
    ask("hybrid", LIMIT).catch(() => null),
    ask("text", LIMIT_OF_PARTS).catch(() => null),
    ask("vector", LIMIT_OF_PARTS).catch(() => null),
  ]);
  const first = both ?? words ?? meaning;
  // Then the reason is the same for all of them.
  if (first === null) await ask(undefined, LIMIT);
  const scores = (answer: SentAnswer | null) => new Map(answer?.documents.map(({ id, score }) => [id, score ?? null]));
  const [byWords, byMeaning] = [scores(words), scores(meaning)];
  const passages = new Map(words?.documents.map(({ id, highlights }) => [id, highlights ?? {}]));
  const hits = (first?.documents ?? []).slice(0, LIMIT).map((hit) => {
    const made = hitOf(
      hit,
      both === null ? null : (hit.score ?? null),
      byWords.get(hit.id) ?? null,
      byMeaning.get(hit.id) ?? null,
    );
    return { ...made, passages: passages.get(hit.id) ?? made.passages };
  });
  const note = both !== null ? null : words === null ? "By meaning alone" : "By words alone: no field is embedded";
  return { hits, ms: performance.now() - startedAt, note };
}

function hitOf(sent: SentHit, both: number | null, words: number | null, meaning: number | null): Hit {
  const { id, score: _score, highlights = {}, ...content } = sent;
  return { id, content, both, words, meaning, passages: highlights };
}

interface SentVectorHit {
  readonly id: string;
  readonly score: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The text is embedded by the server, or is itself a vector in JSON. */
export async function searchVectors(name: string, text: string, filter: Filter, signal: AbortSignal): Promise<Answer> {
  const startedAt = performance.now();
  const isVector = /^\s*\[/.test(text);
  const found = (await client()
    .vectors(name)
    .search({
      ...(isVector ? { vector: JSON.parse(text) as number[] } : { query: text }),
      ...(filter && { filter }),
      ...{ limit: LIMIT, signal },
    })) as readonly SentVectorHit[];
  const hits = found.map(
    ({ id, score, metadata = {} }): Hit => ({
      id,
      content: metadata,
      both: null,
      words: null,
      meaning: score,
      passages: {},
    }),
  );
  return { hits, ms: performance.now() - startedAt, note: isVector ? "By the vector" : null };
}
