/**
 * Responses that are kept, so that later ones can follow them: rows of a table of the tenant, each user's own. The
 * oldest are removed above RESPONSES_KEPT. Called by the routes and response-request.ts; holds no state.
 */

import { randomBytes } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { RESPONSE_CHAIN_MAX, RESPONSES_KEPT } from "../../protocol/limits.js";
import type { Answer } from "../../session/answer.js";
import { JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { rowsOfUser } from "../statements/own-relation.js";
import { ownRowsOf } from "../statements/run-alone.js";
import { ownTogether, type Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import type { Item } from "./response-items.js";

const NAME = "_responses";
const TABLE = `public."${NAME}"`;
const DEFINITION = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  id text PRIMARY KEY, user_id text NOT NULL, previous_id text, created_at timestamptz NOT NULL DEFAULT now(),
  input jsonb NOT NULL, response jsonb NOT NULL)`;
/** The oldest are looked for with one in so many new ones. */
const TIDIED_EVERY = 64;

/** A response as clients read it. */
export interface StoredResponse extends Item, Omit<ResponseOf<"openai.responses.get">, "output"> {
  readonly output: readonly Item[];
}

/** tessera_responses: a user's own ones in SQL. */
export const OWN_RESPONSES = rowsOfUser(NAME, {
  id: TEXT,
  previous_id: TEXT,
  created_at: TIMESTAMPTZ,
  input: JSONB,
  response: JSONB,
});

const hasResponses = (request: Request) => withDefinitions(request, (catalog) => catalog.table(null, NAME)) !== null;

/** The part that the ids of a response and of its items share. It grows with time. */
export function newStamp(): string {
  return `${Date.now().toString(36)}${randomBytes(10).toString("hex")}`;
}

export const responseId = (stamp: string) => `resp_${stamp}`;
export const itemId = (kind: "msg" | "fc", stamp: string, place: number) => `${kind}_${stamp}_${place}`;

/** Throws not_found, also for another user's. */
export async function findResponse(request: Request, id: string): Promise<StoredResponse> {
  const found = (await responsesOf(request, [id])).get(id);
  if (found === undefined) throw noResponse(id, "id");
  return found;
}

/** What was said up to that response, oldest first, without its instructions. Throws not_found. */
export async function conversationUpTo(request: Request, id: string): Promise<readonly Item[]> {
  const sql = `WITH RECURSIVE chain AS (
      SELECT id, previous_id, input, response, 1 AS depth FROM ${TABLE} WHERE id = $1::text AND user_id = $2::text
      UNION ALL
      SELECT r.id, r.previous_id, r.input, r.response, c.depth + 1 FROM chain c
        JOIN ${TABLE} r ON r.id = c.previous_id WHERE r.user_id = $2::text AND c.depth <= $3::int8)
    SELECT previous_id, input, response -> 'output' FROM chain ORDER BY depth DESC`;
  const params = [id, request.head.userId, RESPONSE_CHAIN_MAX];
  const rows = hasResponses(request) ? await ownRowsOf(request, { sql, params }) : [];
  if (rows.length === 0) throw noResponse(id, "previous_response_id");
  if (rows.length > RESPONSE_CHAIN_MAX) {
    const message = `The conversation has more than ${RESPONSE_CHAIN_MAX} responses. Begin a new one.`;
    throw new DbError("invalid_request", message, { field: "previous_response_id" });
  }
  const [previous] = rows[0]!;
  if (previous !== null) throw noResponse(previous as string, "previous_response_id");
  return rows.flatMap(([, input, output]) => [...(input as readonly Item[]), ...(output as readonly Item[])]);
}

/** The items with what was answered in place of each reference. Throws not_found. */
export async function withReferences(request: Request, items: readonly Item[]): Promise<readonly Item[]> {
  const references = items.filter(({ type }) => type === "item_reference").map(({ id }) => String(id));
  if (references.length === 0) return items;
  const stampOf = (id: string): string => responseId(id.split("_")[1] ?? "");
  const found = await responsesOf(request, [...new Set(references.map(stampOf))]);
  return items.map((item) => {
    if (item.type !== "item_reference") return item;
    const id = String(item.id);
    const named = found.get(stampOf(id))?.output.find((one) => one.id === id);
    if (named !== undefined) return named;
    throw new DbError("not_found", `There is no item "${id.slice(0, 100)}".`, {
      field: "input",
      hint: 'Send the item itself. Items of responses with "store": false are not kept.',
    });
  });
}

async function responsesOf(request: Request, ids: readonly string[]): Promise<ReadonlyMap<string, StoredResponse>> {
  if (!hasResponses(request)) return new Map();
  const rows = await ownRowsOf(request, {
    sql: `SELECT id, response FROM ${TABLE} WHERE id = ANY($1::text[]) AND user_id = $2::text`,
    params: [ids, request.head.userId],
  });
  return new Map(rows.map(([id, response]) => [id as string, response as StoredResponse]));
}

/** Keeps a response with what it answers. `answer`: the reply that says so; null where it is a stream. */
export async function keepResponse(
  request: Request,
  response: StoredResponse,
  previousId: string | null,
  input: readonly Item[],
  answer: Answer | null,
): Promise<void> {
  await ownTogether(
    request,
    request,
    async (run) => {
      await run(DEFINITION, []);
      await run(
        `INSERT INTO ${TABLE} (id, user_id, previous_id, input, response) VALUES ($1, $2, $3, $4::jsonb, $5::jsonb)`,
        [response.id, request.head.userId, previousId, JSON.stringify(input), JSON.stringify(response)],
      );
      if (Number.parseInt(response.id.slice(-2), 16) % TIDIED_EVERY === 0) await forgetOldest(run);
    },
    (tx) => (answer === null ? request.commitPart(tx) : request.commit(tx, answer)),
  );
}

function forgetOldest(run: Run): Promise<unknown> {
  const oldest = `SELECT id FROM ${TABLE} ORDER BY id DESC LIMIT 1 OFFSET $1::int8`;
  return run(`DELETE FROM ${TABLE} WHERE id <= (${oldest})`, [RESPONSES_KEPT]);
}

/** Throws not_found, also for another user's. */
export async function deleteResponse(request: Request, id: string, answer: Answer): Promise<void> {
  if (!hasResponses(request)) throw noResponse(id, "id");
  await ownTogether(
    request,
    request,
    async (run) => {
      const sql = `DELETE FROM ${TABLE} WHERE id = $1::text AND user_id = $2::text`;
      if ((await run(sql, [id, request.head.userId])).affected === 0) throw noResponse(id, "id");
    },
    (tx) => request.commit(tx, answer),
  );
}

function noResponse(id: string, field: string): DbError {
  return new DbError("not_found", `There is no response "${id.slice(0, 100)}".`, {
    field,
    hint: 'Responses with "store": false, and those of read-only keys, are not kept. Send their items as "input".',
  });
}
