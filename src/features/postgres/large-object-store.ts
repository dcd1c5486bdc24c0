/**
 * The bytes of large objects, as rows of two tables that the feature keeps for itself: one row for each object, and one
 * for each page of 2 KiB. A page that is not there is all zeros. The first object makes the tables, in the transaction
 * of its statement. One per call of a function.
 */
import { randomInt } from "node:crypto";
import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { sqlError } from "../../protocol/errors.js";
import { RECORD_BYTES_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext } from "../../query/expr/expr.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import type { Value } from "../../values/values.js";

/** A deferred function is computed in the context of its statement. */
export type LargeObjectContext = ExecContext & DeferredContext;

export const OBJECTS_TABLE = "_large_objects";
export const PAGES_TABLE = "_large_object_pages";
const OBJECTS = `${DEFAULT_SCHEMA}."${OBJECTS_TABLE}"`;
const PAGES = `${DEFAULT_SCHEMA}."${PAGES_TABLE}"`;
/** As PostgreSQL's, which pg_largeobject shows. */
const PAGE_BYTES = 2048;
/** With a page number of 31 bits. */
const OBJECT_BYTES_MAX = PAGE_BYTES * 0x7fffffff;
/** OIDs below are of built-in things. */
const FIRST_OID = 16_384;
const LAST_OID = 2 ** 31 - 1;
const NOTHING = new Uint8Array(0);

const TABLES = [
  `CREATE TABLE IF NOT EXISTS ${OBJECTS} (id bigint PRIMARY KEY, owner text NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${PAGES} (
    object bigint NOT NULL, page integer NOT NULL, data bytea NOT NULL, PRIMARY KEY (object, page))`,
];

export class LargeObjectStore {
  constructor(private readonly context: LargeObjectContext) {}

  /** `wanted` 0: one that no other object has. Throws 23505. */
  async create(wanted: number): Promise<number> {
    await this.requireTables();
    const { name } = this.rights.acting;
    const insert = `INSERT INTO ${OBJECTS} VALUES ($1::int8, $2::text) ON CONFLICT (id) DO NOTHING`;
    for (;;) {
      const id = wanted === 0 ? randomInt(FIRST_OID, LAST_OID) : wanted;
      const { count } = await this.context.run(insert, [id, name], 0, true);
      if (count === 1) return id;
      if (wanted === 0) continue;
      throw sqlError("23505", 'duplicate key value violates unique constraint "pg_largeobject_metadata_oid_index"', {
        detail: `Key (oid)=(${id}) already exists.`,
      });
    }
  }

  /** Throws 42704, and 42501 where it is another role's. */
  async requireUse(id: number): Promise<void> {
    if (!this.isOwn(await this.ownerOf(id))) throw sqlError("42501", `permission denied for large object ${id}`);
  }

  /** Throws 42704, and 42501 where it is another role's. */
  async remove(id: number): Promise<void> {
    if (!this.isOwn(await this.ownerOf(id))) throw sqlError("42501", `must be owner of large object ${id}`);
    await this.context.run(`DELETE FROM ${PAGES} WHERE object = $1::int8`, [id], 0, true);
    await this.context.run(`DELETE FROM ${OBJECTS} WHERE id = $1::int8`, [id], 0, true);
  }

  async sizeOf(id: number): Promise<number> {
    const last = `SELECT page, octet_length(data) FROM ${PAGES} WHERE object = $1::int8 ORDER BY page DESC LIMIT 1`;
    const [row] = await this.rows(last, [id]);
    return row === undefined ? 0 : Number(row[0]) * PAGE_BYTES + Number(row[1]);
  }

  /** At most so many bytes from there on. Throws 54000 where that is more than a value may have. */
  async read(id: number, position: number, wanted: number): Promise<Uint8Array> {
    const size = await this.sizeOf(id);
    const length = Math.min(wanted, size - position);
    if (length <= 0) return NOTHING;
    if (length > RECORD_BYTES_MAX) throw sqlError("54000", "large object read request is too large");
    const [first, last] = [pageOf(position), pageOf(position + length - 1)];
    const pages = await this.rows(
      `SELECT page, data FROM ${PAGES} WHERE object = $1::int8 AND page BETWEEN $2::int4 AND $3::int4`,
      [id, first, last],
    );
    const bytes = new Uint8Array((last - first + 1) * PAGE_BYTES);
    for (const [page, data] of pages) bytes.set(data as Uint8Array, (Number(page) - first) * PAGE_BYTES);
    const from = position - first * PAGE_BYTES;
    return bytes.subarray(from, from + length);
  }

