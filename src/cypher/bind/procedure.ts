/**
 * Procedures as CALL binds them: a signature, and a plan of their rows. Rooms above add theirs with `registerProcedure`
 * when the process starts.
 */
import type { GraphTables } from "../../catalog/graph.js";
import type { Expr } from "../../query/expr/expr.js";
import type { TableFunction } from "../../query/expr/table-function.js";
import type { GraphGuard } from "../../query/plan/graph-guard.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { type SqlType, VARIANT } from "../../values/values.js";
import type { ProcedureCatalog, ProcedureSignature } from "./procedure-catalog.js";

/** The statement that calls: what a plan of rows is made with. */
export interface ProcedureStatement {
  readonly graph: GraphTables;
  readonly guard: GraphGuard | null;
  /** Of all graphs of the tenant. */
  graphNames(): readonly string[];
  /** The rows of a query of Cypher that only reads, without parameters; `given`: the variables that it begins with. */
  query(text: string, given?: ReadonlyMap<string, Expr>): Plan;
  /**
   * The value of a constant, or of a parameter: then the plan fits only runs with that value. Undefined: only a run
   * tells. Throws ParameterMissing.
   */
  valueAtOnce(expr: Expr): unknown;
  newColumn(name: string, type: SqlType, nullable?: boolean): OutputColumn;
}

export interface Procedure extends ProcedureSignature {
  /** What it is for, in a sentence. */
  readonly description: string;
  /**
   * It gives nothing, and does something: its plan runs once, where the call is the whole statement, and leaves no row.
   */
  readonly acts?: true;
  /** Rows with a column per output, in their order; without outputs only asked for if it `acts`. */
  readonly rows: (args: readonly Expr[], statement: ProcedureStatement) => Plan;
}

export interface ProcedureRegistry extends ProcedureCatalog {
  procedure(name: string): Procedure | null;
}

const registered = new Map<string, Procedure>();

/** Adds a procedure for all statements bound from now on, instead of one of the same name; the answer takes it away. */
export function registerProcedure(procedure: Procedure): () => void {
  const name = procedure.name.toLowerCase();
  registered.set(name, procedure);
  return () => {
    if (registered.get(name) === procedure) registered.delete(name);
  };
}

/** Null: there is none, or every graph has it (graph-procedures.ts). */
export function registeredProcedure(name: string): Procedure | null {
  return registered.get(name.toLowerCase()) ?? null;
}

export const registeredProcedures = (): readonly Procedure[] => [...registered.values()];

/** A procedure whose rows a table function gives: a record with a variant per output, or one variant. */
export function tableProcedure(signature: Omit<Procedure, "rows">, fn: TableFunction): Procedure {
  return {
    ...signature,
    rows: (args, statement) =>
      Object.freeze({
        kind: "tablefunction",
        alias: signature.name,
        calls: [{ fn, args, shape: fn.returns }],
        ordinality: false,
        columns: signature.outputs.map(({ name }) => statement.newColumn(name, VARIANT)),
      }),
  };
}
