/**
 * Revenue that no column holds: of rows with a quantity and a price it is what both make together. Called by
 * `match-question.ts`; stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import { type ColumnFacts, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";

/** The words of such columns' names, or better than synonyms. */
const SAME = 0.85;
const QUANTITIES = ["quantity", "units", "pieces", "copies", "bottles", "qty"];
const PRICES = ["price"];
/** A unit's cost is no number of units. */
const MONEY = ["price", "cost", "costs", "rate", "fee", "value"];
const COSTS = ["cost"];
const MARGINS = ["margin", "profit"];
/** What a unit earns is no profit of all that is sold. */
const ASKS_MARGIN = /\bmargins?\b(?!\s*(?:in percent|percent|%|rate))/i;
/** Columns that hold it. */
const HELD = ["revenue", "turnover", "total", "subtotal", "amount", "sum", "proceeds", "earnings", "income", "takings"];

/** The schema with a column of that name where one table has a quantity, a price and nothing that is their product. */
export function withRevenue(schema: SchemaFacts, question: string): SchemaFacts {
  const holds = ({ kind, name }: ColumnFacts) => kind === "number" && wordsFit(name, HELD.slice(0, 2));
  if (schema.tables.some(({ columns }) => columns.some(holds))) return schema;
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const revenue = heldRevenue(table) ?? revenueOf(table) ?? soldRevenue(table, schema);
    if (revenue !== null) tables.set(table, { ...table, columns: [...table.columns, revenue] });
  }
  if (tables.size === 0) return ASKS_REVENUE.test(question) ? withPayments(schema) : schema;
  // Of two tables that sell, nobody knows which is meant.
  return tables.size === 1 ? withTables(schema, tables) : schema;
}

const ASKS_REVENUE = /\b(?:revenues?|turnover|takings)\b/i;
const INCOMES = ["payment", "sale", "receipt"];

/** Where nothing else is sold, revenue is what was paid. */
function withPayments(schema: SchemaFacts): SchemaFacts {
  const isIncome = ({ name }: TableFacts) => INCOMES.some((word) => stemOf(word) === stemOf(wordsOfName(name).at(-1)!));
  const [table, other] = schema.tables.filter(isIncome);
  if (table === undefined || other !== undefined) return schema;
  const numbers = table.columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
  const [amount, otherAmount] = numbers.filter(({ name }) => wordsFit(name, HELD));
  if (amount === undefined || otherAmount !== undefined) return schema;
  const revenue = { ...amount, name: "revenue", sql: `${table.sqlName}.${identifier(amount.name)}` };
  return withTables(schema, new Map([[table, { ...table, columns: [...table.columns, revenue] }]]));
}

/** Lines with a quantity and their total: that is it. */
function heldRevenue({ columns, sqlName }: TableFacts): ColumnFacts | null {
  const numbers = columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
  const isQuantity = numbers.some(({ name }) => wordsFit(name, QUANTITIES) && !wordsFit(name, MONEY));
  const [held, other] = numbers.filter(({ name }) => wordsFit(name, HELD) && !wordsFit(name, QUANTITIES));
  if (!isQuantity || held === undefined || other !== undefined) return null;
  return { ...held, name: "revenue", sql: `${sqlName}.${identifier(held.name)}` };
}

/** The schema with what a unit earns, where a table has one price and one cost and the question asks for it. */
export function withMargin(schema: SchemaFacts, question: string): SchemaFacts {
  if (!ASKS_MARGIN.test(question)) return schema;
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const numbers = table.columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
    if (numbers.some(({ name }) => wordsFit(name, MARGINS))) return schema;
    const [cost, otherCost] = numbers.filter(({ name }) => wordsFit(name, COSTS) && !wordsFit(name, PRICES));
    const [price, otherPrice] = numbers.filter(({ name }) => wordsFit(name, PRICES));
    if (cost === undefined || price === undefined || otherCost !== undefined || otherPrice !== undefined) continue;
    const of = ({ name }: ColumnFacts) => `${table.sqlName}.${identifier(name)}`;
    const margin = { ...price, name: "margin", nullable: true, sql: `(${of(price)} - ${of(cost)})` };
    tables.set(table, { ...table, columns: [...table.columns, margin] });
  }
  return tables.size === 1 ? withTables(schema, tables) : schema;
}

function revenueOf({ columns, sqlName }: TableFacts): ColumnFacts | null {
  const numbers = columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
  const [price, secondPrice] = numbers.filter(({ name }) => wordsFit(name, PRICES));
  const [quantity, secondQuantity] = numbers.filter(
    ({ name }) => !wordsFit(name, MONEY) && (wordsFit(name, QUANTITIES) || isPriced(name, price?.name ?? "")),
  );
  if (quantity === undefined || price === undefined || secondQuantity !== undefined || secondPrice !== undefined)
    return null;
  // What is in stock was not sold, and what holds the product is asked for by its own name.
  if (columns.some(({ name }) => wordsFit(name, ["stock", "inventory"]) || wordsFit(name, HELD))) return null;
  const of = ({ name }: ColumnFacts) => `${sqlName}.${identifier(name)}`;
  return {
    name: "revenue",
    kind: "number",
    typeName: "numeric",
    nullable: true,
    isKey: false,
    sql: `${of(quantity)} * ${of(price)}`,
  };
}

/** `kegs` beside `keg_price`. */
function isPriced(name: string, price: string): boolean {
  const [thing, other] = wordsOfName(name);
  return (
    thing !== undefined && other === undefined && wordsOfName(price).some((word) => stemOf(word) === stemOf(thing))
  );
}

const SALES = ["ticket", "sale", "booking", "reservation", "subscription", "admission", "rental"];

/** Tickets that have a price and no number: each is one that was sold. */
function soldRevenue({ name, columns, sqlName }: TableFacts, { links }: SchemaFacts): ColumnFacts | null {
  const numbers = columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
  const [price, other] = numbers.filter((column) => wordsFit(column.name, PRICES));
  const isSale = SALES.some((word) => stemOf(word) === stemOf(wordsOfName(name).at(-1)!));
  if (!isSale || price === undefined || other !== undefined) return null;
  if (!links.some(({ from }) => from.sqlName === sqlName) || numbers.some((column) => wordsFit(column.name, HELD)))
    return null;
  // "Free", "cancelled": not all of them were sold.
  if (columns.some((column) => column.kind === "boolean" || wordsFit(column.name, ["status", "state"]))) return null;
  return { ...price, name: "revenue", sql: `${sqlName}.${identifier(price.name)}` };
}

function wordsFit(name: string, words: readonly string[]): boolean {
  return wordsOfName(name).some((part) =>
    words.some((word) => wordScore({ lower: word, stem: stemOf(word) }, part) >= SAME),
  );
}
