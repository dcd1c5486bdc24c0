/**
 * Handles many removed or changed rows that a foreign key refers to by one statement, instead of one statement each.
 * That is one pass through the referencing table, however many rows there are. Used by constraint-checks.ts.
 */
import { ownRows } from "../catalog/ddl-outcome.js";
import { quotedIdentifier } from "../catalog/relation-names.js";
import {
  EXPRESSION_COLUMN,
  type ForeignKeyAction,
  type ForeignKeyDef,
  type ReferenceDef,
  type TableDef,
} from "../catalog/table.js";
import type { ConstraintEvent, ReferencedEvent } from "../query/exec/constraint-event.js";
import { displayName } from "../query/expr/types.js";
import type { SqlArray, Value } from "../values/values.js";

/** Both ends of a foreign key. */
export interface Ends {
  /** The table of the row. */
  readonly parent: TableDef;
  /** The table that the foreign key names: this one, or one of which it is a partition. */
  readonly target: TableDef;
  readonly child: TableDef;
  readonly key: ForeignKeyDef;
}

/** Events of one foreign key, all of rows that were removed or all of rows that were changed. */
export interface ReferencedSet {
  readonly kind: "set";
  readonly events: readonly ReferencedEvent[];
}

/** Rows from which on it pays. */
const SET_MIN = 8;
/** Rows of one statement: making its parameters, and a hash table of them, takes some milliseconds at a time. */
const SET_MAX = 20_000;

/**
 * The events with many of one kind joined, at the place of the first; `isHeard`: with few, too, because triggers of the
 * referencing table hear of each statement.
 */
export function inSets(
  events: readonly ConstraintEvent[],
  isHeard: (event: ReferencedEvent) => boolean,
): readonly (ConstraintEvent | ReferencedSet)[] {
  if (events.length < 2) return events;
  // By the definition itself, which all rows of a statement share: there may be many of them.
  const removed = new Map<ReferenceDef, ReferencedEvent[]>();
  const changed = new Map<ReferenceDef, ReferencedEvent[]>();
  const work: (ConstraintEvent | ReferencedEvent[])[] = [];
  for (const event of events) {
    if (event.kind !== "referenced") {
      work.push(event);
      continue;
    }
    const sets = event.after === null ? removed : changed;
    const set = sets.get(event.reference);
    if (set !== undefined && set.length < SET_MAX) set.push(event);
    else {
      const started = [event];
      sets.set(event.reference, started);
      work.push(started);
    }
  }
  return work.flatMap((each): readonly (ConstraintEvent | ReferencedSet)[] => {
    if (!Array.isArray(each)) return [each];
    const isSet = each.length >= SET_MIN || (each.length > 1 && isHeard(each[0]!));
    return isSet ? [{ kind: "set", events: each }] : each;
  });
}

export const hearsOfStatements = ({ triggers = [] }: TableDef): boolean =>
  triggers.some(({ level }) => level === "statement");

/** Whether one statement is better than one each: not where an index of several columns finds the few rows. */
export function isForSets({ target, child, key }: Ends): boolean {
  if (key.references.some((id) => typeOf(target, id).element !== null)) return false;
  if (key.columns.length === 1 || hearsOfStatements(child)) return true;
  const leads = (columnId: number | undefined) => columnId !== undefined && key.columns.includes(columnId);
  if (leads(child.primaryKey?.[0])) return false;
  return !child.indexes.some(({ columns, where }) => {
    const first = columns[0]?.columnId;
    return !where && first !== EXPRESSION_COLUMN && leads(first);
  });
}

/** An array per column of the key: values as they were, then, of changed rows, as they are. */
export function setParameters({ events }: ReferencedSet): readonly Value[] {
  const { before, after } = events[0]!;
  const old = before.map((_, i) => arrayOfValues(events.map((event) => event.before[i]!)));
  return after === null
    ? old
    : [...old, ...after.map((_, i) => arrayOfValues(events.map((event) => event.after![i]!)))];
}

function arrayOfValues(elements: Value[]): SqlArray {
  return { dimensions: [elements.length], lowerBounds: [1], elements };
}

/** CASCADE, SET NULL or SET DEFAULT for the rows that refer to any of the set. */
export function actionOnSet(ends: Ends, action: ForeignKeyAction, isUpdate: boolean): string {
  const { child, key } = ends;
  const rows = ownRows(child);
  const { length } = key.columns;
  if (action === "cascade" && !isUpdate) {
    return length === 1
      ? `DELETE FROM ${rows} WHERE ${columnOf(child, key.columns[0]!)} = ANY (${array(ends, 0)})`
      : `DELETE FROM ${rows} f USING ${unnested(ends, length)} WHERE ${matching(ends)}`;
  }
  if (action === "cascade") {
    const sets = key.columns.map((id, i) => `${columnOf(child, id)} = d.c${length + i}`);
    const values = unnested(ends, 2 * length);
    return `UPDATE ${rows} f SET ${sets.join(", ")} FROM ${values} WHERE ${matching(ends)}`;
  }
  const some = !isUpdate && key.onDeleteColumns.length > 0;
  const value = action === "set null" ? "NULL" : "DEFAULT";
  const sets = (some ? key.onDeleteColumns : key.columns).map((id) => `${columnOf(child, id)} = ${value}`).join(", ");
  return length === 1
    ? `UPDATE ${rows} SET ${sets} WHERE ${columnOf(child, key.columns[0]!)} = ANY (${array(ends, 0)})`
    : `UPDATE ${rows} f SET ${sets} FROM ${unnested(ends, length)} WHERE ${matching(ends)}`;
}

/** The place in the set, from 1, of the first row that must still be there; NULL: of none. */
export function firstOfSet(ends: Ends, action: ForeignKeyAction): string {
  const { target, child, key } = ends;
  const { length } = key.columns;
  const own = key.references.map((id, i) => `p.${columnOf(target, id)} = d.c${i}`).join(" AND ");
  // A row that moved to another partition may have the values.
  const isReplaced = `EXISTS (SELECT 1 FROM ${ownRows(target)} p WHERE ${own})`;
  const condition = action === "restrict" ? "" : ` AND NOT ${isReplaced}`;
  return `SELECT min(d.place) FROM ${unnested(ends, length, true)}, ${ownRows(child)} f WHERE ${matching(ends)}${condition}`;
}

/** Rows of the child, called f, that refer to a row of the set, called d. */
function matching({ child, key }: Ends): string {
  return key.columns.map((id, i) => `f.${columnOf(child, id)} = d.c${i}`).join(" AND ");
}

/** The set as rows `d (c0, c1, …)`: so many parameters, which repeat the types of the referenced columns. */
function unnested(ends: Ends, count: number, withPlace = false): string {
  const arrays = Array.from({ length: count }, (_, i) => array(ends, i));
  const names = arrays.map((_, i) => `c${i}`);
  return withPlace
    ? `unnest(${arrays.join(", ")}) WITH ORDINALITY d(${[...names, "place"].join(", ")})`
    : `unnest(${arrays.join(", ")}) d(${names.join(", ")})`;
}

function array({ target, key }: Ends, i: number): string {
  return `$${i + 1}::${displayName(typeOf(target, key.references[i % key.references.length]!))}[]`;
}

const typeOf = (table: TableDef, id: number) => table.columns.find((other) => other.id === id)!.type;

function columnOf(table: TableDef, id: number): string {
  return quotedIdentifier(table.columns.find((other) => other.id === id)!.name);
}
