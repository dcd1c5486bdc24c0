/** NEW and OLD as variables of a rule's statements: parameters 1 and 2, rows of one type. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { SqlType } from "../../values/values.js";
import type { FoundVariable, Variables } from "./bound-statement.js";
import { fieldOf } from "./sql-body.js";

export function rowVariables(type: SqlType): Variables {
  const parameter = (index: number): Expr => Object.freeze({ kind: "param", type, index });
  const rows: Readonly<Record<string, Expr>> = { new: parameter(0), old: parameter(1) };
  return {
    conflict: "column",
    parameter: () => null,
    find: (path, position): FoundVariable | null => {
      const [name, field] = path;
      const row = Object.hasOwn(rows, name!) ? rows[name!] : undefined;
      if (row === undefined || path.length > 2) return null;
      if (field === undefined) return { name: name!, expr: row };
      const found = fieldOf(row, field);
      if (found !== null) return found;
      throw sqlError("42703", `column ${name}.${field} does not exist`, position > 0 ? { position } : undefined);
    },
  };
}
