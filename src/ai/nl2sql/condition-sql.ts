/** SQL of single conditions on a column, whose name comes last. Used by condition-reader.ts; stateless. */
import type { Filter } from "./query-shape.js";
import type { ColumnRef } from "./schema-facts.js";
import { literal } from "./sql-names.js";

export function valueCondition(values: readonly string[], negated: boolean): Filter["sql"] {
  const texts = [...new Set(values)].map(literal);
  if (texts.length === 1) return (column) => `${column} ${negated ? "<>" : "="} ${texts[0]}`;
  return (column) => `${column} ${negated ? "NOT " : ""}IN (${texts.join(", ")})`;
}

export function rangeCondition({
  from,
  to,
}: {
  readonly from: string | null;
  readonly to: string | null;
}): Filter["sql"] {
  return (column) =>
    [from === null ? null : `${column} >= ${from}`, to === null ? null : `${column} < ${to}`]
      .filter((part) => part !== null)
      .join(" AND ");
}

/** Years of age, of a number or a date of birth. */
export function ageCondition({ column }: ColumnRef, comparison: string, years: number): Filter["sql"] {
  if (column.kind === "number") {
    const turned = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" }[comparison] ?? comparison;
    return (name) => `${name} ${turned} ${years}`;
  }
  return (name) => `${name} ${comparison} current_date - interval '${years} years'`;
}
