/**
 * Other dialects' syntax in definitions of tables, which PostgreSQL's grammar does not know. It becomes constraints
 * that the grammar knows, with names that no client can have (from-pg-columns.ts reads them). Called by dialect.ts;
 * edits keep the client's positions. Stateless.
 *
 *   id INTEGER PRIMARY KEY                  id INTEGER CONSTRAINT "\u0001assigned" CHECK (true) PRIMARY KEY
 *   id BIGINT AUTO_INCREMENT                id BIGINT CONSTRAINT "\u0001assigned" CHECK (true)
 *   t TIMESTAMP ON UPDATE CURRENT_TIMESTAMP t TIMESTAMP CONSTRAINT "\u0001on update" CHECK (CURRENT_TIMESTAMP)
 *   FULLTEXT INDEX i (a, b), KEY k (a)      CONSTRAINT i EXCLUDE USING "\u0001text index" (a WITH =, b WITH =), …
 *   CREATE FULLTEXT INDEX i ON t (a, b)     CREATE INDEX i ON t USING text (a, b)
 */
import type { Edit } from "./source-map.js";
import { isName, isSymbol, isWord, nameOf, type Token } from "./tokens.js";

/** Of a column whose value is assigned where an INSERT gives none. */
export const ASSIGNED = "\u0001assigned";
/** Of a column that an UPDATE sets unless it gives it a value; the condition is the value. */
export const ON_UPDATE = "\u0001on update";
/** Access methods of "exclusions" that are indexes in a table's definition. */
export const TEXT_INDEX = "\u0001text index";
export const PLAIN_INDEX = "\u0001plain index";

