/**
 * How memories are stored, replaced and forgotten: statements in the transaction of the one that calls. A memory that
 * another takes the place of is superseded: it keeps its text, with the time until which it held. Called by
 * memory-functions.ts.
 */
import { randomBytes } from "node:crypto";
import { sqlError } from "../../protocol/errors.js";
import { need } from "../../query/expr/capability.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";
import type { Value } from "../../values/values.js";
import { type JudgedMemories, judgedMemories } from "./judge-memories.js";
import { findTable, type MemoryContext, type MemoryTable, requireTable } from "./memory-namespace.js";

export interface NewMemory {
  readonly content: string;
  readonly metadata: object | null;
}

export interface StoreOptions {
  /** Compare it with the nearest memories: supersede those that it contradicts, and store nothing twice. */
  readonly supersede: boolean;
  /** RFC 3339; null: from now on. */
  readonly validFrom: string | null;
}

export interface StoredMemory {
  readonly id: string;
  readonly superseded: readonly string[];
  /** The memory that says the same, under which nothing was stored; null: it was stored. */
  readonly duplicate_of: string | null;
  /** What compared it with other memories. */
  readonly judged_by: JudgedMemories["judgedBy"];
}

const ALL = Number.MAX_SAFE_INTEGER;
/** Of looking for a memory that is there as soon as it shall be stored. */
const ATTEMPTS_MAX = 10;
/** Since when the new memory holds, to the microsecond. */
const START = "$1::text::timestamptz";

/** Stores a memory under a new id. */
export async function storeMemory(
  context: MemoryContext,
  namespace: string,
  memory: NewMemory,
  { supersede, validFrom }: StoreOptions,
): Promise<StoredMemory> {
  const table = await requireTable(context, namespace);
  const vector = await vectorOf(context, table, memory.content);
  const id = newId();
  const start = validFrom ?? (await now(context));
  if (!supersede) {
    await insert(context, table, { id, vector, start, ...memory });
    return { id, superseded: [], duplicate_of: null, judged_by: [] };
  }
  const { contradicted, repeated, later, judgedBy } = await judgedMemories(context, table, memory.content, validFrom);
  if (repeated === null) await insert(context, table, { id, vector, start, ...memory });
  const current = repeated ?? id;
  if (contradicted.length > 0 || later !== null) {
    const chain = await joinedChain(context, table, [current, ...contradicted, ...(later === null ? [] : [later])]);
    await context.run(
      `UPDATE ${table.sqlName} SET valid_until = greatest(${START}, ${table.start}), superseded_by = $2::text
       WHERE chain = $3::text AND id = ANY ($4::text[])`,
      [start, current, chain, contradicted],
      0,
    );
    // What was known to hold later bounds what is told of a time before.
    if (later !== null && repeated === null) {
      await context.run(
        `UPDATE ${table.sqlName} SET superseded_by = $2::text, valid_until =
           (SELECT ${table.start} FROM ${table.sqlName} WHERE id = $2::text) WHERE id = $1::text`,
        [id, later],
        0,
      );
    }
  }
  return { id: current, superseded: contradicted, duplicate_of: repeated, judged_by: judgedBy };
}

/** Stores a memory under that id; one that is there is superseded. Returns the ids of those. */
export async function replaceMemory(
  context: MemoryContext,
  namespace: string,
  id: string,
  memory: NewMemory,
  validFrom: string | null,
): Promise<readonly string[]> {
  const table = await requireTable(context, namespace);
  const vector = await vectorOf(context, table, memory.content);
  const { sqlName } = table;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { rows } = await context.run(
      `SELECT chain, valid_until IS NULL AND content = $2::text AND metadata IS NOT DISTINCT FROM $3::jsonb
       FROM ${sqlName} WHERE id = $1::text FOR UPDATE`,
      [id, memory.content, memory.metadata],
      1,
    );
    const [row] = rows;
    if (row === undefined) {
      const start = validFrom ?? (await now(context));
      if (await insert(context, table, { id, vector, start, ...memory })) return [];
      // Another transaction has stored one under that id meanwhile.
      continue;
    }
    if (row[1] === true && validFrom === null) {
      await context.run(
        `UPDATE ${sqlName} SET valid_from = ${table.start}, created_at = clock_timestamp() WHERE id = $1::text`,
        [id],
        0,
      );
      return [];
    }
    // Now that the row is locked: a version that another transaction has made meanwhile began before.
    const start = validFrom ?? (await now(context));
    return supersedeById(context, table, { id, vector, start, ...memory }, row[0] as string | null);
  }
  // A policy hides it.
  throw sqlError("23505", `duplicate key value violates unique constraint "${namespace}": the id "${id}" is taken`, {
    hint: "Store the memory under another id.",
  });
}

