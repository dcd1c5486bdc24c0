/** /v1/ai/memory/…: the SQL functions of memories as routes. Each is one statement, in a transaction of its own. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { readTogether, rowsOf, runAlone, timeOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { extractMemories } from "./extract-memories.js";
import {
  findTable,
  historyOf,
  type MemoryTable,
  namespaceOf,
  namespaceOfTable,
  tableNameOf,
} from "./memory-namespace.js";
import { timeOption } from "./memory-options.js";
import { heldCondition } from "./recall.js";

export const memoryHandlers = {
  "memory.list": list,
  "memory.store": (request, { params, body }) => {
    const { content, metadata = null, ...options } = body;
    return runAlone(
      request,
      {
        sql: "SELECT memory_store($1, $2, $3::jsonb, $4::jsonb)",
        params: [params.namespace, content, metadata, options],
      },
      ({ rows }) => ({ plain: rows.plain![0]![0] as ResponseOf<"memory.store"> }),
    );
  },
  "memory.get": get,
  "memory.drop": drop,
  "memory.recall": recall,
  "memory.put": (request, { params, body }) => {
    const { content, metadata = null, ...options } = body;
    return runAlone(
      request,
      {
        sql: "SELECT memory_upsert($1, $2, $3, $4::jsonb, $5::jsonb)",
        params: [params.namespace, params.id, content, metadata, options],
      },
      ({ rows }) => ({ plain: rows.plain![0]![0] as ResponseOf<"memory.put"> }),
    );
  },
  "memory.history": history,
  "memory.extract": extractMemories,
  "memory.forget": forget,
} satisfies Handlers;

function list(request: Request): Promise<Answer<ResponseOf<"memory.list">>> {
  return readTogether(request, async ({ catalog }, ask) => {
    const rights = rightsOfCaller(request.head)(catalog);
    const namespaces: ResponseOf<"memory.list">["namespaces"][number][] = [];
    for (const definition of catalog.tables()) {
      const namespace = namespaceOfTable(definition);
      if (namespace === null || !rights.may(definition.id, "r")) continue;
      const table = tableNameOf(namespace);
      const current = historyOf(definition) ? " WHERE valid_until IS NULL" : "";
      const [row] = await ask({ sql: `SELECT count(*) FROM public."${table}"${current}`, params: [] });
      namespaces.push({ namespace, table, count: row![0] as number });
    }
    return { plain: { namespaces } };
  });
}

/** Throws not_found. */
function tableOf(request: Request, text: string): MemoryTable {
  const namespace = namespaceOf(text);
  const table = withDefinitions(request, (catalog) => findTable(catalog, namespace));
  if (table !== null) return table;
  throw new DbError("not_found", `Memory namespace not found: "${namespace}" does not exist.`, { sqlstate: "42P01" });
}

type Memories = ResponseOf<"memory.get">;
type Recalled = ResponseOf<"memory.recall">;

async function get(request: Request, { params, query }: InputOf<"memory.get">): Promise<Answer<Memories>> {
  const table = tableOf(request, params.namespace);
  const { limit, offset } = usualPageOf(query);
  const asOf = timeOption(query.as_of, "as_of");
  const held = heldCondition(table, { asOf, includesSuperseded: query.include_superseded === "true" }, "$1");
  const which = `${table.sqlName} WHERE ${held}`;
  const times = asOf === null ? [] : [asOf];
  const sql = `SELECT id, content, metadata, created_at, ${table.history} FROM ${which}
    ORDER BY created_at DESC, id DESC LIMIT $${times.length + 1} OFFSET $${times.length + 2}`;
  const rows = await rowsOf(request, { sql, params: [...times, limit, offset] });
  const [counted] = await rowsOf(request, { sql: `SELECT count(*) FROM ${which}`, params: times });
  return { plain: { memories: rows.map(memoryOf), total: counted![0] as number } };
}

function memoryOf([id, content, metadata, at, from, until, by]: readonly unknown[]): Memories["memories"][number] {
  const memory = {
    id,
    content,
    metadata,
    created_at: timeOf(at),
    valid_from: timeOf(from),
    valid_until: until === null ? null : timeOf(until),
    superseded_by: by,
  };
  return memory as Memories["memories"][number];
}

async function history(
  request: Request,
  { params }: InputOf<"memory.history">,
): Promise<Answer<ResponseOf<"memory.history">>> {
  const sql = `SELECT id, content, metadata::jsonb, created_at, valid_from, valid_until, superseded_by
    FROM memory_history($1::text, $2::text)`;
  const rows = await rowsOf(request, { sql, params: [params.namespace, params.id] });
  if (rows.length === 0) throw new DbError("not_found", `The memory "${params.id}" does not exist.`);
  return { plain: { memories: rows.map(memoryOf) } };
}

function drop(request: Request, { params }: Input): TextAnswer | Promise<TextAnswer> {
  const sql = `DROP TABLE ${tableOf(request, params.namespace).sqlName}`;
  return runAlone(request, { sql, params: [] }, () => ({}));
}

async function recall(request: Request, { params, body }: InputOf<"memory.recall">): Promise<Answer<Recalled>> {
  const { query, k, limit, ...options } = body;
  if (k !== undefined && limit !== undefined) {
    throw new DbError("invalid_request", 'Send "k" or "limit", not both.', { field: "limit" });
  }
  const values = [params.namespace, query, k ?? limit ?? null, JSON.stringify(options)];
  const sql = `SELECT id, content, metadata::jsonb, created_at, valid_from, valid_until, superseded_by, similarity
    FROM memory_recall($1::text, $2::text, $3::int, $4::text)`;
  const rows = await rowsOf(request, { sql, params: values });
  const memories = rows.map((row) => ({ ...memoryOf(row), similarity: row[7] as number }));
  return { plain: { memories } };
}

function forget(request: Request, { params }: Input): TextAnswer | Promise<TextAnswer> {
  const values = [params.namespace, params.id];
  return runAlone(request, { sql: "SELECT memory_forget($1, $2)", params: values }, ({ rows }) => {
    if (rows.plain![0]![0] === true) return {};
    throw new DbError("not_found", `The memory "${params.id}" does not exist.`);
  });
}
