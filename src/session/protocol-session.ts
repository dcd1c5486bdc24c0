/**
 * What servers of protocols need of a session beside running statements: plans of statements that run later, columns
 * before there are rows, cursors that are fetched from by messages. Made by the session when one asks for it.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { GraphTables } from "../catalog/graph.js";
import { permissionDenied } from "../catalog/rights.js";
import type { ColumnDef, TableDef } from "../catalog/table.js";
import type { ViewDef } from "../catalog/view.js";
import { sqlError } from "../protocol/errors.js";
import type { Notice } from "../protocol/notice.js";
import type { ExecContext } from "../query/exec/context.js";
import { checksOf } from "../query/exec/graph-write.js";
import type { GraphChecks } from "../query/exec/graph-writer.js";
import type { OutputColumn } from "../query/plan/plan.js";
import { modifyingNodes } from "../query/plan/walk.js";
import type { BoundQuery } from "../sql/bind/bound-statement.js";
import { requireSchema } from "../sql/bind/relation-rights.js";
import { parseSql } from "../sql/parse/parse.js";
import type { KeyHolder } from "../storage/key-locks.js";
import type { Transaction } from "../storage/store.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { TakeRows } from "./cursor.js";
import { declaredType } from "./result-columns.js";
import { takingWithin } from "./row-budget.js";
import { parametersOf } from "./run-program.js";
import type { SessionCursors } from "./session-cursors.js";
import type { SessionNames } from "./session-names.js";
import type { PreparedFacts } from "./session-statements.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementPlanner } from "./statement-planner.js";
import type { Client, StatementRun, StatementText } from "./statement-run.js";
import type { StatementRunner } from "./statement-runner.js";
import type { Tenant } from "./tenant.js";
import type { TransactionBlock } from "./transaction-block.js";

type PlannedText = Pick<StatementText, "sql" | "long">;

export class ProtocolSession {
  constructor(
    private readonly tenant: Tenant,
    private readonly names: SessionNames,
    private readonly block: TransactionBlock,
    private readonly cursors: SessionCursors,
    private readonly runner: StatementRunner,
    private readonly planner: StatementPlanner,
  ) {}

  /**
   * The plan of a statement that is run later, perhaps more than once: by then its parameters have the plan's types,
   * and it is found under them. `oids`: of types that the client declares for parameters, 0 where the statement
   * decides. Throws the errors of planning, and 25P02 in a failed transaction.
   */
  planAhead(text: PlannedText, oids: readonly number[]): StatementPlan {
    const { block, tenant } = this;
    const { sql } = text;
    tenant.refuseStopped(sql);
    if (block.isOpen) {
      if (block.failure !== null) requireEnding(sql, block);
      const tx = block.forStatement();
      return this.planned(text, oids, tenant.catalog.view(tx), tx);
    }
    const tx = block.start(true);
    try {
      return this.planned(text, oids, tenant.catalog.view(tx), tx);
    } finally {
      tenant.rollback(tx);
    }
  }

  /** What a client's first message sets. Throws as SET does. */
  setAtStart(name: string, value: string): void {
    const { block, names, tenant } = this;
    const tx = block.start(true);
    try {
      names.checkSetting(name, value, () => tenant.catalog.view(tx));
    } finally {
      tenant.rollback(tx);
    }
    names.settings.startWith(name, value);
  }

  /**
   * As `planAhead`, of a statement in a language and about a graph, with its parameters. It is refused as one that
   * runs.
   */
  planText(text: StatementText): StatementPlan {
    const { block, tenant, planner } = this;
    tenant.refuseStopped(text.sql);
    block.requireHealthy();
    const tx = block.forStatement();
    return planner.planFor(text, tenant.catalog.view(tx), tx);
  }

  private planned(sent: PlannedText, oids: readonly number[], catalog: CatalogView, tx: Transaction): StatementPlan {
    const declared = oids.map((oid) => (oid === 0 ? null : declaredType(oid, catalog)));
    const text = { ...sent, params: [], declared };
    const plan = this.planner.planFor(text, catalog, tx);
    const { parameterTypes } = plan;
    if (parameterTypes.length > 0 && plan.program !== null && typeof catalog.version === "number") {
      this.tenant.plans.add(this.names.planKey({ ...text, declared: parameterTypes }), plan);
    }
    return plan;
  }

  /** The open one; null: there is none. */
  get transaction(): ShardTransaction | null {
    return this.block.isOpen ? this.block.open() : null;
  }

  /** Takes back what was done, where the open transaction is rolled back to a savepoint. */
  undoes(undo: () => void): void {
    if (this.block.isOpen) this.block.open().undoes(undo);
  }

  /** Of the statement that has just failed: what it had to say before. */
  takeNotices(): readonly Notice[] {
    return this.runner.takeNotices();
  }

  /** Whether a transaction of this session holds those keys. */
  owns(holder: KeyHolder): boolean {
    return holder.owner === this.block;
  }

  /** DEALLOCATE and DISCARD ALL take statements away from these too. */
  shareStatements(statements: Map<string, PreparedFacts>): void {
    this.runner.statements.ofProtocol = statements;
  }

  /** The columns of the rows that the statement will have; null: it has none. */
  columnsOf(plan: StatementPlan): readonly OutputColumn[] | null {
    return this.runner.columnsOf(plan);
  }

  /** A cursor over the plan's query, in the open transaction, for a client that fetches by its protocol. */
  openCursor(name: string, plan: StatementPlan, run: StatementRun): void {
    this.declare(name, plan, run, this.forCursor());
  }

  /**
   * As `openCursor`, of a statement that was planned before: its plan is that of the role, the search path and the
   * definitions of now. `accept` may refuse it by an error. Answers with the plan.
   */
  openCursorAnew(name: string, run: StatementRun, accept: (plan: StatementPlan) => void): StatementPlan {
    this.tenant.refuseStopped(run.sql);
    const tx = this.forCursor();
    const plan = this.planner.planFor(run, this.tenant.catalog.view(tx), tx);
    accept(plan);
    this.declare(name, plan, run, tx);
    return plan;
  }

  private forCursor(): ShardTransaction {
    this.block.requireHealthy();
    const tx = this.block.forStatement();
    if (this.block.modes.isolation.startsWith("read ")) tx.refresh();
    this.block.modes.query();
    return tx;
  }

  private declare(name: string, plan: StatementPlan, run: StatementRun, tx: ShardTransaction): void {
    const statement = plan.bound as BoundQuery;
    const { scope } = this.runner;
    scope.requireRunnable(statement);
    const context = scope.contextFor(tx, this.cursors.fetcher, parametersOf(plan, run), plan.graph);
    const bound = { kind: "declare cursor", name, hold: false, binary: false, scroll: false, statement } as const;
    void this.cursors.on(run.request, () =>
      this.cursors.declare(bound, plan, run.sql, context, this.block.savepointNames.length),
    );
  }

  /** The next rows of a cursor; answers how many there were. What fails leaves the transaction failed. */
  async fetchCursor(name: string, count: number, take: TakeRows, client: Client): Promise<number> {
    this.block.requireHealthy();
    try {
      const fetch = { kind: "fetch", name, direction: "forward", count, isMove: false } as const;
      const taking = takingWithin(client, take);
      return await this.cursors.on(client, () => this.cursors.find(name).fetch(fetch, taking));
    } catch (error) {
      this.block.failure ??= (error as Error).message;
      throw error;
    }
  }

  /** Whatever the client got an error for, the open transaction can only be rolled back. */
  fail(error: Error): void {
    if (this.block.isOpen) this.block.fail(error);
  }

  /** A statement that changes nothing is run again in another way: its failure is none of the transaction. */
  forgiveFailure(): void {
    this.block.failure = null;
  }

  /** Of a cursor that a statement declared; null: there is none of that name. */
  columnsOfCursor(name: string): readonly OutputColumn[] | null {
    return this.cursors.has(name) ? this.cursors.find(name).plan.shape!.outputs : null;
  }

  /** A cursor that is gone already is fine. */
  closeCursor(name: string): void {
    if (this.cursors.has(name)) this.cursors.close(name);
  }

  /**
   * Throws 42501 unless rows may be added that give values to these columns, 0A000 where policies would have to look at
   * each. `columns` null: they are not known yet, and one is enough.
   */
  requireInsert(table: TableDef, columns: readonly ColumnDef[] | null, catalog: CatalogView): TableDef {
    const rights = this.names.rights(catalog);
    if (!rights.matter) return table;
    requireSchema(table.schema, { catalog }, rights);
    const may = rights.columns(table.id, "a");
    if (may === "all" ? false : may.size === 0 || columns?.some(({ id }) => !may.has(id))) {
      throw permissionDenied("table", table.name);
    }
    if (columns === null || !rights.isRestricted(table.id)) return table;
    throw sqlError("0A000", "COPY FROM not supported with row-level security", {
      hint: "Use INSERT statements instead.",
    });
  }

  /**
   * As `requireInsert`, for both tables of a graph. True: policies look at each row that is added; `graphChecks` tells
   * what they ask.
   */
  requireGraphInsert({ nodes, edges }: GraphTables, catalog: CatalogView): boolean {
    const rights = this.names.rights(catalog);
    if (rights.matter && [nodes, edges].some(({ id }) => rights.isRestricted(id))) return true;
    for (const each of [nodes, edges]) this.requireInsert(each, each.columns, catalog);
    return false;
  }

  /**
   * What policies ask of nodes and relationships that are added in the context: what they ask of a CREATE, which is
   * planned and run for no rows. Throws what CREATE does where it is refused.
   */
  async graphChecks(graph: string, context: ExecContext): Promise<GraphChecks | null> {
    const sql = "UNWIND range(1, 0) AS none CREATE ()-[:ADDED]->()";
    const { program } = this.planText({ sql, params: {}, language: "cypher", graph });
    const written = modifyingNodes(program!.plan).find((node) => node.kind === "graphwrite");
    if (written === undefined) throw new Error("the plan of CREATE writes no graph");
    // Subqueries of policies that are the same for all rows run now.
    const operator = program!.open(context);
    try {
      while ((await operator.next()) !== null);
    } finally {
      operator.close();
    }
    return checksOf(written);
  }

  /** The table that COPY is to fill. Throws 42P01, and for a view 42501 or 42809. */
  filledTable(schema: string | null, name: string): TableDef {
    const catalog = this.tenant.catalog.view(this.block.open());
    for (const each of schema === null ? this.names.searchPath(catalog) : [schema]) {
      const table = catalog.table(each, name);
      if (table !== null) return table;
      const view = catalog.view(each, name);
      if (view !== null) throw this.refusedView(view, catalog);
    }
    throw sqlError("42P01", `relation "${schema === null ? "" : `${schema}.`}${name}" does not exist`);
  }

  /** The table as the next statement finds it; null: the name is another relation's, or none's. */
  tableNamed(schema: string | null, name: string): TableDef | null {
    const { block, tenant, names } = this;
    const tx = block.isOpen ? block.open() : tenant.partition.shard.begin({ isolation: "snapshot", readOnly: true });
    try {
      const catalog = tenant.catalog.view(tx);
      const path = schema === null ? names.searchPath(catalog) : [schema];
      const found = path.find((each) => (catalog.table(each, name) ?? catalog.view(each, name)) !== null);
      return found === undefined ? null : catalog.table(found, name);
    } finally {
      if (!block.isOpen) tenant.rollback(tx);
    }
  }

  /** Throws 42501 where the view may not be written. */
  private refusedView(view: ViewDef, catalog: CatalogView): Error {
    const rights = this.names.rights(catalog);
    if (rights.matter) {
      requireSchema(view.schema, { catalog }, rights);
      rights.require(view.id, view.name, "a", "view");
    }
    return sqlError("42809", `cannot copy to view "${view.name}"`, { hint: "COPY to the table that the view reads." });
  }
}

/** Of a failed transaction nothing is looked up any more. Throws 25P02. */
export function requireEnding(sql: string, block: TransactionBlock): void {
  if (parseSql(sql)[0]?.node.kind !== "transaction") block.requireHealthy();
}