/** The row of that id becomes the new memory; what it was goes on under an id of its own. */
async function supersedeById(
  context: MemoryContext,
  { sqlName, start: began }: MemoryTable,
  { id, content, metadata, vector, start }: Row,
  known: string | null,
): Promise<readonly string[]> {
  const chain = known ?? newId();
  const past = newId();
  await context.run(
    `INSERT INTO ${sqlName} (id, content, metadata, created_at, model, embedding, valid_from, valid_until,
       superseded_by, chain)
     SELECT $2::text, content, metadata, created_at, model, embedding, ${began}, valid_until, superseded_by, $3::text
     FROM ${sqlName} WHERE id = $1::text`,
    [id, past, chain],
    0,
  );
  await context.run(
    `UPDATE ${sqlName} SET superseded_by = $2::text WHERE chain = $3::text AND superseded_by = $1::text`,
    [id, past, chain],
    0,
  );
  const { rows } = await context.run(
    `UPDATE ${sqlName} SET valid_until = greatest(${START}, ${began}), superseded_by = $2::text
     WHERE chain = $3::text AND id <> $2::text AND (valid_until IS NULL OR valid_until > ${START}) RETURNING id`,
    [start, id, chain],
    ALL,
  );
  await context.run(
    `UPDATE ${sqlName} SET content = $2::text, metadata = $3::jsonb, created_at = clock_timestamp(),
       embedding = $4::vector, valid_from = $5::text::timestamptz, valid_until = NULL,
       superseded_by = NULL, chain = $6::text WHERE id = $1::text`,
    [id, content, metadata, vector, start, chain],
    0,
  );
  return rows.map(([one]) => one as string);
}

/** Whether there was one. Its whole history goes with it. */
export async function forgetMemory(context: MemoryContext, namespace: string, id: string): Promise<boolean> {
  const { services } = context;
  const table = findTable(services.catalogView(), namespace);
  if (table === null) return false;
  const { sqlName, hasHistory } = table;
  const chain = hasHistory
    ? (await context.run(`SELECT chain FROM ${sqlName} WHERE id = $1::text`, [id], 1)).rows[0]?.[0]
    : null;
  const [condition, value] = chain == null ? ["id", id] : ["chain", chain];
  const deleted = await context.run(`DELETE FROM ${sqlName} WHERE ${condition} = $1::text RETURNING id`, [value], ALL);
  return deleted.rows.length > 0;
}

interface Row extends NewMemory {
  readonly id: string;
  readonly vector: Value;
  readonly start: string;
}

/** False: there is a memory with that id. */
async function insert(context: MemoryContext, { sqlName }: MemoryTable, row: Row): Promise<boolean> {
  const { rows } = await context.run(
    `INSERT INTO ${sqlName} (id, content, metadata, created_at, embedding, valid_from)
     VALUES ($2::text, $3::text, $4::jsonb, greatest(clock_timestamp(), ${START}), $5::vector, ${START})
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [row.start, row.id, row.content, row.metadata, row.vector],
    1,
  );
  return rows.length > 0;
}

/** All of these memories, and those that they followed, get one chain: one that some have, if any has. Returns it. */
async function joinedChain(context: MemoryContext, { sqlName }: MemoryTable, ids: readonly string[]): Promise<string> {
  const { rows } = await context.run(
    `SELECT DISTINCT chain FROM ${sqlName} WHERE id = ANY ($1::text[]) AND chain IS NOT NULL`,
    [ids],
    ALL,
  );
  const [chain = newId(), ...others] = rows.map(([one]) => one as string);
  await context.run(`UPDATE ${sqlName} SET chain = $1::text WHERE chain = ANY ($2::text[])`, [chain, others], 0);
  await context.run(
    `UPDATE ${sqlName} SET chain = $1::text WHERE id = ANY ($2::text[]) AND chain IS NULL`,
    [chain, ids],
    0,
  );
  return chain;
}

/** One time for all that a call writes: where one version ends the next begins. */
async function now(context: MemoryContext): Promise<string> {
  const { rows } = await context.run("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::text || 'Z'", [], 1);
  return rows[0]![0] as string;
}

async function vectorOf(context: MemoryContext, table: MemoryTable, content: string): Promise<Value> {
  const [vector] = await need(context, EMBEDDING).later([content], table.model, context);
  return vector!;
}

/** `mem_<when>_<random>`: ids of later memories are greater, from one millisecond to the next. */
function newId(): string {
  const random = randomBytes(8).readBigUInt64BE().toString(36).padStart(13, "0");
  return `mem_${Date.now().toString(36)}_${random}`;
}
