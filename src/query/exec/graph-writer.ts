/**
 * The nodes and relationships that one run of a writing clause makes and changes. Changes are collected and written by
 * `flush`, as UPDATE writes them: stale keys are removed before new ones are written, so that one clause may swap
 * unique values. Owned by the operator of graph-write.ts.
 */

import { EDGE_COLUMN, type GraphTables, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { GraphConstraintDef, TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { encodeKey } from "../../storage/key-codec.js";
import { cypherError } from "../../values/cypher-error.js";
import { decodeLabels, includesLabel } from "../../values/labels.js";
import type { Value } from "../../values/values.js";
import { deletedEntity, type VariantMap } from "../../values/variant.js";
import { BULK_ROWS, BulkWriter } from "./bulk-writer.js";
import type { ExecContext } from "./context.js";
import { EdgeFinder } from "./edge-finder.js";
import { GraphChanges } from "./graph-changes.js";
import { after, inTurns } from "./operator.js";
import { failedCheck, type RowCheck } from "./row-checks.js";
import { layoutOf, type TableLayout } from "./table-layout.js";
import { emptyRow, type Move, type Row, TableWriter } from "./table-writer.js";
import { sumOfBytes } from "./value-bytes.js";

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
export type EntityChecks = Readonly<Record<"insert" | "existing" | "update" | "remove", readonly RowCheck[]>>;

export interface GraphChecks {
  readonly nodes: EntityChecks | null;
  readonly edges: EntityChecks | null;
}

const NOT_AN_ENDPOINT = 0;
/** What the map's entry, the state and its properties take, about. */
const STATE_BYTES = 400;

/** One of the two tables. */
class EntityTable {
  readonly states = new Map<number, EntityState>();
  /** States that wait for `flush`, in the order of their first change. */
  pending: EntityState[] = [];
  readonly writer: TableWriter;
  readonly layout: TableLayout;
  private readonly prefix: Buffer;
  private readonly oldRow: Row;
  private readonly newRow: Row;
  /** What NOT NULL constraints ask for. */
  private readonly required: readonly GraphConstraintDef[];

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
    this.required = (graphDefOf(table)?.constraints ?? []).filter(({ requires }) => requires !== "unique");
  }

  private get isNodes(): boolean {
    return graphDefOf(this.table)?.of === "nodes";
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
    return {
      id: row[NODE_COLUMN.id] as number,
      kind,
      src: isNodes ? NOT_AN_ENDPOINT : (row[EDGE_COLUMN.src] as number),
      dst: isNodes ? NOT_AN_ENDPOINT : (row[EDGE_COLUMN.dst] as number),
      properties,
      stored: { kind, properties },
      isDeleted: false,
      isPending: false,
      isChanged: false,
    };
  }

  add(state: EntityState): EntityState {
    this.states.set(state.id, state);
    this.context.statement.reserve(STATE_BYTES);
    return state;
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
    this.require(state);
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
    this.require(state);
    this.allow("insert", state, state);
    this.writer.insert(this.newRowOf(state));
    this.isStored(state);
  }

  load(bulk: BulkWriter, state: EntityState): void {
    this.require(state);
    this.allow("insert", state, state);
    const row = this.newRowOf(state);
    bulk.addRow(row);
    this.isStored(state);
  }

  private isStored(state: EntityState): void {
    state.stored = { kind: state.kind, properties: state.properties };
  }

  private get assigned(): ReadonlySet<number> {
    return this.isNodes ? NODE_ASSIGNED : EDGE_ASSIGNED;
  }

  /** Throws ConstraintValidationFailed for a property that a constraint wants and the entity has not. */
  private require({ id, kind, properties }: EntityState): void {
    for (const { label, properties: names, name } of this.required) {
      const isMeant = this.isNodes ? includesLabel(kind, label) : kind === label;
      const missing = isMeant ? names.find((key) => !properties.has(key)) : undefined;
      if (missing === undefined) continue;
      const what = this.isNodes ? `node ${id} with label` : `relationship ${id} with type`;
      const message = `${what} "${label}" must have the property "${missing}" (constraint "${name}")`;
      throw cypherError("ConstraintValidationFailed", "MissingProperty", message);
    }
  }
}

const NODE_ASSIGNED: ReadonlySet<number> = new Set([NODE_COLUMN.labels, NODE_COLUMN.properties]);
const EDGE_ASSIGNED: ReadonlySet<number> = new Set([EDGE_COLUMN.properties]);

export class GraphWriter {
  /** Grows whenever rows that were read before may say what is no longer so. */
  version = 0;
  readonly nodes: EntityTable;
  readonly edges: EntityTable;
  private readonly counts: GraphChanges;
  private readonly finder: EdgeFinder;
  /** Nodes that were deleted without DETACH. */
  private readonly bare: EntityState[] = [];
  /** Some of them may be pending. */
  private hasNewEdges = false;
  /** Ids of nodes that are there, and read in a way that their deletion by others is noticed. */
  private readonly present = new Set<number>();

  constructor(
    graph: GraphTables,
    private readonly context: ExecContext,
    checks: GraphChecks | null = null,
  ) {
    this.nodes = new EntityTable(graph.nodes, context, checks?.nodes ?? null);
    this.edges = new EntityTable(graph.edges, context, checks?.edges ?? null);
    this.finder = new EdgeFinder(graph.edges, context);
    const { statement } = context;
    statement.graphChanges ??= new GraphChanges();
    this.counts = statement.graphChanges;
  }

  createNode(labels: string, properties: VariantMap): EntityState {
    const state = this.create(this.nodes, labels, NOT_AN_ENDPOINT, NOT_AN_ENDPOINT, properties);
    this.present.add(state.id);
    this.counts.nodesCreated++;
    this.counts.labelsAdded += decodeLabels(labels).length;
    return state;
  }

  /** Throws EntityNotFound when one of the nodes is not there. */
  createEdge(type: string, src: number, dst: number, properties: VariantMap): EntityState {
    this.requireNode(src);
    this.requireNode(dst);
    this.counts.relationshipsCreated++;
    this.hasNewEdges = true;
    return this.create(this.edges, type, src, dst, properties);
  }

  private create(in_: EntityTable, kind: string, src: number, dst: number, properties: VariantMap): EntityState {
    const id = this.context.services.nextRowId(in_.table);
    this.counts.propertiesSet += properties.size;
    const state: EntityState = {
      id,
      kind,
      src,
      dst,
      properties,
      stored: null,
      isDeleted: false,
      isPending: false,
      isChanged: false,
    };
    in_.touch(state);
    return in_.add(state);
  }

  /**
   * Another transaction that deletes the node and this one cannot both commit: the read counts whatever the isolation.
   */
  private requireNode(id: number): void {
    const { nodes, context, present } = this;
    const known = nodes.states.get(id);
    if (known?.isDeleted) throw deletedEntity();
    if (present.has(id)) return;
    context.tx.guardReads(true);
    const record = context.tx.get(nodes.keyOf(id));
    context.tx.guardReads(false);
    if (record === undefined) throw deletedEntity();
    present.add(id);
  }

  /** The node or relationship to be changed. Throws EntityNotFound. */
  require(of: "node" | "relationship", id: number): EntityState {
    const state = (of === "node" ? this.nodes : this.edges).find(id);
    if (state === null || state.isDeleted) throw deletedEntity();
    return state;
  }

  setProperties(of: "node" | "relationship", state: EntityState, properties: VariantMap, count: number): void {
    state.properties = properties;
    this.counts.propertiesSet += count;
    this.changed(of === "node" ? this.nodes : this.edges, state);
  }

  setLabels(state: EntityState, labels: string): void {
    if (labels === state.kind) return;
    const before = decodeLabels(state.kind);
    const now = decodeLabels(labels);
    this.counts.labelsAdded += now.filter((label) => !before.includes(label)).length;
    this.counts.labelsRemoved += before.filter((label) => !now.includes(label)).length;
    state.kind = labels;
    this.changed(this.nodes, state);
  }

  private changed(in_: EntityTable, state: EntityState): void {
    state.isChanged = true;
    this.version++;
    in_.touch(state);
  }

  deleteNode(id: number, detach: boolean): void {
    const state = this.nodes.find(id);
    if (state === null) return;
    if (!state.isDeleted) {
      state.isDeleted = true;
      this.counts.nodesDeleted++;
      this.changed(this.nodes, state);
      if (!detach) this.bare.push(state);
    }
    this.present.delete(id);
    if (!detach) return;
    if (this.hasNewEdges) this.flush();
    this.finder.each(id, (edge) => {
      this.deleteState(
        this.edges.states.get(edge[EDGE_COLUMN.id] as number) ?? this.edges.add(this.edges.stateOf(edge)),
      );
    });
  }

  deleteEdge(id: number): void {
    const state = this.edges.find(id);
    if (state !== null) this.deleteState(state);
  }

  private deleteState(state: EntityState): void {
    if (state.isDeleted) return;
    state.isDeleted = true;
    this.counts.relationshipsDeleted++;
    this.changed(this.edges, state);
  }

  /** Writes what is pending; reads of the transaction see it then. */
  flush(): void {
    this.guarded(() => {
      this.writeChanges();
      for (const table of [this.nodes, this.edges]) {
        for (const state of table.pending) if (isNew(state)) table.insert(state);
        settle(table);
      }
    });
    this.hasNewEdges = false;
  }

  get isPending(): boolean {
    return this.nodes.pending.length > 0 || this.edges.pending.length > 0;
  }

  /** The clause's end: writes what is pending, many new rows as a load. Throws DeleteConnectedNode. */
  finish(): void | Promise<void> {
    this.guarded(() => this.writeChanges());
    return after(this.insertAll(this.nodes), () =>
      after(this.insertAll(this.edges), () => {
        for (const { id } of this.bare) {
          if (!this.finder.any(id)) continue;
          throw cypherError(
            "ConstraintVerificationFailed",
            "DeleteConnectedNode",
            `node ${id} cannot be deleted, because it still has relationships; delete them first, or use DETACH DELETE`,
          );
        }
        this.bare.length = 0;
      }),
    );
  }

  /**
   * Puts the answers of uncorrelated subqueries aside while a query runs that may be run again after further writes;
   * the result brings them back.
   */
  aside(): () => void {
    const { statement } = this.context;
    const kept = statement.subqueryOutcomes;
    statement.subqueryOutcomes = null;
    return () => {
      for (const outcome of statement.subqueryOutcomes?.values() ?? []) {
        if ("values" in outcome) statement.release(sumOfBytes(outcome.values, outcome.values.length));
      }
      statement.subqueryOutcomes = kept;
    };
  }

  private writeChanges(): void {
    if (!this.isPending) return;
    this.context.statement.subqueryMemo = null;
    const moves: { readonly table: EntityTable; readonly state: EntityState; readonly move: Move }[] = [];
    for (const table of [this.edges, this.nodes]) {
      this.count(table);
      for (const state of table.pending) {
        if (state.isDeleted) table.remove(state);
        else if (state.stored !== null) moves.push({ table, state, move: table.takeOut(state) });
      }
    }
    for (const { table, state, move } of moves) table.putBack(state, move);
    for (const table of [this.edges, this.nodes]) {
      for (const state of table.pending) state.isPending = isNew(state);
      table.pending = table.pending.filter(isNew);
    }
  }

  /** For the statistics of the tables. */
  private count({ table, pending }: EntityTable): void {
    const { statement } = this.context;
    statement.changedRows ??= new Map();
    statement.changedRows.set(table, (statement.changedRows.get(table) ?? 0) + pending.length);
  }

  private insertAll(table: EntityTable): void | Promise<void> {
    const { context } = this;
    const { pending } = table;
    const load = pending.length < BULK_ROWS ? null : context.tx.beginLoad();
    const work = (add: (state: EntityState) => void) =>
      inTurns(
        context,
        pending.length,
        (i) => this.guarded(() => add(pending[i]!)),
        () => undefined,
      );
    if (load === null)
      return after(
        work((state) => table.insert(state)),
        () => settle(table),
      );
    const bulk = new BulkWriter(table.table, context, load, () => null);
    return after(
      work((state) => table.load(bulk, state)),
      () => {
        const finished = this.guarded(() => bulk.finish());
        if (finished === undefined) return settle(table);
        return finished.then(
          () => settle(table),
          (error) => {
            throw inCypher(error);
          },
        );
      },
    );
  }

  /** Releases the memory of the known entities. */
  release(): void {
    this.context.statement.release((this.nodes.states.size + this.edges.states.size) * STATE_BYTES);
  }

  private guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw inCypher(error);
    }
  }
}

function isNew(state: EntityState): boolean {
  return state.stored === null && !state.isDeleted;
}

function settle(table: EntityTable): void {
  for (const state of table.pending) state.isPending = false;
  table.pending = [];
}

/** A value that a unique index has already, as Cypher's error. */
function inCypher(error: unknown): unknown {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "23505") return error;
  const { constraint, detail } = error.details;
  const message = `constraint "${constraint}" allows each value once: ${detail}`;
  return cypherError("ConstraintValidationFailed", "DuplicateValue", message);
}