  /** Throws 22023 where the object would be too long. */
  async write(id: number, position: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const end = position + bytes.length;
    if (end > OBJECT_BYTES_MAX) throw sqlError("22023", `invalid large object write request size: ${bytes.length}`);
    const [first, last] = [pageOf(position), pageOf(end - 1)];
    const isWhole = position % PAGE_BYTES === 0 && end % PAGE_BYTES === 0;
    const edges = isWhole
      ? []
      : await this.rows(`SELECT page, data FROM ${PAGES} WHERE object = $1::int8 AND page IN ($2::int4, $3::int4)`, [
          id,
          first,
          last,
        ]);
    const dataOf = (page: number): Uint8Array =>
      (edges.find(([number]) => Number(number) === page)?.[1] as Uint8Array | undefined) ?? NOTHING;
    const head = new Uint8Array(position - first * PAGE_BYTES);
    head.set(dataOf(first).subarray(0, head.length));
    await this.put(id, first, Buffer.concat([head, bytes, dataOf(last).subarray(end - last * PAGE_BYTES)]));
  }

  /** Cuts it, or adds zeros. Throws 22023. */
  async truncate(id: number, length: number): Promise<void> {
    if (length < 0 || length > OBJECT_BYTES_MAX) {
      throw sqlError("22023", `invalid large object truncation target: ${length}`);
    }
    const last = pageOf(length);
    await this.context.run(`DELETE FROM ${PAGES} WHERE object = $1::int8 AND page > $2::int4`, [id, last], 0, true);
    const kept = await this.read(id, last * PAGE_BYTES, length - last * PAGE_BYTES);
    const page = new Uint8Array(length - last * PAGE_BYTES);
    page.set(kept);
    await this.put(id, last, page);
  }

  /** Whole pages, but for the last. */
  private async put(id: number, first: number, bytes: Uint8Array): Promise<void> {
    const last = Math.max(0, pageOf(bytes.length - 1));
    await this.context.run(
      `INSERT INTO ${PAGES} SELECT $1::int8, $2::int4 + i, substring($3::bytea FROM i * ${PAGE_BYTES} + 1 FOR ${PAGE_BYTES})
         FROM generate_series(0, $4::int4) AS i
         ON CONFLICT (object, page) DO UPDATE SET data = excluded.data`,
      [id, first, bytes, last],
      0,
      true,
    );
  }

  private async ownerOf(id: number): Promise<string> {
    const [row] = this.isThere ? await this.rows(`SELECT owner FROM ${OBJECTS} WHERE id = $1::int8`, [id]) : [];
    if (row === undefined) throw sqlError("42704", `large object ${id} does not exist`);
    return row[0] as string;
  }

  /** Without roles in the tenant, its users have everything in common. */
  private isOwn(owner: string): boolean {
    const { rights } = this;
    if (!rights.ofRoles || owner === rights.acting.name) return true;
    const role = rights.catalog.role(owner);
    return role === null ? rights.isSuperuser : rights.hasRole(role.id);
  }

  private get rights() {
    return need(this.context, SYSTEM).currentRights();
  }

  private get isThere(): boolean {
    return this.context.services.catalogView().table(DEFAULT_SCHEMA, OBJECTS_TABLE) !== null;
  }

  private async requireTables(): Promise<void> {
    if (this.isThere) return;
    for (const table of TABLES) await this.context.run(table, [], 0, true);
  }

  private async rows(sql: string, params: readonly unknown[]): Promise<readonly (readonly Value[])[]> {
    return (await this.context.run(sql, params, Number.MAX_SAFE_INTEGER, true)).rows;
  }
}

function pageOf(position: number): number {
  return Math.floor(position / PAGE_BYTES);
}
