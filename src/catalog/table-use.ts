/**
 * The definitions that writing rows of one table depends on: the table, the tables that foreign keys and inheritance
 * join it with, their types and sequences. A transaction that stays open for long (an import) remembers them and
 * checks at commit whether all are unchanged. So definitions of other tables may change while it runs. The result is
 * as if the rows had been written before those changes, none of which looked at them.
 */
import type { CatalogView } from "./catalog-view.js";
import { encodeSequence, encodeTable, encodeType } from "./definition-codec.js";
import type { TableDef } from "./table.js";
import { type TypeDef, usesType } from "./type.js";

/** Names that are written in expressions as they are. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;

export class TableUse {
  private constructor(
    private readonly tableId: number,
    /** Records of definitions, by kind and id. */
    private readonly records: ReadonlyMap<string, string>,
  ) {}

  /** Null when it cannot be told: triggers, rules and functions that statements made may use anything. */
  static of(tableId: number, view: CatalogView): TableUse | null {
    const tables = tablesOf(tableId, view);
    if (tables === null || tables.some((table) => table.triggers?.length || table.rules?.length)) return null;
    const records = recordsOf(tables, view);
    const mentions = (name: string) => !PLAIN_NAME.test(name) || mentionedIn(records, name);
    return view.functions().some(({ name }) => mentions(name)) ? null : new TableUse(tableId, records);
  }

  /** Whether the view has all of it unchanged. */
  holdsIn(view: CatalogView): boolean {
    const tables = tablesOf(this.tableId, view);
    if (tables === null) return false;
    const now = recordsOf(tables, view);
    if (now.size !== this.records.size) return false;
    for (const [key, record] of this.records) if (now.get(key) !== record) return false;
    return true;
  }
}

/** The table and all that are joined with it, directly or through others; null when one of them is not there. */
export function tablesOf(tableId: number, view: CatalogView): readonly TableDef[] | null {
  const found = new Map<number, TableDef>();
  const waiting = [tableId];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    const table = view.tableById(id);
    if (table === null) return null;
    found.set(id, table);
    for (const { tableId: other } of table.foreignKeys ?? []) waiting.push(other);
    for (const { tableId: other } of table.referencedBy ?? []) waiting.push(other);
    waiting.push(...(table.parents ?? []), ...(table.children ?? []));
  }
  return [...found.values()];
}

/** Of the tables' columns. */
export function typesOfColumns(tables: readonly TableDef[], view: CatalogView): readonly TypeDef[] {
  const isUsed = ({ id }: TypeDef) => tables.some(({ columns }) => columns.some((column) => usesType(column.type, id)));
  return view.types().filter(isUsed);
}

function recordsOf(tables: readonly TableDef[], view: CatalogView): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  const add = (key: string, record: Uint8Array) => records.set(key, Buffer.from(record).toString("latin1"));
  for (const table of tables) add(`table ${table.id}`, encodeTable(table));
  for (const type of typesOfColumns(tables, view)) add(`type ${type.id}`, encodeType(type));
  const ids = new Set(tables.map(({ id }) => id));
  const inTables = new Map(records);
  for (const sequence of view.sequences()) {
    const isOwned = sequence.ownedBy !== null && ids.has(sequence.ownedBy.tableId);
    if (isOwned || !PLAIN_NAME.test(sequence.name) || mentionedIn(inTables, sequence.name)) {
      add(`sequence ${sequence.id}`, encodeSequence(sequence));
    }
  }
  return records;
}

/** A name may be part of another one: then more counts as used than is. */
function mentionedIn(records: ReadonlyMap<string, string>, name: string): boolean {
  for (const record of records.values()) if (record.includes(name)) return true;
  return false;
}
