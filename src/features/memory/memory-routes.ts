/** /v1/ai/memory/…: the SQL functions of memories as routes. Each is one statement, in a transaction of its own. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { readTogether, rowsOf, runAlone, timeOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { findTable, namespaceOf, namespaceOfTable, tableNameOf } from "./memory-namespace.js";

export const memoryHandlers = {
  "memory.list": list,
  "memory.store": (request, { params, body }) =>
    runAlone(
      request,
      {
        sql: "SELECT memory_store($1, $2, $3::jsonb)",
        params: [params.namespace, body.content, body.metadata ?? null],
      },
      ({ rows }) => ({ plain: { id: rows.plain![0]![0] as string } }),
    ),
  "memory.get": get,
  "memory.drop": drop,
  "memory.recall": recall,
  "memory.put": (request, { params, body }) =>
    runAlone(
      request,
      {
        sql: "SELECT memory_upsert($1, $2, $3, $4::jsonb)",
        params: [params.namespace, params.id, body.content, body.metadata ?? null],
      },
      () => ({ plain: { id: params.id! } }),
    ),
  "memory.forget": forget,
} satisfies Handlers;

function list(request: Request): Promise<Answer<ResponseOf<"memory.list">>> {
  return readTogether(request, async ({ catalog }, ask) => {
    const namespaces: ResponseOf<"memory.list">["namespaces"][number][] = [];
    for (const namespace of catalog.tables().map(namespaceOfTable)) {
      if (namespace === null) continue;
      const table = tableNameOf(namespace);
      const [row] = await ask({ sql: `SELECT count(*) FROM public."${table}"`, params: [] });
      namespaces.push({ namespace, table, count: row![0] as number });
    }
    return { plain: { namespaces } };
  });
}

/** The table's name in SQL. Throws not_found. */
function tableOf(request: Request, text: string): string {
  const namespace = namespaceOf(text);
  const table = withDefinitions(request, (catalog) => findTable(catalog, namespace));
  if (table !== null) return table.sqlName;
  throw new DbError("not_found", `Memory namespace not found: "${namespace}" does not exist.`, { sqlstate: "42P01" });
}

type Memories = ResponseOf<"memory.get">;
type Recalled = ResponseOf<"memory.recall">;

async function get(request: Request, { params, query }: InputOf<"memory.get">): Promise<Answer<Memories>> {
  const table = tableOf(request, params.namespace);
  const { limit, offset } = usualPageOf(query);
  const sql = `SELECT id, content, metadata, created_at FROM ${table}
    ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`;
  const rows = await rowsOf(request, { sql, params: [limit, offset] });
  const [counted] = await rowsOf(request, { sql: `SELECT count(*) FROM ${table}`, params: [] });
  const memories = rows.map(([id, content, metadata, at]) => {
    const memory = { id, content, metadata, created_at: timeOf(at) };
    return memory as Memories["memories"][number];
  });
  return { plain: { memories, total: counted![0] as number } };
}

function drop(request: Request, { params }: Input): TextAnswer | Promise<TextAnswer> {
  const sql = `DROP TABLE ${tableOf(request, params.namespace)}`;
  return runAlone(request, { sql, params: [] }, () => ({}));
}

async function recall(request: Request, { params, body }: InputOf<"memory.recall">): Promise<Answer<Recalled>> {
  const { query, k, limit, ...options } = body;
  if (k !== undefined && limit !== undefined) {
    throw new DbError("invalid_request", 'Send "k" or "limit", not both.', { field: "limit" });
  }
  const values = [params.namespace, query, k ?? limit ?? null, JSON.stringify(options)];
  const sql = `SELECT id, content, similarity, metadata::jsonb, created_at
    FROM memory_recall($1::text, $2::text, $3::int, $4::text)`;
  const rows = await rowsOf(request, { sql, params: values });
  const memories = rows.map(([id, content, similarity, metadata, at]) => {
    const memory = { id, content, similarity, metadata, created_at: timeOf(at) };
    return memory as Recalled["memories"][number];
  });
  return { plain: { memories } };
}

function forget(request: Request, { params }: Input): TextAnswer | Promise<TextAnswer> {
  const values = [params.namespace, params.id];
  return runAlone(request, { sql: "SELECT memory_forget($1, $2)", params: values }, ({ rows }) => {
    if (rows.plain![0]![0] === true) return {};
    throw new DbError("not_found", `The memory "${params.id}" does not exist.`);
  });
}
