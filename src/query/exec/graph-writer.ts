/**
 * The nodes and relationships that one run of a writing clause makes and changes. Changes are collected and written by
 * `flush`, as UPDATE writes them: stale keys are removed before new ones are written, so that one clause may swap
 * unique values. Owned by the operator of graph-write.ts.
 */

import { EDGE_COLUMN, type GraphTables } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { inSteps } from "../../storage/in-steps.js";
import { cypherError } from "../../values/cypher-error.js";
import { decodeLabels } from "../../values/labels.js";
import { deletedEntity, type VariantMap } from "../../values/variant.js";
import { BULK_ROWS, BulkWriter } from "./bulk-writer.js";
import type { Move } from "./changed-entries.js";
import type { ExecContext } from "./context.js";
import { EdgeFinder } from "./edge-finder.js";
import type { EdgeSource, EdgeSourceProgram } from "./edge-source.js";
import {
  type EntityChecks,
  type EntityState,
  EntityTable,
  NOT_AN_ENDPOINT,
  newEntity,
  STATE_BYTES,
} from "./entity-table.js";
import { GraphChanges } from "./graph-changes.js";
import { MergeTable, type MergeTableProgram } from "./merge-table.js";
import { after, inTurns } from "./operator.js";
import { PendingEntities, type Sought } from "./pending-entities.js";
import { ReadStep } from "./read-step.js";
import { sumOfBytes } from "./value-bytes.js";

/** What each row of a clause makes that does nothing else. */
export interface MadeOfRow {
  readonly nodes: number;
  readonly edges: number;
  /** The row changes what it makes. */
  readonly changes: boolean;
}

