/** A partition key as pg_get_partkeydef and messages show it. */
import { quotedIdentifier } from "../../catalog/relation-names.js";
import type { TableDef } from "../../catalog/table.js";
import { parseExpression } from "../parse/parse.js";

/** `a, lower(b), (a + b)` */
export function partitionKeyText(table: TableDef): string {
  const texts = table.partitionKey!.keys.map(({ columnId, expression }) => {
    if (expression === undefined) return quotedIdentifier(table.columns.find(({ id }) => id === columnId)!.name);
    return parseExpression(expression.sql).kind === "call" ? expression.sql : `(${expression.sql})`;
  });
  return texts.join(", ");
}
