/**
 * Whether what a transaction has written still fits, at its commit, where others have changed definitions since it
 * began. Definitions of what it has nothing to do with may change: the result is as if it had come before the change.
 *
 * What it writes is laid out by the definitions of its tables, and kept right by those of tables that foreign keys and
 * inheritance join with them (table-use.ts). A change of definitions that looks at rows, such as a new constraint,
 * changes one of these. Statements of a serializable transaction also worked by views and functions as they were, so
 * those must not have changed, and reading a table counts as writing it.
 */
import type { CommitGuard, TouchedPlaces, Transaction } from "../storage/store.js";
import type { CatalogSnapshot } from "./catalog-snapshot.js";
import type { CatalogView } from "./catalog-view.js";
import {
  encodeFunction,
  encodePlain,
  encodeSequence,
  encodeTable,
  encodeType,
  encodeView,
} from "./definition-codec.js";
import { byId } from "./plain-definitions.js";
import { storageOf, type TableDef } from "./table.js";
import { tablesOf, typesOfColumns } from "./table-use.js";

/** `Catalog`, as the guard asks it. */
interface Committed {
  /** Null: a transaction has to ask. */
  newestView(): CatalogView | null;
  view(tx: Transaction): CatalogView;
}

/** One for each version of the definitions, for all transactions that began to write by it. */
export class DefinitionsGuard implements CommitGuard {
  constructor(
    private readonly catalog: Committed,
    readonly base: CatalogSnapshot,
  ) {}

  isBroken(newest: () => Transaction, touched: () => TouchedPlaces | null, isSerializable: boolean): boolean {
    return !this.holdsIn(this.catalog.newestView() ?? this.catalog.view(newest()), touched, isSerializable);
  }

  isBrokenBy(next: CommitGuard, touched: () => TouchedPlaces | null, isSerializable: boolean): boolean {
    return !(next instanceof DefinitionsGuard && this.holdsIn(next.base, touched, isSerializable));
  }

  private holdsIn(now: CatalogView, touched: () => TouchedPlaces | null, isSerializable: boolean): boolean {
    const { base } = this;
    if (now.version === base.version) return true;
    const places = touched();
    if (places === null || (isSerializable && !keepsStatements(base, now))) return false;
    return keepsSequences(base, now, places.sequenceIds) && keepsTables(base, now, places.storageIds);
  }
}

function keepsTables(base: CatalogView, now: CatalogView, storageIds: ReadonlySet<number>): boolean {
  if (storageIds.size === 0) return true;
  const used = new Map<number, TableDef>();
  let found = 0;
  for (const table of base.tables()) {
    if (!storageIds.has(storageOf(table))) continue;
    found++;
    for (const each of tablesOf(table.id, base) ?? []) used.set(each.id, each);
  }
  // Of what no table names, nothing is known.
  if (found < storageIds.size) return false;
  const tables = [...used.values()];
  const types = byId(now.types());
  return (
    tables.every((table) => isSame(table, now.tableById(table.id), encodeTable)) &&
    typesOfColumns(tables, base).every((type) => isSame(type, types.get(type.id), encodeType))
  );
}

function keepsSequences(base: CatalogView, now: CatalogView, ids: ReadonlySet<number>): boolean {
  if (ids.size === 0) return true;
  const before = byId(base.sequences());
  const after = byId(now.sequences());
  return [...ids].every((id) => isSame(before.get(id), after.get(id), encodeSequence));
}

/** Nothing has changed or gone that a text of SQL may stand for beside tables. */
function keepsStatements(base: CatalogView, now: CatalogView): boolean {
  return (
    keepsAll(base.views(), now.views(), encodeView) &&
    keepsAll(base.functions(), now.functions(), encodeFunction) &&
    keepsAll(base.operators(), now.operators(), encodePlain) &&
    keepsAll(base.casts(), now.casts(), encodePlain)
  );
}

function keepsAll<T extends { readonly id: number }>(
  before: readonly T[],
  now: readonly T[],
  encode: (definition: T) => Uint8Array,
): boolean {
  const byIds = byId(now);
  return before.every((definition) => isSame(definition, byIds.get(definition.id), encode));
}

/** A definition that did not change is mostly the same object (catalog.ts). */
function isSame<T>(before: T | undefined, now: T | null | undefined, encode: (definition: T) => Uint8Array): boolean {
  if (before === undefined || now === null || now === undefined) return false;
  return before === now || Buffer.compare(encode(before), encode(now)) === 0;
}