export interface GraphChecks {
  readonly nodes: EntityChecks | null;
  readonly edges: EntityChecks | null;
}

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
  /** Those that are to be read so before anything is written. */
  private unread: number[] = [];
  private readonly readStep = new ReadStep();
  private readonly unwritten = new PendingEntities();
  private readonly mergeTables = new Map<MergeTableProgram, MergeTable>();
  /** For searches: they see what the transaction has now. */
  readonly edgeSources = new Map<EdgeSourceProgram, EdgeSource>();
  /** What a search finds may then depend on anything. */
  private readonly isUnderPolicies: boolean;
  /** Where what is made goes at once, by the table; none: it waits for `flush`. */
  private readonly loads = new Map<EntityTable, BulkWriter>();
  /** Made for the row, and to be loaded when its steps have run; null: nothing changes what is made. */
  private ofRow: { readonly table: EntityTable; readonly state: EntityState }[] | null = null;
  /** Ids of nodes that the row has made, where they go into a load: relationships ask for them. */
  private readonly nodesOfRow = new Set<number>();
  /** Labels that were counted last. */
  private counted = { labels: "", count: 0 };

  constructor(
    graph: GraphTables,
    private readonly context: ExecContext,
    checks: GraphChecks | null = null,
  ) {
    this.isUnderPolicies = checks !== null;
    this.nodes = new EntityTable(graph.nodes, context, checks?.nodes ?? null);
    this.edges = new EntityTable(graph.edges, context, checks?.edges ?? null);
    this.finder = new EdgeFinder(graph.edges, context);
    const { statement } = context;
    statement.graphChanges ??= new GraphChanges();
    this.counts = statement.graphChanges;
  }

  /** Of one MERGE; the same in all rows. */
  mergeTable(program: MergeTableProgram): MergeTable {
    let table = this.mergeTables.get(program);
    if (table === undefined) {
      table = new MergeTable(program, this.nodes, this.context);
      this.mergeTables.set(program, table);
    }
    return table;
  }

  private noteInTables({ id, properties }: EntityState): void {
    for (const table of this.mergeTables.values()) table.add(id, properties);
  }

  createNode(labels: string, properties: VariantMap): EntityState {
    const state = this.create(this.nodes, labels, NOT_AN_ENDPOINT, NOT_AN_ENDPOINT, properties);
    this.counts.nodesCreated++;
    this.counts.labelsAdded += this.countOf(labels);
    if (this.loads.size > 0) {
      if (this.loads.has(this.edges)) this.nodesOfRow.add(state.id);
      return state;
    }
    this.present.add(state.id);
    this.noteInTables(state);
    this.unwritten.addNode(properties);
    return state;
  }

  private countOf(labels: string): number {
    if (labels !== this.counted.labels) this.counted = { labels, count: decodeLabels(labels).length };
    return this.counted.count;
  }

  /**
   * Throws EntityNotFound when one of the nodes is not there.
   * @param found which of them the statement has read.
   */
  createEdge(
    type: string,
    src: number,
    dst: number,
    properties: VariantMap,
    found: { readonly src: boolean; readonly dst: boolean },
  ): EntityState {
    this.requireNode(src, found.src);
    this.requireNode(dst, found.dst);
    this.counts.relationshipsCreated++;
    if (this.loads.size === 0) {
      this.hasNewEdges = true;
      this.unwritten.addEdge(src, dst);
    }
    return this.create(this.edges, type, src, dst, properties);
  }

  private create(in_: EntityTable, kind: string, src: number, dst: number, properties: VariantMap): EntityState {
    const id = this.context.services.nextRowId(in_.table);
    this.counts.propertiesSet += properties.size;
    const state = newEntity({ id, kind, src, dst, properties });
    const bulk = this.loads.get(in_);
    if (bulk === undefined) in_.touch(state);
    else if (this.ofRow === null) {
      in_.load(bulk, state);
      return state;
    } else this.ofRow.push({ table: in_, state });
    return in_.add(state);
  }

  /**
   * The clause only makes nodes and relationships, and many of them, and nothing of it asks for those of other rows
   * before `finish`: they need not wait in memory. Called before the first of them. False: the transaction takes no
   * loads.
   */
  loadNew({ nodes, edges, changes }: MadeOfRow): boolean {
    const { context, loads } = this;
    for (const [table, count] of [[this.nodes, nodes] as const, [this.edges, edges] as const]) {
      if (count === 0) continue;
      const load = context.tx.beginLoad();
      if (load === null) {
        loads.clear();
        return false;
      }
      loads.set(table, new BulkWriter(table.table, context, load, () => null));
    }
    this.ofRow = changes ? [] : null;
    return true;
  }

  /** The steps have run for a row of the clause. Throws as `finish` does. */
  endRow(): void | Promise<void> {
    if (this.nodesOfRow.size > 0) this.nodesOfRow.clear();
    if (this.ofRow !== null && this.ofRow.length > 0) {
      for (const { table, state } of this.ofRow) {
        table.load(this.loads.get(table)!, state);
        table.forget(state);
      }
      this.ofRow.length = 0;
    }
    for (const bulk of this.loads.values()) {
      const due = this.guarded(() => bulk.storeIfFull());
      if (due !== undefined) return inCypherLater(due);
    }
  }

  private requireNode(id: number, isFound: boolean): void {
    const { nodes, present } = this;
    if (nodes.states.get(id)?.isDeleted) throw deletedEntity();
    if (present.has(id) || this.nodesOfRow.has(id)) return;
    present.add(id);
    if (isFound) {
      const { tx } = this.context;
      if (!tx.expectFound(() => tx.noteFound(nodes.keyOf(id)))) throw deletedEntity();
      return;
    }
    this.unread.push(id);
    if (this.unread.length >= this.readStep.rows) this.readNodes();
  }

  /**
   * Another transaction that deletes one of the nodes and this one cannot both commit, whatever the isolation. Many
   * keys are read in a third of the time of single ones. Throws EntityNotFound.
   */
  private readNodes(): void {
    const { nodes, context, unread } = this;
    if (unread.length === 0) return;
    this.unread = [];
    const records = context.tx.expectFound(() => context.tx.getMany(unread.map((id) => nodes.keyOf(id))));
    if (records.includes(undefined)) throw deletedEntity();
    this.readStep.note(
      records.length,
      records.reduce((sum, record) => sum + record!.length, 0),
    );
  }

  /** The node or relationship to be changed. Throws EntityNotFound. */
  require(of: "node" | "relationship", id: number): EntityState {
    const state = (of === "node" ? this.nodes : this.edges).find(id);
    if (state === null || state.isDeleted) throw deletedEntity();
    return state;
  }

  setProperties(of: "node" | "relationship", state: EntityState, properties: VariantMap, count: number): void {
    if (of === "node") this.unwritten.setNode(state, properties);
    else this.unwritten.setEdge();
    state.properties = properties;
    if (of === "node") this.noteInTables(state);
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
    this.noteInTables(state);
    this.unwritten.setLabels(state);
    this.changed(this.nodes, state);
  }

  private changed(in_: EntityTable, state: EntityState): void {
    state.isChanged = true;
    this.version++;
    if (this.loads.size === 0) in_.touch(state);
  }

  /** Throws 42501 for a hidden relationship. */
  deleteNode(id: number, detach: boolean): void {
    const state = this.nodes.find(id);
    if (state === null) return;
    if (!state.isDeleted) {
      state.isDeleted = true;
      this.unwritten.remove();
      this.counts.nodesDeleted++;
      this.changed(this.nodes, state);
      if (!detach) this.bare.push(state);
    }
    this.present.delete(id);
    if (!detach) return;
    if (this.hasNewEdges) this.flush();
    this.finder.each(id, (edge) => {
      // A relationship is seen only together with both of its ends.
      const [src, dst] = [edge[EDGE_COLUMN.src], edge[EDGE_COLUMN.dst]] as number[];
      this.nodes.requireVisible(src === id ? dst! : src!);
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
    this.unwritten.remove();
    this.counts.relationshipsDeleted++;
    this.changed(this.edges, state);
  }

  /** Before a search for that: writes what is pending, if the search may be about it. Null: it may. */
  flushFor(sought: Sought | null): void {
    if (sought === null || this.isUnderPolicies || this.unwritten.mayBe(sought)) this.flush();
  }

  /** Writes what is pending; reads of the transaction see it then. */
  flush(): void {
    this.readNodes();
    this.beginWriting();
    for (const _step of this.writeChanges());
    this.guarded(() => {
      for (const table of [this.nodes, this.edges]) {
        for (const state of table.pending) if (isNew(state)) table.insert(state);
        settle(table);
      }
    });
    this.hasNewEdges = false;
  }

  private beginWriting(): void {
    this.unwritten.clear();
    this.edgeSources.clear();
  }

  get isPending(): boolean {
    return this.nodes.pending.length > 0 || this.edges.pending.length > 0;
  }

  /** The clause's end: writes what is pending, many new rows as a load. Throws DeleteConnectedNode. */
  finish(): void | Promise<void> {
    this.readNodes();
    if (this.loads.size > 0) return this.finishLoads();
    this.beginWriting();
    return after(inSteps(this.context, this.writeChanges()), () =>
      after(this.insertAll(this.nodes), () =>
        after(this.insertAll(this.edges), () => inSteps(this.context, this.requireBare())),
      ),
    );
  }

  private finishLoads(): void | Promise<void> {
    const { loads, context } = this;
    context.statement.forgetRead();
    this.edgeSources.clear();
    for (const [{ table }, bulk] of loads) this.noteChanged(table, bulk.count);
    const [first, second] = [...loads.values()];
    loads.clear();
    return after(this.finishLoad(first!), () => second && this.finishLoad(second));
  }

  private finishLoad(bulk: BulkWriter): void | Promise<void> {
    const finished = this.guarded(() => bulk.finish());
    return finished === undefined ? undefined : inCypherLater(finished);
  }

  private *requireBare(): Generator<undefined, void> {
    for (const { id } of this.bare) {
      if (this.finder.any(id)) {
        throw cypherError(
          "ConstraintVerificationFailed",
          "DeleteConnectedNode",
          `node ${id} cannot be deleted, because it still has relationships; delete them first, or use DETACH DELETE`,
        );
      }
      yield;
    }
    this.bare.length = 0;
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

  private *writeChanges(): Generator<undefined, void> {
    if (!this.isPending) return;
    this.context.statement.forgetRead();
    const moves: { readonly table: EntityTable; readonly state: EntityState; readonly move: Move }[] = [];
    for (const table of [this.edges, this.nodes]) {
      this.noteChanged(table.table, table.pending.length);
      for (const state of table.pending) {
        this.guarded(() => {
          if (state.isDeleted) table.remove(state);
          else if (state.stored !== null) moves.push({ table, state, move: table.takeOut(state) });
        });
        yield;
      }
    }
    for (const { table, state, move } of moves) {
      this.guarded(() => table.putBack(state, move));
      yield;
    }
    for (const table of [this.edges, this.nodes]) {
      for (const state of table.pending) state.isPending = isNew(state);
      table.pending = table.pending.filter(isNew);
    }
  }

  /** For the statistics of the tables. */
  private noteChanged(table: TableDef, count: number): void {
    const { statement } = this.context;
    statement.changedRows ??= new Map();
    statement.changedRows.set(table, (statement.changedRows.get(table) ?? 0) + count);
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
      work((state) => table.loadKnown(bulk, state)),
      () => after(this.finishLoad(bulk), () => settle(table)),
    );
  }

  /** Releases the memory of the known entities. */
  release(): void {
    for (const table of this.mergeTables.values()) table.release();
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

async function inCypherLater(pending: Promise<void>): Promise<void> {
  try {
    await pending;
  } catch (error) {
    throw inCypher(error);
  }
}

/** A value that a unique index has already, as Cypher's error. */
export function inCypher(error: unknown): unknown {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "23505") return error;
  const { constraint, detail } = error.details;
  // Under a policy the value is kept secret.
  const which = detail === undefined ? "" : `: ${detail}`;
  const message = `constraint "${constraint}" allows each value once${which}`;
  return cypherError("ConstraintValidationFailed", "DuplicateValue", message);
}
