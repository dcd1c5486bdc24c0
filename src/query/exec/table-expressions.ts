/**
 * What a table's definition computes of a row: generated columns, keys and predicates of indexes. The definition holds
 * SQL text, which this room cannot bind; the session hands in who can (`ExecContext.bindTable`). Compiled once per
 * definition.
 */
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, ColumnId, Evaluate, Expr } from "../expr/expr.js";
import type { ExecContext } from "./context.js";
import { type KeyLayout, keyValues } from "./table-layout.js";

interface Compiled {
  readonly generated: readonly { readonly columnId: number; readonly evaluate: Evaluate }[];
  readonly indexes: ReadonlyMap<number, { readonly predicate: Evaluate | null; readonly keys: (Evaluate | null)[] }>;
}

const compiled = new WeakMap<TableDef, Compiled>();

function compile(table: TableDef, { bindTable, tx }: ExecContext): Compiled {
  let result = compiled.get(table);
  if (result !== undefined) return result;
  if (bindTable === null) throw sqlError("0A000", `expressions of table "${table.name}" cannot be computed here`);
  const bound = bindTable(table, tx);
  const ids = new Map<ColumnId, number>(bound.columns.map((column, i) => [column.id, table.columns[i]!.id]));
  const slotOf: SlotOf = (id) => ids.get(id) ?? -1;
  const maybe = (expr: Expr | null) => (expr === null ? null : compileExpr(expr, slotOf));
  result = {
    generated: bound.generated.map(({ columnId, expr }) => ({ columnId, evaluate: compileExpr(expr, slotOf) })),
    indexes: new Map(
      [...bound.indexes].map(([id, { predicate, keys }]) => [
        id,
        { predicate: maybe(predicate), keys: keys.map(maybe) },
      ]),
    ),
  };
  compiled.set(table, result);
  return result;
}

/** Of one run over one table whose layout says that something is `computed`; rows are arrays by column id. */
export class TableExpressions {
  private readonly program: Compiled;
  private readonly view: Batch & { readonly columns: Value[][] };

  constructor(
    table: TableDef,
    private readonly context: ExecContext,
  ) {
    this.program = compile(table, context);
    this.view = { columns: Array.from({ length: table.nextColumnId }, () => [null]), length: 1 };
  }

  /** Fills in the row's generated columns. */
  generate(row: Value[]): void {
    const { generated } = this.program;
    if (generated.length === 0) return;
    this.show(row);
    for (const { columnId, evaluate } of generated) row[columnId] = evaluate(this.view, 0, this.context);
  }

  /** The index's key of the row; null: the predicate leaves the row out. */
  valuesOf(index: KeyLayout, row: readonly Value[]): Value[] | null {
    if (!index.computed) return keyValues(index, row);
    const { predicate, keys } = this.program.indexes.get(index.indexId)!;
    this.show(row);
    if (predicate !== null && predicate(this.view, 0, this.context) !== true) return null;
    return keys.map((evaluate, i) =>
      evaluate === null ? row[index.columnIds[i]!]! : evaluate(this.view, 0, this.context),
    );
  }

  private show(row: readonly Value[]): void {
    const { columns } = this.view;
    for (let id = 0; id < columns.length; id++) columns[id]![0] = row[id] ?? null;
  }
}
