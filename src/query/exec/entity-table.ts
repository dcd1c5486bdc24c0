/**
 * One of a graph's two tables, as one run of a writing clause knows its rows: what it has read, makes and changes.
 * Made and owned by the GraphWriter.
 */

import { EDGE_COLUMN, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { encodeKey } from "../../storage/key-codec.js";
import type { Value } from "../../values/values.js";
import type { VariantMap } from "../../values/variant.js";
import type { BulkWriter } from "./bulk-writer.js";
import type { Move } from "./changed-entries.js";
import type { ExecContext } from "./context.js";
import { GraphRequirements } from "./graph-requirements.js";
import { failedCheck, type RowCheck } from "./row-checks.js";
import { layoutOf, type TableLayout } from "./table-layout.js";
import { emptyRow, type Row, TableWriter } from "./table-writer.js";

/** A node or a relationship that the clause has to do with. */
export interface EntityState {
  readonly id: number;
  /** Labels as LABEL_MARK says, or the type. */
  kind: string;
  /** Of relationships. */
  readonly src: number;
  readonly dst: number;
  properties: VariantMap;
  /** As the transaction has it stored; null: not yet. */
  stored: { readonly kind: string; readonly properties: VariantMap } | null;
  isDeleted: boolean;
  /** Waits for `flush`. */
  isPending: boolean;
  /** Differs, or has differed, from what rows that were read before say. */
  isChanged: boolean;
}

/** What policies ask (EntityPolicies), compiled. */
export type EntityChecks = Readonly<
  Record<"visible" | "insert" | "existing" | "update" | "remove", readonly RowCheck[]>
>;

export const NOT_AN_ENDPOINT = 0;
/** What the map's entry, the state and its properties take, about. */
export const STATE_BYTES = 400;

/** One that is not stored yet. */
export function newEntity({
  id,
  kind,
  src,
  dst,
  properties,
}: Pick<EntityState, "id" | "kind" | "src" | "dst" | "properties">): EntityState {
  return { id, kind, src, dst, properties, stored: null, isDeleted: false, isPending: false, isChanged: false };
}

/** One of the two tables. */
export class EntityTable {
  readonly states = new Map<number, EntityState>();
  /** States that wait for `flush`, in the order of their first change. */
  pending: EntityState[] = [];
  readonly writer: TableWriter;
  readonly layout: TableLayout;
  private readonly prefix: Buffer;
  private readonly oldRow: Row;
  private readonly newRow: Row;
  private readonly requirements: GraphRequirements;
  private readonly isNodes: boolean;

  constructor(
    readonly table: TableDef,
    readonly context: ExecContext,
    private readonly policies: EntityChecks | null,
  ) {
    this.writer = new TableWriter(table, context);
    this.layout = layoutOf(table);
    this.prefix = this.layout.rowPrefixOf(context.tenantNumber);
    this.oldRow = emptyRow(table);
    this.newRow = emptyRow(table);
    this.requirements = new GraphRequirements(table);
    this.isNodes = graphDefOf(table)?.of === "nodes";
  }

  keyOf(id: number): Buffer {
    return encodeKey(this.prefix, this.layout.primaryKey!.columns, [id]);
  }

  /** The state of the entity with that id, stored or made or deleted by this clause; null: there is none. */
  find(id: number): EntityState | null {
    const known = this.states.get(id);
    if (known !== undefined) return known;
    const row = this.writer.find(this.keyOf(id));
    return row === null ? null : this.add(this.stateOf(row));
  }

  /** The state of a row that was read. */
  stateOf(row: Row): EntityState {
    const { isNodes } = this;
    const kind = row[isNodes ? NODE_COLUMN.labels : EDGE_COLUMN.type] as string;
    const properties = row[isNodes ? NODE_COLUMN.properties : EDGE_COLUMN.properties] as VariantMap;
    const state = newEntity({
      id: row[NODE_COLUMN.id] as number,
      kind,
      src: isNodes ? NOT_AN_ENDPOINT : (row[EDGE_COLUMN.src] as number),
      dst: isNodes ? NOT_AN_ENDPOINT : (row[EDGE_COLUMN.dst] as number),
      properties,
    });
    state.stored = { kind, properties };
    return state;
  }

  add(state: EntityState): EntityState {
    this.states.set(state.id, state);
    this.context.statement.reserve(STATE_BYTES);
    return state;
  }

  /** Nobody asks for it any more. */
  forget({ id }: EntityState): void {
    if (this.states.delete(id)) this.context.statement.release(STATE_BYTES);
  }

  touch(state: EntityState): void {
    if (state.isPending) return;
    state.isPending = true;
    this.pending.push(state);
  }

  private fill(row: Row, state: EntityState, { kind, properties }: { kind: string; properties: VariantMap }): Row {
    row[NODE_COLUMN.id] = state.id;
    if (this.isNodes) {
      row[NODE_COLUMN.labels] = kind;
      row[NODE_COLUMN.properties] = properties as Value;
    } else {
      row[EDGE_COLUMN.type] = kind;
      row[EDGE_COLUMN.src] = state.src;
      row[EDGE_COLUMN.dst] = state.dst;
      row[EDGE_COLUMN.properties] = properties as Value;
    }
    return row;
  }

  /** With what is generated of it for indexes of vectors and texts. */
  private newRowOf(state: EntityState): Row {
    const row = this.fill(this.newRow, state, state);
    this.writer.generate(row);
    return row;
  }

  /** Throws 42501 where the entity is there, and a policy hides it. */
  requireVisible(id: number): void {
    if (this.policies === null) return;
    const state = this.find(id);
    if (state !== null && state.stored !== null) this.allow("visible", state, state.stored);
  }

  /** Throws 42501 where a policy keeps the row as it would be, or as it is, from the statement's role. */
  private allow(checks: keyof EntityChecks, state: EntityState, as: { kind: string; properties: VariantMap }): void {
    if (this.policies === null) return;
    const { kind, properties } = as;
    const row: readonly Value[] = this.isNodes
      ? [state.id, kind, properties as Value]
      : [state.id, kind, state.src, state.dst, properties as Value];
    const batch = { columns: row.map((value) => [value]), length: 1 };
    const failed = failedCheck(this.policies[checks], batch, 0, this.context);
    if (failed !== null) throw this.writer.checkViolation([], failed);
  }

  remove(state: EntityState): void {
    if (state.stored !== null) {
      this.allow("remove", state, state.stored);
      this.writer.remove(this.keyOf(state.id), this.fill(this.oldRow, state, state.stored));
    }
    state.stored = null;
  }

  takeOut(state: EntityState): Move {
    this.requirements.check(state);
    this.allow("existing", state, state.stored!);
    this.allow("update", state, state);
    const key = this.keyOf(state.id);
    const before = this.fill(this.oldRow, state, state.stored!);
    return this.writer.takeOut(key, before, this.newRowOf(state), this.assigned);
  }

  putBack(state: EntityState, move: Move): void {
    this.writer.putBack(move, this.newRowOf(state), this.assigned);
    this.isStored(state);
  }

  insert(state: EntityState): void {
    this.requirements.check(state);
    this.allow("insert", state, state);
    this.writer.insert(this.newRowOf(state));
    this.isStored(state);
  }

  /** Of a new one that nobody asks for afterwards. */
  load(bulk: BulkWriter, state: EntityState): void {
    this.requirements.check(state);
    this.allow("insert", state, state);
    bulk.addRow(this.newRowOf(state));
  }

  /** The same of one that is known. */
  loadKnown(bulk: BulkWriter, state: EntityState): void {
    this.load(bulk, state);
    this.isStored(state);
  }

  private isStored(state: EntityState): void {
    state.stored = { kind: state.kind, properties: state.properties };
  }

  private get assigned(): ReadonlySet<number> {
    return this.isNodes ? NODE_ASSIGNED : EDGE_ASSIGNED;
  }
}

const NODE_ASSIGNED: ReadonlySet<number> = new Set([NODE_COLUMN.labels, NODE_COLUMN.properties]);
const EDGE_ASSIGNED: ReadonlySet<number> = new Set([EDGE_COLUMN.properties]);
