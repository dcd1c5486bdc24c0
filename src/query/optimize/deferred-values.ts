/**
 * VALUES with calls that have to be waited for: what the calls are made of becomes the VALUES, and one expression per
 * column, over those, what they were. So the calls of all rows are computed together.
 *
 *   Values: (1, embed('a', $1)), (2, NULL)      Project: c1, CASE WHEN c2 THEN embed(c3, c4) ELSE c5 END
 *                                          ⇒      Values: (1, true, 'a', $1, NULL), (2, false, NULL, NULL, NULL)
 *
 * Called by lift-deferred.ts, which then lifts the calls out of the projection.
 */
import { BOOL, type SqlType } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";
import { inputsOf, someExpr, withInputs } from "../expr/walk.js";
import type { OutputColumn, Plan, ValuesPlan } from "../plan/plan.js";
import { DeferredCalls } from "./deferred-calls.js";
import { isWaitingSubquery, type Waits } from "./deferred-parts.js";
import { newColumnId } from "./new-column-id.js";

export function deferredInValues(node: ValuesPlan, waits: Waits): Plan {
  const table = new ValuesTable(node.rows.length, waits);
  const exprs = node.columns.map(({ type }, c) =>
    table.joined(
      node.rows.map((row) => row[c]!),
      type,
    ),
  );
  const calls = new DeferredCalls(waits, table.plan());
  const over = exprs.map((expr) => calls.lift(expr));
  return Object.freeze({ kind: "project", input: calls.stacked(), exprs: over, columns: node.columns });
}

/** Expressions of a column, one per row; null: the row does not come to it. */
type PerRow = readonly (Expr | null)[];

class ValuesTable {
  private readonly columns: OutputColumn[] = [];
  private readonly values: PerRow[] = [];
  private readonly parts: object[] = [];

  constructor(
    private readonly length: number,
    private readonly waits: Waits,
  ) {}

  plan(): Plan {
    const { values, columns, length } = this;
    const nothing = (c: number): Expr => ({ kind: "const", type: columns[c]!.type, value: null });
    const rows = Array.from({ length }, (_, row) => values.map((column, c) => column[row] ?? nothing(c)));
    return Object.freeze({ kind: "values", rows, columns });
  }

  /** One expression over the table's columns that is each row's. */
  joined(exprs: PerRow, type: SqlType): Expr {
    const shapes = exprs.map((expr) => (expr === null ? null : this.shapeOf(expr)));
    const waiting = [...new Set(shapes)].filter((shape) => shape !== null && shape !== "");
    if (waiting.length === 0) return this.add(exprs, type);
    if (waiting.length === 1 && shapes.every((shape) => shape === null || shape === waiting[0])) {
      return this.joinedInputs(exprs);
    }
    const only = (test: (shape: string | null) => boolean) =>
      exprs.map((expr, row) => (test(shapes[row]!) ? expr : null));
    const branches = waiting.map((wanted) => ({
      when: this.add(
        shapes.map((shape) => ({ kind: "const", type: BOOL, value: shape === wanted })),
        BOOL,
      ),
      // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
      then: this.joinedInputs(only((shape) => shape === wanted)),
    }));
    return Object.freeze({
      kind: "case",
      type,
      branches,
      otherwise: this.add(
        only((shape) => shape === ""),
        type,
      ),
    });
  }

  /** Of expressions of one shape. */
  private joinedInputs(exprs: PerRow): Expr {
    const sample = exprs.find((expr) => expr !== null)!;
    const inputs = inputsOf(sample).map((input, i) =>
      this.joined(
        exprs.map((expr) => (expr === null ? null : inputsOf(expr)[i]!)),
        input.type,
      ),
    );
    return withInputs(sample, inputs);
  }

  private add(exprs: PerRow, type: SqlType): Expr {
    const id = newColumnId();
    const name = `value${this.columns.length + 1}`;
    this.columns.push({ id, name, type, nullable: true });
    this.values.push(exprs);
    return Object.freeze({ kind: "column", type, id, name });
  }

  /** What stands around the calls; "" when there is none. */
  private shapeOf(expr: Expr): string {
    const isItem = (part: Expr) => this.waits(part) || isWaitingSubquery(part);
    if (!someExpr(expr, isItem)) return "";
    const inputs = inputsOf(expr).map((input) => this.shapeOf(input));
    return `${expr.kind}${this.ownShape(expr)}(${inputs.join()})`;
  }

  /** What tells a node from others with the same inputs. */
  private ownShape(expr: Expr): string {
    switch (expr.kind) {
      case "call":
        return String(this.numberOf(expr.fn));
      case "cast":
        return `${this.numberOf(expr.type)}${expr.assignment === true}`;
      case "isnull":
        return String(expr.negated);
      case "in":
      case "subquery":
      case "list":
        return String(newColumnId());
      default:
        return "";
    }
  }

  private numberOf(part: object): number {
    const at = this.parts.indexOf(part);
    return at >= 0 ? at : this.parts.push(part) - 1;
  }
}
