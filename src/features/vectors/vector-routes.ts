/** /v1/vectors/collections/{name}/vectors: storing, reading and removing vectors. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { writeTogether } from "../documents/document-session.js";
import { runAlone } from "../statements/run-alone.js";
import { findVectorCollection } from "./find-vector-collection.js";
import type { VectorCollection } from "./vector-collection.js";
import { type VectorItem, vectorItem } from "./vector-input.js";

export const vectorHandlers = {
  "vectors.upsert": (request, { params, query, body: { on_conflict: sent, ...body } }) => {
    const onConflict = onConflictOf(query.on_conflict, sent);
    const collection = findVectorCollection(request, params.name!);
    if (body.vectors === undefined) return storeOne(request, collection, vectorItem(body, "", collection), onConflict);
    for (const name of ["id", "vector", "values", "metadata"] as const) {
      if (body[name] === undefined) continue;
      throw new DbError("invalid_request", `Send "vectors" or "${name}", not both.`, { field: name });
    }
    return storeMany(request, collection, body.vectors, onConflict);
  },
  "vectors.batch": (request, { params, query, body }) => {
    const onConflict = onConflictOf(query.on_conflict, body.on_conflict);
    return storeMany(request, findVectorCollection(request, params.name!), body.vectors, onConflict);
  },
  "vectors.get": getVector,
  "vectors.delete": (request, { params }) => {
    const { sqlName } = findVectorCollection(request, params.name!);
    return runAlone(request, { sql: `DELETE FROM ${sqlName} WHERE id = $1`, params: [params.id] }, (outcome) => {
      if (outcome.rowsAffected === 0) throw missing(params.id!);
      return {};
    });
  },
  "vectors.deleteMany": (request, { params, body }) => {
    const { sqlName } = findVectorCollection(request, params.name!);
    const sql = `DELETE FROM ${sqlName} WHERE id = ANY ($1::text[])`;
    if (body.ids.length > ITEMS_AT_ONCE) return deleteInTurns(request, sql, body.ids);
    return runAlone(request, { sql, params: [body.ids] }, ({ rowsAffected }) => ({
      plain: { deleted: rowsAffected! },
    }));
  },
} satisfies Handlers;

type Written = ResponseOf<"vectors.upsert">;
type OnConflict = "error" | "replace" | "ignore";

const CLAUSES: Readonly<Record<OnConflict, string>> = {
  error: "",
  replace: "ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, metadata = excluded.metadata",
  ignore: "ON CONFLICT (id) DO NOTHING",
};

/** A body that is a bare list has no place for it, so the address may say it. */
function onConflictOf(inQuery: OnConflict | undefined, inBody: OnConflict | undefined): OnConflict {
  if (inQuery !== undefined && inBody !== undefined && inQuery !== inBody) {
    const message = `The address says on_conflict=${inQuery}, the body "${inBody}". Send one of them.`;
    throw new DbError("invalid_request", message, { field: "on_conflict" });
  }
  return inBody ?? inQuery ?? "error";
}

function storeOne(
  request: Request,
  { sqlName }: VectorCollection,
  { id, vector, metadata }: VectorItem,
  onConflict: OnConflict,
): Answer<Written> | Promise<Answer<Written>> {
  const sql = `INSERT INTO ${sqlName} (id, vector, metadata) VALUES ($1, $2, $3) ${CLAUSES[onConflict]}`;
  return sayingWhichIsThere(() =>
    runAlone(request, { sql, params: [id, vector, metadata] }, ({ rowsAffected }) => ({
      plain: { id, ids: [id], inserted: rowsAffected! },
    })),
  );
}

/** Throws conflict, in the words of vectors, where an id is there already. */
function sayingWhichIsThere<T>(store: () => T | Promise<T>): T | Promise<T> {
  try {
    const stored = store();
    return stored instanceof Promise ? stored.catch(refuse) : stored;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "23505") throw error;
  // Who may not see all vectors is not told which it is.
  const id = /^Key \(id\)=\((.*)\) already exists\.$/s.exec(String(error.details.detail))?.[1];
  throw new DbError(
    "conflict",
    id === undefined ? "A vector of that id already exists." : `The vector "${id}" already exists.`,
    {
      sqlstate: "23505",
      field: "id",
      ...(id !== undefined && { id }),
      hint: 'Send "on_conflict": "replace" to write over it, or "ignore" to leave it (in the body, or as ?on_conflict=replace).',
    },
  );
}

