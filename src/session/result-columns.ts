/** The columns of statements' rows, as they are known before a statement runs. */
import type { CatalogView } from "../catalog/catalog-view.js";
import { outputsOf } from "../catalog/function.js";
import { sqlError } from "../protocol/errors.js";
import { toldSettingName } from "../protocol/setting-names.js";
import type { OutputColumn } from "../query/plan/plan.js";
import type { BoundCall } from "../sql/bind/bound-statement.js";
import { typeOfOid } from "../sql/bind/system/object-names.js";
import { type SqlType, TEXT } from "../values/values.js";
import { explainColumn } from "./explain-statement.js";
import type { SessionCursors } from "./session-cursors.js";
import type { SessionStatements } from "./session-statements.js";
import type { StatementPlan } from "./statement-plan.js";

/** Null: it has no rows. Throws for a cursor or a prepared statement that is not there. */
export function resultColumns(
  { bound, shape }: StatementPlan,
  cursors: SessionCursors,
  statements: SessionStatements,
): readonly OutputColumn[] | null {
  switch (bound.kind) {
    case "query":
      return bound.returnsRows ? shape!.outputs : null;
    case "explain":
    case "explain execute":
      return [explainColumn(bound.format)];
    case "show":
      return [textColumn(toldSettingName(bound.name))];
    case "fetch":
      return bound.isMove ? null : cursors.find(bound.name).plan.shape!.outputs;
    case "execute":
      return resultColumns(statements.find(bound.name).plan, cursors, statements);
    case "call": {
      const columns = procedureColumns(bound);
      return columns.length === 0 ? null : columns;
    }
    default:
      return null;
  }
}

const textColumn = (name: string): OutputColumn => ({ id: 0, name, type: TEXT, nullable: false });

export function procedureColumns({ routine }: BoundCall): readonly OutputColumn[] {
  const fields = outputsOf(routine.definition).length === 0 ? [] : (routine.returns.fields ?? []);
  return fields.map(({ name, type }, id) => ({ id, name, type, nullable: true }));
}

/** The type that a client declares for a parameter. Null: `unknown`, whose type the statement tells. Throws 42704. */
export function declaredType(oid: number, catalog: CatalogView): SqlType | null {
  const type = typeOfOid({ catalog }, oid);
  if (type === null) throw sqlError("42704", `type with OID ${oid} does not exist`);
  return type.name === "unknown" ? null : type;
}
