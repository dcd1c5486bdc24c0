/**
 * Money that is stored in cents and asked for in euros or dollars: "total payments in euros", "fares above 20 dollars".
 * Called by `match-question.ts`; stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { type ColumnFacts, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";

const ASKED = /(?:\bin\s+|[\d.]\s*)(euros?|eur|dollars?|usd|pounds?)\b/i;
const OF_CENTS = /_(?:cents?|pence)\b|Cents?"/;
const CENTS = /^(?:cents?|pence)$/;

/** The schema with whole units in place of cents, where the question asks in them. */
export function withWholeMoney(schema: SchemaFacts, question: string): SchemaFacts {
  const unit = ASKED.exec(question)?.[1]?.toLowerCase();
  if (unit === undefined) return schema;
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    // Of a table that is read in part, each column is listed by its own name.
    if (table.isPart === true || !table.columns.some(isCents)) continue;
    const whole = (column: ColumnFacts) => (isCents(column) ? inWhole(table, column, unit) : column);
    tables.set(table, { ...table, columns: table.columns.map(whole) });
  }
  return withTables(schema, tables);
}

/** Also what is made of such a column: revenue. */
const isCents = ({ name, kind, isKey, sql }: ColumnFacts) =>
  kind === "number" && !isKey && (CENTS.test(wordsOfName(name).at(-1)!) || (sql !== undefined && OF_CENTS.test(sql)));

function inWhole({ sqlName }: TableFacts, column: ColumnFacts, unit: string): ColumnFacts {
  const words = wordsOfName(column.name);
  const bare = CENTS.test(words.at(-1)!) ? words.slice(0, -1) : words;
  const sql = column.sql ?? `${sqlName}.${identifier(column.name)}`;
  return { ...column, name: [...bare, unit].join("_"), sql: `${sql} / 100.0` };
}