/** Of more, each statement takes so many. */
const ITEMS_AT_ONCE = 2000;

function deleteInTurns(
  request: Request,
  sql: string,
  ids: readonly string[],
): Promise<Answer<ResponseOf<"vectors.deleteMany">>> {
  return writeTogether(request, async (run) => {
    let deleted = 0;
    for (let from = 0; from < ids.length; from += ITEMS_AT_ONCE) {
      deleted += (await run({ sql, params: [ids.slice(from, from + ITEMS_AT_ONCE)] })).affected;
    }
    return { plain: { deleted } };
  });
}

/** Of items with one id the last counts, or the first where others are left out; else they are refused. */
class Items {
  readonly byId = new Map<string, VectorItem>();

  constructor(
    private readonly given: readonly unknown[],
    private readonly collection: VectorCollection,
    private readonly onConflict: OnConflict,
  ) {}

  add(i: number): void {
    const item = vectorItem(this.given[i], `vectors[${i}]`, this.collection);
    if (this.byId.has(item.id)) {
      if (this.onConflict === "ignore") return;
      if (this.onConflict === "error") {
        throw new DbError(
          "conflict",
          `The vector "${item.id}" appears twice in the request: "vectors[${i}].id" is a duplicate.`,
          {
            field: `vectors[${i}].id`,
            hint: 'With "on_conflict": "replace" the last one counts, with "ignore" the first.',
          },
        );
      }
    }
    this.byId.set(item.id, item);
  }

  get answer(): { readonly ids: readonly string[] } {
    return { ids: [...this.byId.keys()] };
  }
}

function storeMany(
  request: Request,
  collection: VectorCollection,
  given: readonly unknown[],
  onConflict: OnConflict,
): Answer<Written> | Promise<Answer<Written>> {
  const source = "unnest($1::text[], $2::vector[], $3::jsonb[]) AS item (id, vector, metadata)";
  const sql = `INSERT INTO ${collection.sqlName} (id, vector, metadata) SELECT id, vector, metadata FROM ${source} WHERE true ${CLAUSES[onConflict]}`;
  const items = new Items(given, collection, onConflict);
  return sayingWhichIsThere(() => {
    if (given.length > ITEMS_AT_ONCE) return storeInTurns(request, sql, given.length, items);
    for (let i = 0; i < given.length; i++) items.add(i);
    return runAlone(request, { sql, params: columnsOf([...items.byId.values()]) }, ({ rowsAffected }) => ({
      plain: { ...items.answer, inserted: rowsAffected! },
    }));
  });
}

async function storeInTurns(request: Request, sql: string, count: number, items: Items): Promise<Answer<Written>> {
  for (let i = 0; i < count; i++) {
    items.add(i);
    if (i % 256 === 0 && request.shouldYield()) await request.yieldTurn();
  }
  const all = [...items.byId.values()];
  return writeTogether(request, async (run) => {
    let inserted = 0;
    for (let from = 0; from < all.length; from += ITEMS_AT_ONCE) {
      inserted += (await run({ sql, params: columnsOf(all.slice(from, from + ITEMS_AT_ONCE)) })).affected;
    }
    return { plain: { ...items.answer, inserted } };
  });
}

/** A list per column. */
function columnsOf(items: readonly VectorItem[]): [string[], Float32Array[], (object | null)[]] {
  return [items.map(({ id }) => id), items.map(({ vector }) => vector), items.map(({ metadata }) => metadata)];
}

type Found = ResponseOf<"vectors.get">;

function getVector(request: Request, { params }: InputOf<"vectors.get">): Answer<Found> | Promise<Answer<Found>> {
  const { sqlName } = findVectorCollection(request, params.name!);
  const sql = `SELECT id, vector, metadata FROM ${sqlName} WHERE id = $1`;
  return runAlone(request, { sql, params: [params.id] }, ({ rows }) => {
    const [row] = rows.plain!;
    if (row === undefined) throw missing(params.id!);
    const [id, vector, metadata] = row;
    return { plain: { id, vector, metadata } as Found };
  });
}

function missing(id: string): DbError {
  return new DbError("not_found", `The vector "${id}" does not exist.`, { id });
}
