/**
 * Memories in SQL: MEMORY_STORE, MEMORY_UPSERT and MEMORY_FORGET. They write in the transaction of the statement that
 * calls them, as its caller. A rollback undoes them as well, including the namespace's table.
 */

import { randomBytes } from "node:crypto";
import { sqlError } from "../../protocol/errors.js";
import {
  MEMORY_CHARACTERS_MAX,
  MEMORY_ID_CHARACTERS_MAX,
  MEMORY_METADATA_CHARACTERS_MAX,
} from "../../protocol/limits.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext, DeferredEvaluation, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";
import { BOOL, JSONB, type Json, TEXT, type Value } from "../../values/values.js";
import { findTable, namespaceOf, requireTable } from "./memory-namespace.js";
import { objectOf } from "./recall.js";

const writer = (name: string, args: ScalarFunction["args"], returns: ScalarFunction["returns"], each: EachCall) =>
  Object.freeze({ ...deferredFn(name, args, returns, oneByOne(each), { strict: false }), writes: true as const });

/** Metadata is JSON, or a text that reads as JSON. */
export const MEMORY_FUNCTIONS: readonly ScalarFunction[] = [
  writer("memory_store", [TEXT, TEXT], TEXT, store),
  writer("memory_store", [TEXT, TEXT, JSONB], TEXT, store),
  writer("memory_store", [TEXT, TEXT, TEXT], TEXT, store),
  writer("memory_upsert", [TEXT, TEXT, TEXT], TEXT, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, JSONB], TEXT, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, TEXT], TEXT, upsert),
  writer("memory_forget", [TEXT, TEXT], BOOL, forget),
];

/** A deferred function is computed in the context of its statement. */
type MemoryContext = ExecContext & DeferredContext;

type EachCall = (args: readonly Value[], context: MemoryContext) => Promise<Value>;

/** Calls write, so each sees what those before it wrote. */
function oneByOne(each: EachCall): DeferredEvaluation["evaluate"] {
  return async (columns, count, context) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const args = columns.map((column) => column[i]!);
      values.push(await each(args, context as MemoryContext));
      if (context.shouldYield()) await context.yieldTurn();
    }
    return values;
  };
}

async function store([namespace, content, metadata]: readonly Value[], context: MemoryContext) {
  const id = newId();
  await write(context, namespace!, id, content!, metadata ?? null);
  return id;
}

async function upsert([namespace, id, content, metadata]: readonly Value[], context: MemoryContext) {
  const name = textOf(id!, "id", MEMORY_ID_CHARACTERS_MAX);
  await write(context, namespace!, name, content!, metadata ?? null);
  return name;
}

/** The new row, or the changed row with that id. */
async function write(
  context: MemoryContext,
  namespaceText: Value,
  id: string,
  contentText: Value,
  metadata: Value,
): Promise<void> {
  const namespace = namespaceOf(textOf(namespaceText, "namespace", Number.MAX_SAFE_INTEGER));
  const content = textOf(contentText, "content", MEMORY_CHARACTERS_MAX);
  const json = metadataOf(metadata);
  const table = await requireTable(context, namespace);
  const [vector] = await need(context, EMBEDDING).later([content], table.model, context);
  await context.run(
    `INSERT INTO ${table.sqlName} (id, content, metadata, created_at, embedding)
     VALUES ($1::text, $2::text, $3::jsonb, clock_timestamp(), $4::vector)
     ON CONFLICT (id) DO UPDATE SET content = excluded.content, metadata = excluded.metadata,
       created_at = excluded.created_at, embedding = excluded.embedding`,
    [id, content, json, vector!],
    0,
  );
}

/** Whether there was one. */
async function forget([namespaceText, id]: readonly Value[], context: MemoryContext) {
  if (id === null) return null;
  const namespace = namespaceOf(textOf(namespaceText!, "namespace", Number.MAX_SAFE_INTEGER));
  const { services } = context;
  const table = findTable(services.catalogView(), namespace);
  if (table === null) return false;
  const { count } = await context.run(`DELETE FROM ${table.sqlName} WHERE id = $1::text RETURNING id`, [id!], 1);
  return count > 0;
}

/** Throws 22004 and 22023. */
function textOf(value: Value, what: string, charactersMax: number): string {
  if (value === null) throw sqlError("22004", `the ${what} of a memory must not be null`);
  const text = value as string;
  if (text.trim() === "") throw sqlError("22023", `the ${what} of a memory must not be empty`);
  if (text.length <= charactersMax) return text;
  throw sqlError("22023", `the ${what} of a memory has ${text.length} characters; ${charactersMax} are allowed`);
}

function metadataOf(value: Value): object | null {
  if (value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify((value as Json).value);
  if (text.length > MEMORY_METADATA_CHARACTERS_MAX) {
    throw sqlError("22023", `the metadata of a memory is larger than ${MEMORY_METADATA_CHARACTERS_MAX} characters`);
  }
  return objectOf(text, "the metadata of a memory");
}

/** `mem_<when>_<random>`: ids of later memories are greater, from one millisecond to the next. */
function newId(): string {
  const random = randomBytes(8).readBigUInt64BE().toString(36).padStart(13, "0");
  return `mem_${Date.now().toString(36)}_${random}`;
}
