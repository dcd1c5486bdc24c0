/**
 * Questions about money that no word names: "who spent the most", "donors who gave more than 500 in total", "the
 * channel that brought in the most money". Called by `compositions.ts`; stateless.
 */
import { type Answer, COMPOSED_MAX, type ComposedAnswer } from "./composed-answer.js";
import { isCalled } from "./name-mentions.js";
import { stemOf } from "./question.js";
import { type ColumnFacts, endOf, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";

const MOST =
  /^(?:(who)|which\s+(\w+))\s+(?:has\s+)?(spent|paid(?:\s+us)?|ordered|bought)\s+(?:the\s+)?(most|least)(?:\s+money)?[?.!\s]*$/i;
const EACH =
  /^how\s+much\s+(?:money\s+)?(?:did|does|has|have)\s+(?:each|every)\s+(\w+)\s+(?:spend|spent|pay|paid)(?:\s+in\s+total)?[?.!\s]*$/i;
const BUYERS =
  "customer client buyer shopper guest member user subscriber account passenger patron visitor company".split(" ");
const MONEY = "amount total subtotal paid price fee charge payment revenue spent".split(" ");
/** Not what is paid. */
const OTHER_MONEY = /(?:^|_)(?:due|owed|list|unit|tax|cost|refund|discount)(?:_|$)/i;
const SURE = 0.9;

/** "Who spent the most", "how much did each client pay": sums of the only money that rows of the only buyers have. */
export async function spent(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const most = MOST.exec(text);
  const [, each] = EACH.exec(text) ?? [];
  if (most === null && each === undefined) return null;
  // What was bought most may also be counted.
  if (most !== null && /^(?:ordered|bought)$/i.test(most[3]!)) return null;
  const said = each ?? most?.[2];
  const buyers = schema.tables.filter((table) =>
    (said === undefined ? BUYERS : [said]).some((word) => isSurely(schema, table, word)),
  );
  const [buyer, otherBuyer] = buyers;
  if (buyer === undefined || otherBuyer !== undefined) return null;
  const sums = schema.tables.flatMap((table) => (isMany(schema, buyer, table) ? moneyOf(schema, table) : []));
  const [sum, otherSum] = sums;
  if (sum === undefined || otherSum !== undefined) return null;
  const asked =
    each === undefined
      ? `${buyer.name} with the ${most![4]!.toLowerCase() === "most" ? "highest" : "lowest"} total ${sum.name}`
      : `total ${sum.name} per ${buyer.name}`;
  const one = await answer(asked);
  return one === null ? null : { sql: one.sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

/** The only money that rows of buyers have, and that is paid; null: there is none, or several. */
export function onlySpending(schema: SchemaFacts): ColumnFacts | null {
  const buyers = schema.tables.filter((table) => BUYERS.some((word) => isSurely(schema, table, word)));
  const [buyer, other] = buyers;
  if (buyer === undefined || other !== undefined) return null;
  const [sum, otherSum] = schema.tables.flatMap((table) =>
    isMany(schema, buyer, table) ? moneyOf(schema, table) : [],
  );
  return sum === undefined || otherSum !== undefined ? null : sum;
}

function isSurely(schema: SchemaFacts, named: TableFacts | ColumnFacts, word: string): boolean {
  const lower = word.toLowerCase();
  return isCalled(schema, named, { lower, stem: stemOf(lower) }, SURE);
}

function isMany(schema: SchemaFacts, buyer: TableFacts, table: TableFacts): boolean {
  const path = table === buyer ? null : pathBetween(schema, buyer, table, new Set());
  return path?.every((step) => step.toMany && endOf(step) !== buyer) === true;
}

function moneyOf(schema: SchemaFacts, table: TableFacts): ColumnFacts[] {
  return table.columns.filter(
    (column) =>
      column.kind === "number" &&
      !column.isKey &&
      !OTHER_MONEY.test(column.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")) &&
      MONEY.some((word) => isSurely(schema, column, word)),
  );
}

const IN_TOTAL =
  /^(.+?)\s+(?:who|that|which)\s+(?:have\s+|has\s+)?(?:gave|given|spent|paid|donated|contributed|raised|earned|received|collected|ordered\s+for)\s+((?:more|less)\s+than|over|at\s+least|under|above|below)\s+\S*?([\d.,]+[km]?)(?:\s+(?:dollars|euros|pounds|usd|eur))?(?:\s+(?:in\s+total|overall|altogether|in\s+all))[?.!\s]*$/i;
const BROUGHT =
  /^(?:which\s+|what\s+|the\s+)?(\w+)\s+(?:that\s+|which\s+|who\s+)?(?:has\s+)?(?:brought\s+in|brings\s+in|earned|earns|generated|generates|made|makes|took\s+in)\s+(?:us\s+)?(?:the\s+)?(most|least)(?:\s+(?:money|revenue|income))?[?.!\s]*$/i;

/** Sums of the only money that rows of the thing have. */
export async function moreInTotal(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const total = IN_TOTAL.exec(text);
  const brought = total === null ? BROUGHT.exec(text) : null;
  const thing = (total ?? brought)?.[1]?.replace(/^(?:which|what|list|show|the|all|how\s+many)\s+/i, "");
  if (thing === undefined || /\s/.test(thing)) return null;
  const sum = moneyFor(thing, schema);
  if (sum === null) return null;
  const asked =
    total === null
      ? `${thing} with the ${brought![2]!.toLowerCase() === "most" ? "highest" : "lowest"} total ${sum.name}`
      : `${thing} whose total ${sum.name} is ${total[2]!} ${total[3]!}`;
  const one = await answer(asked);
  return one === null ? null : { sql: one.sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

function moneyFor(thing: string, schema: SchemaFacts): ColumnFacts | null {
  const tables = schema.tables.filter((table) => isSurely(schema, table, thing));
  const [table, otherTable] = tables;
  const owners = schema.tables.filter((each) =>
    each.columns.some((column) => !column.isKey && column.kind === "text" && isSurely(schema, column, thing)),
  );
  const rows =
    table !== undefined && otherTable === undefined
      ? schema.tables.filter((each) => isMany(schema, table, each))
      : owners;
  const [sum, other] = rows.flatMap((each) => moneyOf(schema, each));
  return sum === undefined || other !== undefined ? null : sum;
}