export const TABLE_SUSPECT =
  /\bauto_?increment\b|\binteger\s+primary\s+key\b|\bon\s+update\s+(?:current_timestamp|now|localtimestamp)\b|\bfulltext\b|[(,]\s*(?:unique\s+)?(?:key|index)\s+[\w"`]|\badd\s+(?:unique\s+)?(?:key|index)\b/i;

interface Statement {
  readonly tokens: readonly Token[];
  readonly edits: Edit[];
}

export function tableDialect(statement: Statement): void {
  const { tokens } = statement;
  if (!isWord(tokens[0], "create", "alter")) return;
  if (fulltextIndex(statement)) return;
  autoIncrement(statement);
  onUpdate(statement);
  if (isWord(tokens[0], "alter")) {
    tokens.forEach((token, i) => {
      if (token.depth === 0 && isWord(token, "add")) indexElement(statement, i + 1, 1);
    });
  } else if (tokens.slice(1, 4).some((token) => isWord(token, "table"))) {
    for (const at of elementsOf(tokens)) {
      integerKey(statement, at);
      indexElement(statement, at, 2);
    }
  }
}

const MARK_ASSIGNED = ` CONSTRAINT "${ASSIGNED}" CHECK (true) `;

/** Where columns and constraints of the table begin. */
function elementsOf(tokens: readonly Token[]): number[] {
  return tokens.flatMap((token, i) =>
    token.depth === 1 && (isSymbol(token, "(") || isSymbol(token, ",")) ? [i + 1] : [],
  );
}

/** `id INT AUTO_INCREMENT` */
function autoIncrement({ tokens, edits }: Statement): void {
  tokens.forEach((token, i) => {
    const before = tokens[i - 1];
    const isColumn = isSymbol(before, "(") || isSymbol(before, ",") || isSymbol(tokens[i + 1], "=");
    if (isWord(token, "auto_increment", "autoincrement") && !isColumn) {
      edits.push({ start: token.start, end: token.end, text: MARK_ASSIGNED.trim() });
    }
  });
}

/** Words after which the column has a value of its own, or has to be given one. */
const OWN_VALUE = ["default", "generated", "not", "references", "autoincrement", "auto_increment"];

/**
 * `id INTEGER PRIMARY KEY`, spelt so: `INT PRIMARY KEY` and `INTEGER PRIMARY KEY NOT NULL` want a value, as in
 * PostgreSQL.
 */
function integerKey({ tokens, edits }: Statement, at: number): void {
  const [name, type, primary, key] = tokens.slice(at, at + 4);
  if (!isName(name) || !isWord(type, "integer") || !isWord(primary, "primary") || !isWord(key, "key")) return;
  for (let i = at + 4; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.depth === 1 && (isSymbol(token, ",") || isSymbol(token, ")"))) break;
    if (isWord(token, ...OWN_VALUE)) return;
  }
  edits.push({ start: type!.end, end: type!.end, text: MARK_ASSIGNED.trimEnd() });
}

/** `ON UPDATE CURRENT_TIMESTAMP [(n)]` of a column */
function onUpdate({ tokens, edits }: Statement): void {
  tokens.forEach((token, i) => {
    const value = tokens[i + 2];
    if (!isWord(token, "on") || !isWord(tokens[i + 1], "update")) return;
    if (!isWord(value, "current_timestamp", "now", "localtimestamp")) return;
    const close = isSymbol(tokens[i + 3], "(") ? tokens.findIndex((other, j) => j > i && isSymbol(other, ")")) : i + 2;
    if (close < 0) return;
    edits.push({ start: token.start, end: value!.start, text: `CONSTRAINT "${ON_UPDATE}" CHECK (` });
    edits.push({ start: tokens[close]!.end, end: tokens[close]!.end, text: ")" });
  });
}

/** `CREATE FULLTEXT INDEX i ON t (a, b)`; Cypher's statement of that name goes on with FOR. */
function fulltextIndex({ tokens, edits }: Statement): boolean {
  const [create, fulltext, index] = tokens;
  if (!isWord(create, "create") || !isWord(fulltext, "fulltext") || !isWord(index, "index")) return false;
  const on = tokens.findIndex((token) => token.depth === 0 && isWord(token, "on"));
  const open = tokens.findIndex((token, i) => i > on && isSymbol(token, "("));
  if (on < 0 || open < 0 || on > 6) return false;
  edits.push({ start: fulltext!.start, end: fulltext!.end, text: "" });
  const place = tokens[open]!.start;
  edits.push({ start: place, end: place, text: "USING text " });
  return true;
}

/** `[FULLTEXT | UNIQUE] {INDEX | KEY} [i] (a, b)` in the definition of a table, whose lists have that `depth`. */
function indexElement({ tokens, edits }: Statement, at: number, depth: number): void {
  const kind = isWord(tokens[at], "fulltext", "unique") ? tokens[at]!.text : "plain";
  let open = kind === "plain" ? at : at + 1;
  const isIndex = isWord(tokens[open], "index", "key");
  if (isIndex) open++;
  else if (kind !== "fulltext") return;
  const name = isSymbol(tokens[open], "(") || isWord(tokens[open], "using") ? null : tokens[open];
  if (name !== null) open++;
  if (isMethod(tokens, open)) open += 2;
  if ((name !== null && !isName(name)) || !isSymbol(tokens[open], "(") || tokens[open]!.depth !== depth) return;
  const close = tokens.findIndex((token, i) => i > open && token.depth === depth && isSymbol(token, ")"));
  const columns = close < 0 ? null : columnsOf(tokens.slice(open + 1, close), depth);
  if (columns === null) return;
  const named = name === null ? "" : `CONSTRAINT ${quoted(name!)} `;
  const method = kind === "fulltext" ? TEXT_INDEX : PLAIN_INDEX;
  const text =
    kind === "unique"
      ? `${named}UNIQUE (${columns.join(", ")})`
      : `${named}EXCLUDE USING "${method}" (${columns.map((column) => `${column} WITH =`).join(", ")})`;
  const last = isMethod(tokens, close + 1) ? close + 2 : close;
  edits.push({ start: tokens[at]!.start, end: tokens[last]!.end, text });
}

/** `USING BTREE`, before or behind the columns; a hash index is kept as a btree index. */
const isMethod = (tokens: readonly Token[], at: number): boolean =>
  isWord(tokens[at], "using") && isWord(tokens[at + 1], "btree", "hash");

/** `a, b(10)`: lengths of prefixes say nothing here. Null for anything else, such as the length of a type. */
function columnsOf(tokens: readonly Token[], depth: number): string[] | null {
  const columns: string[] = [];
  let isNext = true;
  for (const token of tokens) {
    if (token.depth > depth) continue;
    if (isSymbol(token, ",") && !isNext) isNext = true;
    else if (isName(token) && isNext) {
      columns.push(quoted(token));
      isNext = false;
    } else if (!isWord(token, "asc")) return null;
  }
  return isNext ? null : columns;
}

const quoted = (token: Token) => `"${nameOf(token).replaceAll('"', '""')}"`;
