/**
 * Which tables of two states belong together, and how their rows are compared. A table that has kept its place since
 * the states parted is compared by the keys that have been written. One that was made, dropped, emptied or rewritten
 * meanwhile has rows in other places, which are read side by side.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import { pastTenant } from "../../session/as-of.js";
import { noteReads } from "../../session/data-audit.js";
import type { Tenant } from "../../session/tenant.js";
import { requireWholeTenant } from "../../session/whole-rights.js";
import type { Meeting, Point } from "./points.js";
import { auditedReads, sameDefinition, shownName, tablesOf } from "./row-changes.js";

/** A table of both states, or of one. */
export interface TablePair {
  readonly before: TableDef | null;
  readonly after: TableDef | null;
  /** Its rows lie in one place in both, as they did where the states parted. */
  readonly isInPlace: boolean;
}

export interface ComparedTables {
  readonly pairs: readonly TablePair[];
  /** Tables that are not defined alike: made, dropped or altered. */
  readonly changed: readonly TableDef[];
}

/** Throws 403 where a state keeps something from the caller. */
export async function comparedTables(
  request: Request,
  before: Point,
  after: Point,
  meeting: Meeting | null,
): Promise<ComparedTables> {
  const [old, now] = [await tenantAt(request, before), await tenantAt(request, after)];
  const shared = meeting === null ? null : { number: meeting.number, sequence: meeting.from };
  const [tablesBefore, tablesNow] = [listOf(old), listOf(now)];
  const base = shared === null ? [] : listOf(await stateOf(request, shared));
  noteReads(new Map([...auditedReads(tablesNow), ...auditedReads(tablesBefore)]).values(), request.audited());
  const pairs = pairsOf(tablesBefore, tablesNow, new Map(base.map((table) => [table.id, table])));
  const changed = pairs.flatMap(({ before: a, after: b }) => (a && b && sameDefinition(a, b) ? [] : [(b ?? a)!]));
  return { pairs, changed };
}

function listOf(tenant: Tenant): readonly TableDef[] {
  return [...tablesOf(tenant).values()];
}

function stateOf(request: Request, { number, sequence }: Point): Promise<Tenant> | Tenant {
  const tenant = request.partition.tenant(number);
  return sequence === null ? tenant : pastTenant(tenant, sequence, request);
}

async function tenantAt(request: Request, point: Point): Promise<Tenant> {
  const { head } = request;
  const tenant = await stateOf(request, point);
  const asker = { rights: rightsOfCaller(head), isLed: head.lead !== undefined };
  requireWholeTenant(tenant, asker, "a difference", "refused");
  return tenant;
}

/** Those of one id belong together where both have it from before; else those of one name. */
function pairsOf(
  before: readonly TableDef[],
  now: readonly TableDef[],
  base: ReadonlyMap<number, TableDef>,
): readonly TablePair[] {
  const idsBefore = new Map(before.filter(({ id }) => base.has(id)).map((table) => [table.id, table]));
  const pairs = new Map<TableDef, TableDef | null>();
  const taken = new Set<TableDef>();
  const join = (table: TableDef, other: TableDef | undefined): void => {
    if (other === undefined || taken.has(other) || pairs.has(table)) return;
    pairs.set(table, other);
    taken.add(other);
  };
  for (const table of now) if (base.has(table.id)) join(table, idsBefore.get(table.id));
  const names = new Map(before.filter((table) => !taken.has(table)).map((table) => [shownName(table), table]));
  for (const table of now) join(table, names.get(shownName(table)));
  const gone = before.filter((table) => !taken.has(table));
  return [
    ...now.map((after) => pairOf(pairs.get(after) ?? null, after, base)),
    ...gone.map((table) => pairOf(table, null, base)),
  ];
}

function pairOf(before: TableDef | null, after: TableDef | null, base: ReadonlyMap<number, TableDef>): TablePair {
  const there = before === null || after === null || before.id !== after.id ? undefined : base.get(after.id);
  const places = [before, after, there].map((table) => (table == null ? null : storageOf(table)));
  return { before, after, isInPlace: there !== undefined && places.every((place) => place === places[0]) };
}
