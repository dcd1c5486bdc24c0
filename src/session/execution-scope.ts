/**
 * What the statements of one session run in: their execution context, the statements of constraints and definitions
 * inside them, and the checks of what the session may do. One per session; its StatementRunner owns it.
 */
import type { GraphTables } from "../catalog/graph.js";
import { isTemporarySchema } from "../catalog/schema.js";
import { sqlError } from "../protocol/errors.js";
import type { CallerBounds } from "../protocol/identity.js";
import type { BindTable, ExecContext } from "../query/exec/context.js";
import { createContext } from "../query/exec/create-context.js";
import type { ListedRows } from "../query/expr/listed-places.js";
import { modifyingNodes } from "../query/plan/walk.js";
import { bindTable } from "../sql/bind/bind-table.js";
import type { BoundQuery } from "../sql/bind/bound-statement.js";
import { parseSql } from "../sql/parse/parse.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import { checkCalls } from "./check-calls.js";
import { graphFinder } from "./ensure-graph.js";
import { InternalStatements } from "./internal-statements.js";
import { refusedToReader, writerIn } from "./reader.js";
import type { SessionCursors } from "./session-cursors.js";
import type { SessionNames } from "./session-names.js";
import { SessionServices } from "./session-services.js";
import type { PlanNode } from "./session-statements.js";
import { planNode, type StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";
import type { Tenant } from "./tenant.js";
import { nowMicros, type TransactionBlock } from "./transaction-block.js";
import { TransactionConstraints } from "./transaction-constraints.js";

/** Who a session's statements run for. */
export interface Identity extends CallerBounds {
  readonly user: string;
  /** The user administers the tenant, and so is a superuser of it. */
  readonly administrator?: boolean;
  readonly tenantName: string;
  /** What the client calls the tenant, or its branch; absent: as the tenant. */
  readonly database?: string;
  /** The credential may not write. */
  readonly readOnly: boolean;
  /** May change what models the installation has. */
  readonly managesModels?: boolean;
  /** It runs statements of its user, and begins with the settings of the user's role (ALTER ROLE … SET). */
  readonly begins?: true;
}

/** What the engine itself asks for is refused to nobody: constraints hold over rows that a client does not see. */
function withoutRights({ rights: _, ...names }: ReturnType<SessionNames["environment"]>) {
  return names;
}

export class ExecutionScope {
  private internal: InternalStatements | null = null;
  private readonly bindTable: BindTable;

  constructor(
    readonly tenant: Tenant,
    readonly identity: Identity,
    readonly names: SessionNames,
    readonly block: TransactionBlock,
    readonly cursors: SessionCursors,
  ) {
    this.bindTable = (table, tx) => {
      const catalog = tenant.catalog.view(tx);
      return bindTable(table, catalog, names.searchPath(catalog));
    };
  }

  contextFor(
    tx: ShardTransaction,
    request: Client,
    params: readonly Value[],
    graph: GraphTables | null = null,
    listed?: ListedRows,
  ): ExecContext {
    // No spread here: it makes this object, one for each statement, several times as slow to build.
    const { user, sessionUser } = this.names.users(tx);
    return createContext({
      tx,
      tenantNumber: this.tenant.number,
      tenant: this.identity.database ?? this.identity.tenantName,
      user,
      sessionUser,
      hidesRows: this.names.hidesRows(tx),
      isReplica: this.names.settings.isReplica,
      params,
      rowNumbers: this.tenant.partition.rowNumbers,
      segments: this.tenant.partition.readsPast
        ? (this.tenant.partition.pastSegments ?? null)
        : this.tenant.partition.segments,
      derived: this.tenant.partition.readsPast ? null : this.tenant.partition.derived,
      spill: this.tenant.partition.spill,
      transactionMicros: this.block.startedMicros,
      statementMicros: this.block.isOpen ? nowMicros() : this.block.startedMicros,
      timeZone: this.names.settings.timeZone,
      style: this.names.settings.style,
      listed,
      memoryBytesMax: this.tenant.partition.config.query.memoryBytesMax,
      checkpoint: request.checkpoint,
      shouldYield: request.shouldYield,
      yieldTurn: request.yieldTurn,
      signal: request.signal,
      services: new SessionServices(
        this.names,
        this.cursors,
        tx,
        this.identity.tenantName,
        graph,
        request.progress ?? null,
        request,
        this.identity.managesModels === true && !this.identity.readOnly,
        !this.block.isOpen,
      ),
      bindTable: this.bindTable,
    });
  }

  /** For a plan that is not run now: throws the errors that do not depend on rows. */
  check({ checks, graph }: StatementPlan, tx: ShardTransaction, client: Client): Promise<void> | void {
    if (checks.length > 0) return checkCalls(checks, [], this.contextFor(tx, client, [], graph));
  }

  nodePlanner(tx: ShardTransaction): PlanNode {
    const names = this.names.environment(this.tenant.catalog.view(tx));
    const statistics = this.tenant.statistics.source(tx);
    return (node, declaredTypes) =>
      planNode(
        node,
        [],
        { ...names, declaredTypes },
        statistics,
        graphFinder(this.tenant, tx, this.identity.tenantName),
      );
  }

  /** `isInner`: of a statement in a function, after which its transaction goes on. */
  checkConstraints(
    events: NonNullable<ExecContext["statement"]["constraintEvents"]>,
    context: ExecContext,
    isInner = false,
  ): void | Promise<void> {
    return this.constraints().endStatement(events, context, !isInner && !this.block.isOpen);
  }

  constraints(): TransactionConstraints {
    this.block.constraints ??= new TransactionConstraints(this.internalStatements());
    return this.block.constraints;
  }

  internalStatements(): InternalStatements {
    this.internal ??= new InternalStatements(this.tenant, (sql, { tx }) =>
      planNode(
        parseSql(sql)[0]!.node,
        [],
        { ...withoutRights(this.names.environment(this.tenant.catalog.view(tx))), stored: true },
        this.tenant.statistics.source(tx),
        graphFinder(this.tenant, tx, this.identity.tenantName),
      ),
    );
    return this.internal;
  }

  /** Throws 25006, or 42501 for a credential that may not write. */
  requireWritable(command: string): void {
    const { readsPast } = this.tenant.partition;
    if (readsPast !== undefined) throw sqlError("25006", `cannot execute ${command.toUpperCase()} ${readsPast}`);
    if (this.identity.readOnly) throw refusedToReader(command.toUpperCase());
    if (!this.block.modes.readOnly) return;
    throw sqlError("25006", `cannot execute ${command.toUpperCase()} in a read-only transaction`);
  }

  /** A transaction that only reads may still change temporary tables. */
  requireRunnable({ readOnly, callsRoutines, command, plan, locksRows }: BoundQuery): void {
    if (!readOnly && this.tenant.partition.readsPast) this.requireWritable(command);
    // Others would wait for it.
    if (locksRows === true) this.requireWritable("select for update");
    // Of functions that may write, each statement that does is refused.
    if (readOnly || callsRoutines || !(this.identity.readOnly || this.block.modes.readOnly)) return;
    if (this.tenant.partition.readsPast) this.requireWritable(command);
    if (this.identity.readOnly) throw refusedToReader(writerIn(command, plan));
    const changed = modifyingNodes(plan).find(
      (node) => node.kind === "graphwrite" || !isTemporarySchema(node.table.schema),
    );
    if (changed !== undefined) this.requireWritable(changed.kind === "graphwrite" ? "writing clauses" : changed.kind);
  }
}
