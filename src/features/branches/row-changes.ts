/**
 * What a branch has changed since it was merged last, or forked: rows of tables, and definitions. Asked by
 * branch-merge.ts.
 */
import type { Request } from "../../actor/request.js";
import { encodeTable } from "../../catalog/definition-codec.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import { layoutOf, rowOfRecord } from "../../query/exec/table-layout.js";
import { pastTenant } from "../../session/as-of.js";
import { noteReads } from "../../session/data-audit.js";
import type { Tenant } from "../../session/tenant.js";
import type { Branch } from "../../storage/branch-list.js";
import { ofTenant } from "../../storage/history-keys.js";
import { SPACE, storageIdOf } from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import { pointOf } from "../../storage/merge-points.js";
import { plainWriter } from "../../values/json-format.js";
import { shownPath } from "../../values/shown-path.js";
import type { Value } from "../../values/values.js";

/** By column id. */
export type Row = Value[];

export interface RowDifference {
  readonly table: TableDef;
  /** What `before` is a row of; absent: `table`. */
  readonly tableBefore?: TableDef;
  /** Of the origin. */
  readonly key: Uint8Array;
  readonly before: Row | null;
  readonly after: Row | null;
  /** If it was asked for: the origin has by now what the branch has. */
  readonly inOrigin?: boolean;
}

/** The tables of a branch, and those that it began with. */
export interface BranchTables {
  readonly now: ReadonlyMap<number, TableDef>;
  readonly before: ReadonlyMap<number, TableDef>;
  /** Tables that are not as they were: made, dropped or altered. */
  readonly changed: readonly TableDef[];
}

const KEYS_AT_ONCE = 48;

/** They began with what the last merge of definitions left, or else with the fork. */
export async function branchTables(
  request: Request,
  number: number,
  { origin, start, merges }: Branch,
): Promise<BranchTables> {
  const { partition } = request;
  const { sequence } = merges.definitions ?? start;
  const past = await pastTenant(partition.tenant(origin), sequence, request);
  const before = tablesOf(past);
  const now = tablesOf(partition.tenant(number));
  const isSame = (table: TableDef, other: TableDef | undefined): boolean =>
    other !== undefined && sameDefinition(table, other);
  const byId = (tables: ReadonlyMap<number, TableDef>) =>
    new Map([...tables.values()].map((table) => [table.id, table]));
  const [idsBefore, idsNow] = [byId(before), byId(now)];
  // Also rows that the branch has dropped, or does not audit any more.
  noteReads(new Map([...auditedReads(now.values()), ...auditedReads(before.values())]).values(), request.audited());
  const made = [...now.values()].filter((table) => !isSame(table, idsBefore.get(table.id)));
  const dropped = [...before.values()].filter(({ id }) => !idsNow.has(id));
  return { now, before, changed: [...made, ...dropped] };
}

export function auditedReads(tables: Iterable<TableDef>): [id: number, table: TableDef][] {
  return [...tables].flatMap((table) => (table.audit?.includes("read") ? [[table.id, table]] : []));
}

/** By storage id. */
export function tablesOf(tenant: Tenant): ReadonlyMap<number, TableDef> {
  return tenant.withDefinitions((catalog) => new Map(catalog.tables().map((table) => [storageOf(table), table])));
}

/** An entry that is not as it was. */
export interface KeyChange {
  /** Of the origin. */
  readonly key: Uint8Array;
  readonly base: Uint8Array | undefined;
  readonly theirs: Uint8Array | undefined;
}

export interface Sought {
  readonly isWanted?: (space: number) => boolean;
  /** What has changed since the last merge, where there was one, and not since the fork. */
  readonly sinceMerge?: boolean;
}

