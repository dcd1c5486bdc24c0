/**
 * What a column is in whose name does not say so: of "films longer than 2 hours" and a `length` of 46 to 185, minutes,
 * for 120 is near its values and neither 2 nor 7,200 is. Called by match-question.ts; stateless.
 */
import { type ColumnRef, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { possibleUnits } from "./units.js";
import type { LookUp } from "./value-mentions.js";
import { UNIT_NAMES } from "./vocabulary.js";

/** A column that is compared with numbers of a unit. */
export interface Measured {
  readonly ref: ColumnRef;
  /** The unit as the question has it: "hours". */
  readonly word: string;
  readonly numbers: readonly number[];
}

/** A number is near values that are at least one in so many of it, and at most so many times it. */
const NEAR = 2;

/**
 * The schema with units of such columns, the same where their names or their values leave no doubt. A column of which
 * no unit fits, or several that are not the question's: its name.
 */
export async function withStoredUnits(
  measured: readonly Measured[],
  schema: SchemaFacts,
  lookUp: LookUp,
): Promise<SchemaFacts | string> {
  let known = schema;
  for (const each of measured) {
    const { table, column } = each.ref;
    const fitting = await fittingUnits(each, lookUp);
    if (fitting === null) continue;
    const asked = UNIT_NAMES[each.word]!;
    const unit = fitting.includes(asked) ? asked : fitting.length === 1 ? fitting[0] : undefined;
    if (unit === undefined) return `${table.name}.${column.name}`;
    if (unit !== asked || fitting.length > 1) known = withUnit(known, each.ref, unit);
  }
  return known;
}

/** Units in which the numbers are near the column's values. Null: there are no values, or its unit is known. */
async function fittingUnits({ ref, word, numbers }: Measured, lookUp: LookUp): Promise<string[] | null> {
  const units = possibleUnits(word, ref.column);
  if (units === null) return null;
  const name = identifier(ref.column.name);
  const [row] = await lookUp(`SELECT min(${name}), max(${name}) FROM ${ref.table.sqlName} WHERE ${name} > 0`, []);
  if (row === undefined || row[0] === null) return null;
  const [least, most] = row.map(Number);
  const isNear = (number: number) => number >= least! / NEAR && number <= most! * NEAR;
  return Object.keys(units).filter((unit) => numbers.some((number) => isNear(number * units[unit]!)));
}

function withUnit(schema: SchemaFacts, { table, column }: ColumnRef, unit: string): SchemaFacts {
  const own = schema.tables.find(({ sqlName }) => sqlName === table.sqlName)!;
  const columns = own.columns.map((each) => (each.name === column.name ? { ...each, unit } : each));
  return withTables(schema, new Map<TableFacts, TableFacts>([[own, { ...own, columns }]]));
}