/** Entries that a branch has changed, in the order of their keys, up to the first space that is not wanted. */
export async function* keyChanges(
  layers: LayeredEngine,
  number: number,
  branch: Branch,
  yieldTurn: () => Promise<void>,
  { isWanted = () => true, sinceMerge = false }: Sought = {},
): AsyncIterable<KeyChange> {
  for (let keys = layers.changedKeys(number, null, KEYS_AT_ONCE); keys.length > 0; ) {
    const wanted = keys.filter((own) => isWanted(own[4]!));
    const ofOrigin = wanted.map((own) => ofTenant(own, branch.origin));
    // One read for all of them takes a fraction of the time of one each.
    const bases = basesOf(layers, branch, wanted, sinceMerge);
    const theirs = layers.getMany(wanted);
    for (const [i, key] of ofOrigin.entries()) {
      const change = { key, base: bases[i], theirs: theirs[i] };
      if (!sameBytes(change.base, change.theirs)) yield change;
    }
    if (wanted.length < keys.length) return;
    if (keys.length < KEYS_AT_ONCE) return;
    const last = Buffer.from(keys.at(-1)!);
    await yieldTurn();
    keys = layers.changedKeys(number, last, KEYS_AT_ONCE);
  }
}

/** What changes of entries of a branch are held against. Those that begin alike lie side by side. */
export function basesOf(
  layers: LayeredEngine,
  { origin, start, merges }: Branch,
  keys: readonly Uint8Array[],
  sinceMerge: boolean,
): readonly (Uint8Array | undefined)[] {
  const bases: (Uint8Array | undefined)[] = [];
  for (let from = 0; from < keys.length; ) {
    const point = sinceMerge ? pointOf(merges, keys[from]!) : null;
    let to = from + 1;
    while (to < keys.length && (sinceMerge ? pointOf(merges, keys[to]!) : null) === point) to++;
    const some = keys.slice(from, to);
    if (point !== null) bases.push(...layers.getManyAsOf(some, point.sequence));
    else
      bases.push(
        ...layers.getManyAsOf(
          some.map((key) => ofTenant(key, origin)),
          start.sequence,
        ),
      );
    from = to;
  }
  return bases;
}

/** Rows that are not as they were when the branch was merged last, in the order of their keys. */
export async function* rowDifferences(
  { partition, yieldTurn }: Pick<Request, "partition" | "yieldTurn">,
  number: number,
  branch: Branch,
  { now, before }: BranchTables,
): AsyncIterable<RowDifference> {
  const sought = { sinceMerge: true, isWanted: (space: number) => space <= SPACE.rows };
  for await (const change of keyChanges(partition.shard.layers!, number, branch, yieldTurn, sought)) {
    const { key, base, theirs } = change;
    if (key[4] !== SPACE.rows) continue;
    const storageId = storageIdOf(key);
    const [tableNow, tableBefore] = [now.get(storageId), before.get(storageId)];
    const table = tableNow ?? tableBefore;
    if (table === undefined) continue;
    yield {
      ...{ table, key },
      before: tableBefore === undefined ? null : rowOf(tableBefore, base),
      after: tableNow === undefined ? null : rowOf(tableNow, theirs),
    };
  }
}

export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(a, b) === 0;
}

export function sameDefinition(a: TableDef, b: TableDef): boolean {
  return sameBytes(encodeTable(a), encodeTable(b));
}

export function rowOf(table: TableDef, record: Uint8Array | undefined): Row | null {
  return record === undefined ? null : rowOfRecord(layoutOf(table), record);
}

/** With names, as answers have it. */
export function shownRow(table: TableDef, row: Row | null): Record<string, unknown> | null {
  if (row === null) return null;
  const entries = table.columns.map(({ id, name, type }) => {
    const value = row[id] ?? null;
    return [name, value === null ? null : plainWriter(type)(value)] as const;
  });
  return Object.fromEntries(entries);
}

/** Without the schema where that is `public`. */
export function shownName({ schema, name }: Pick<TableDef, "schema" | "name">): string {
  return shownPath(schema === "public" ? [name] : [schema, name]);
}
