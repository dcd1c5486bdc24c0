/**
 * Spellings of other dialects, rewritten into PostgreSQL's before the grammar sees them. Each rewrite is one function
 * of REWRITES and works on the tokens of one statement; edits keep the client's positions (source-map.ts). A text
 * that SUSPECT does not match is not even tokenized. Type names of other dialects need no
 * rewrite: the grammar takes any name, and query/expr/type-spellings.ts knows them.
 *
 * Called by parse.ts. Stateless.
 */
import type { Node } from "@pgsql/types";
import { ACCESS_SUSPECT, accessDialect } from "./access-dialect.js";
import type { ListStatement, VerifyStatement } from "./ast.js";
import { AUTOML_SUSPECT, automlCalls, automlStatement, predictStatement } from "./automl-dialect.js";
import { CLIENT_SUSPECT, clientStatement } from "./client-statements.js";
import { collectionStatement } from "./collection-statements.js";
import type { Edit } from "./source-map.js";
import { TABLE_SUSPECT, tableDialect } from "./table-dialect.js";
import { isSymbol, isWord, stringValue, type Token, tableName, tokenize } from "./tokens.js";
import { verifyRecord } from "./verify-record.js";

export interface Dialect {
  readonly edits: readonly Edit[];
  /** Statements that have no spelling in PostgreSQL; the text has `SHOW` and a placeholder with the list's index. */
  readonly lists: readonly Placed[];
  /** The tokens of each GRAPH_TABLE (…); the text has a call of `GRAPH_TABLE_PREFIX` and its index. */
  readonly graphTables: readonly (readonly Token[])[];
}

/** Names that no client can have, which tell the converter what a rewrite meant. */
export const ANY_KEY = "\u0001any key";
export const IMMUTABLE_TABLE = "\u0001immutable";
export const ALL_COLUMNS = "\u0001all columns";
/** A statement before its place is known. */
type Placed =
  | Omit<ListStatement, "position">
  | Omit<VerifyStatement, "position">
  | { readonly kind: "property graph"; readonly tokens: readonly Token[] };

const LIST_PREFIX = "\u0001list ";
export const GRAPH_TABLE_PREFIX = "\u0001graph table ";

const SUSPECT =
  /`|\[|\blimit\s+[^\s,]+\s*,|\binsert\s+(?:ignore|or)\b|\bread_(?:un)?committed\b|\brepeatable_read\b|\b(?:begin|transaction|work)\s+serializable\b|\bquery\s+expansion\b|\breplace\s+into\b|\bon\s+duplicate\b|\bgroup_concat\b|\bagainst\s*\(|\bdate\s*\(\s*'now'|\bengine\s*=|\bcharset\s*=|\bcreate\s+immutable\b|\bgraph_table\s*\(|\bproperty\s+graph\b|\b(?:create|drop)\s+collection\b|(?:^|;|\*\/)\s*(?:show|describe|desc|verify|summarize)\b|--.*\n\s*(?:show|describe|desc|verify|summarize)\b/i;

const SUSPECTS = [SUSPECT, TABLE_SUSPECT, AUTOML_SUSPECT, CLIENT_SUSPECT, ACCESS_SUSPECT];

export const UNCHANGED: Dialect = { edits: [], lists: [], graphTables: [] };

type Rewrite = (statement: Statement) => void;

/** Tokens of one statement, and where its rewrites go. */
interface Statement {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly edits: Edit[];
  readonly lists: Placed[];
  readonly graphTables: (readonly Token[])[];
}

export function rewriteDialect(text: string): Dialect {
  if (!SUSPECTS.some((suspect) => suspect.test(text))) return UNCHANGED;
  const edits: Edit[] = [];
  const lists: Placed[] = [];
  const graphTables: (readonly Token[])[] = [];
  for (const tokens of statements(tokenize(text))) {
    const statement = { text, tokens, edits, lists, graphTables };
    if (!automlStatement(statement) && !listing(statement)) for (const rewrite of REWRITES) rewrite(statement);
  }
  if (edits.length === 0) return UNCHANGED;
  // At one place insertions come first; of two rewrites that overlap the first one stays.
  edits.sort((a, b) => a.start - b.start || a.end - b.end);
  return { edits: withoutOverlaps(edits), lists, graphTables };
}

/** In the order of their places. */
function withoutOverlaps(edits: readonly Edit[]): Edit[] {
  let end = 0;
  return edits.filter((edit) => {
    if (edit.start < end) return false;
    end = edit.end;
    return true;
  });
}

function statements(tokens: readonly Token[]): Token[][] {
  const result: Token[][] = [];
  let current: Token[] = [];
  for (const token of tokens) {
    if (token.text === ";" && token.kind === "symbol") {
      if (current.length > 0) result.push(current);
      current = [];
    } else {
      current.push(token);
    }
  }
  if (current.length > 0) result.push(current);
  return result;
}

const REWRITES: readonly Rewrite[] = [
  graphTables,
  accessDialect,
  predictStatement,
  automlCalls,
  backticks,
  tableDialect,
  tableOptions,
  immutableTable,
  limitWithComma,
  insertVariants,
  isolationNames,
  groupConcat,
  matchAgainst,
  dateNow,
  vectorLiterals,
];

function replace(statement: Statement, from: Token, to: Token, text: string): void {
  statement.edits.push({ start: from.start, end: to.end, text });
}

/** `GRAPH_TABLE (…)` → `"\u0001graph table 0"()` */
function graphTables(statement: Statement): void {
  const { tokens } = statement;
  for (let i = 0; i < tokens.length; i++) {
    if (!isWord(tokens[i], "graph_table") || !isSymbol(tokens[i + 1], "(")) continue;
    const { depth } = tokens[i + 1]!;
    const found = tokens.findIndex((token, j) => j > i + 1 && token.depth === depth && isSymbol(token, ")"));
    const close = found < 0 ? tokens.length - 1 : found;
    replace(statement, tokens[i]!, tokens[close]!, `"${GRAPH_TABLE_PREFIX}${statement.graphTables.length}"()`);
    statement.graphTables.push(tokens.slice(i, close + 1));
    i = close;
  }
}

/** `name` → "name" */
function backticks(statement: Statement): void {
  for (const token of statement.tokens) {
    if (token.kind === "backtick" && token.text.length > 1 && token.text.endsWith("`")) {
      replace(statement, token, token, quotedName(token));
    }
  }
}

function quotedName(token: Token): string {
  if (token.kind !== "backtick") return token.text;
  return `"${token.text.slice(1, -1).replaceAll("``", "`").replaceAll('"', '""')}"`;
}

/** `) ENGINE=InnoDB DEFAULT CHARSET=utf8` → `)` */
function tableOptions(statement: Statement): void {
  const { tokens } = statement;
  if (!isWord(tokens[0], "create")) return;
  for (let i = 1; i < tokens.length; i++) {
    const name = tokens[i]!;
    if (name.depth > 0 || !isWord(name, "engine", "charset", "collate", "auto_increment", "row_format")) continue;
    const value = tokens[i + 2];
    if (!isSymbol(tokens[i + 1], "=") || value === undefined) continue;
    let first = i;
    while (isWord(tokens[first - 1], "default")) first--;
    replace(statement, tokens[first]!, value, "");
  }
}

/** `CREATE IMMUTABLE TABLE t (…)` → `CREATE TABLE t (…) WITH ("\u0001immutable")` */
function immutableTable(statement: Statement): void {
  const { tokens } = statement;
  const [create, immutable, table] = tokens;
  if (!isWord(create, "create") || !isWord(immutable, "immutable") || !isWord(table, "table")) return;
  replace(statement, immutable!, immutable!, "");
  const at = tokens.findIndex((token, i) => token.depth === 0 && isWord(token, "with") && isSymbol(tokens[i + 1], "("));
  const place = at < 0 ? tokens.at(-1)!.end : tokens[at + 1]!.end;
  const text = at < 0 ? ` WITH ("${IMMUTABLE_TABLE}")` : `"${IMMUTABLE_TABLE}", `;
  statement.edits.push({ start: place, end: place, text });
}

/** `LIMIT a, b` → `LIMIT b OFFSET a` */
function limitWithComma(statement: Statement): void {
  const { tokens } = statement;
  tokens.forEach((token, i) => {
    const [offset, comma, limit] = tokens.slice(i + 1, i + 4);
    if (!isWord(token, "limit") || !isSymbol(comma, ",")) return;
    if (!isCount(offset) || !isCount(limit)) return;
    replace(statement, offset, offset, limit.text);
    replace(statement, comma!, comma!, " OFFSET");
    replace(statement, limit, limit, offset.text);
  });
}

const isCount = (token: Token | undefined): token is Token =>
  token !== undefined && (token.kind === "number" || token.kind === "parameter");

const REPLACE_ROWS = `ON CONFLICT ON CONSTRAINT "${ANY_KEY}" DO UPDATE SET "${ALL_COLUMNS}" = 0`;
/** Of INSERT OR …; ABORT is what a failed statement does anyway. */
const OR_CLAUSES = { replace: REPLACE_ROWS, ignore: "ON CONFLICT DO NOTHING", abort: "" } as const;

/** INSERT IGNORE, INSERT OR …, REPLACE INTO, and INSERT … ON DUPLICATE KEY UPDATE, each by ON CONFLICT. */
function insertVariants(statement: Statement): void {
  const { tokens } = statement;
  const [first, second] = tokens;
  if (isWord(first, "insert") && isWord(second, "ignore")) {
    replace(statement, second!, second!, "");
    atEndOfInsert(statement, "ON CONFLICT DO NOTHING");
  } else if (isWord(first, "replace") && isWord(second, "into")) {
    replace(statement, first!, first!, "INSERT");
    atEndOfInsert(statement, REPLACE_ROWS);
  } else if (isWord(first, "insert") && isWord(second, "or") && isWord(tokens[3], "into")) {
    const clause = OR_CLAUSES[tokens[2]!.text as keyof typeof OR_CLAUSES];
    if (clause === undefined) return;
    replace(statement, second!, tokens[2]!, "");
    if (clause !== "") atEndOfInsert(statement, clause);
  } else if (isWord(first, "insert", "with")) {
    onDuplicateKey(statement);
  }
}

/** `READ_COMMITTED` → `READ COMMITTED`; `BEGIN READ_COMMITTED` → `BEGIN ISOLATION LEVEL READ COMMITTED` */
function isolationNames(statement: Statement): void {
  const { tokens } = statement;
  if (!isWord(tokens[0], "begin", "start", "set")) return;
  tokens.forEach((token, i) => {
    if (!isWord(token, "read_committed", "read_uncommitted", "repeatable_read", "serializable")) return;
    const isLevel = isWord(tokens[i - 1], "level");
    const follows = isLevel || isWord(tokens[i - 1], "begin", "transaction", "work") || isSymbol(tokens[i - 1], ",");
    if (!follows) return;
    replace(
      statement,
      token,
      token,
      `${isLevel ? "" : "ISOLATION LEVEL "}${token.text.replace("_", " ").toUpperCase()}`,
    );
  });
}

/** Before RETURNING, which ends an INSERT. */
function atEndOfInsert(statement: Statement, clause: string): void {
  const { tokens } = statement;
  const returning = tokens.findLast((token) => token.depth === 0 && isWord(token, "returning"));
  const at = returning === undefined ? tokens.at(-1)!.end : returning.start;
  statement.edits.push({ start: at, end: at, text: ` ${clause} ` });
}

function onDuplicateKey(statement: Statement): void {
  const { tokens } = statement;
  const at = tokens.findIndex((token, i) => isWord(token, "on") && isWord(tokens[i + 1], "duplicate"));
  const [, duplicate, key, update] = tokens.slice(at, at + 4);
  if (at < 0 || !isWord(key, "key") || !isWord(update, "update")) return;
  replace(statement, duplicate!, update!, `CONFLICT ON CONSTRAINT "${ANY_KEY}" DO UPDATE SET`);
  // VALUES(column) is the proposed row's column.
  for (let i = at + 4; i + 3 < tokens.length; i++) {
    const [values, open, column, close] = tokens.slice(i, i + 4);
    if (isWord(values, "values") && isSymbol(open, "(") && isSymbol(close, ")")) {
      replace(statement, values!, close!, `excluded.${quotedName(column!)}`);
    }
  }
}

/** Searches are by stems, and nothing is added to the words of a query: an expansion is the search without it. */
const MATCH_MODES = {
  "": "any",
  "in boolean mode": "any",
  "in natural language mode": "plain",
  "in natural language mode with query expansion": "plain",
  "with query expansion": "plain",
  "in all mode": "all",
} as const;

/** `MATCH (a, b) AGAINST ('words' [IN … MODE])` → `text_score(a, b, 'words', mode)` */
function matchAgainst(statement: Statement): void {
  const { tokens } = statement;
  const closing = (open: number) =>
    tokens.findIndex((other, j) => j > open && isSymbol(other, ")") && other.depth === tokens[open]!.depth);
  tokens.forEach((token, i) => {
    if (!isWord(token, "match") || !isSymbol(tokens[i + 1], "(")) return;
    const close = closing(i + 1);
    if (close < 0 || !isWord(tokens[close + 1], "against") || !isSymbol(tokens[close + 2], "(")) return;
    const end = closing(close + 2);
    if (end < 0) return;
    const { depth } = tokens[close + 2]!;
    const from = tokens.findIndex(
      (other, j) => j > close + 2 && j < end && other.depth === depth && isWord(other, "in", "with"),
    );
    const words = from < 0 ? [] : tokens.slice(from, end).map(({ text }) => text.toLowerCase());
    const mode = MATCH_MODES[words.join(" ") as keyof typeof MATCH_MODES];
    if (mode === undefined) return;
    replace(statement, token, token, "text_score");
    replace(statement, tokens[close]!, tokens[close + 2]!, ",");
    if (from < 0) replace(statement, tokens[end]!, tokens[end]!, `, '${mode}')`);
    else replace(statement, tokens[from]!, tokens[end]!, `, '${mode}')`);
  });
}

/** `GROUP_CONCAT([DISTINCT] x [ORDER BY …] [SEPARATOR 's'])` or `(x, 's')` → string_agg */
function groupConcat(statement: Statement): void {
  const { tokens } = statement;
  tokens.forEach((token, i) => {
    const open = tokens[i + 1];
    if (!isWord(token, "group_concat") || !isSymbol(open, "(")) return;
    const close = tokens.findIndex((other, j) => j > i + 1 && isSymbol(other, ")") && other.depth === open!.depth);
    const first = isWord(tokens[i + 2], "distinct") ? i + 3 : i + 2;
    if (close < 0 || first >= close) return;
    const here = (j: number) => j < close && tokens[j]!.depth === open!.depth;
    let end = close;
    let separator = "','";
    for (let j = first; j < close; j++) {
      if (!here(j)) continue;
      if (isWord(tokens[j], "separator") && tokens[j + 1]?.kind === "string") {
        separator = tokens[j + 1]!.text;
        replace(statement, tokens[j]!, tokens[j + 1]!, "");
        end = Math.min(end, j);
      } else if (isSymbol(tokens[j], ",") && tokens[j + 1]?.kind === "string" && end === close) {
        separator = tokens[j + 1]!.text;
        replace(statement, tokens[j]!, tokens[j + 1]!, "");
        end = j;
      } else if (isWord(tokens[j], "order")) {
        end = Math.min(end, j);
      }
    }
    replace(statement, token, token, "string_agg");
    const from = tokens[first]!.start;
    statement.edits.push({ start: from, end: from, text: "(" });
    const to = tokens[end - 1]!.end;
    statement.edits.push({ start: to, end: to, text: `)::text, ${separator} ` });
  });
}

/** `DATE('now' [, '-90 days'])` → CURRENT_DATE [+ interval] */
function dateNow(statement: Statement): void {
  const { tokens } = statement;
  tokens.forEach((token, i) => {
    const [open, now, comma, shift, close] = tokens.slice(i + 1, i + 6);
    if (!isWord(token, "date") || !isSymbol(open, "(") || now?.text.toLowerCase() !== "'now'") return;
    if (isSymbol(comma, ")")) replace(statement, token, comma!, "CURRENT_DATE");
    else if (isSymbol(comma, ",") && shift?.kind === "string" && isSymbol(close, ")")) {
      replace(statement, token, close!, `(CURRENT_DATE + INTERVAL ${shift.text})::date`);
    }
  });
}

/** Words after which a bracket begins a value; after any other word it is a subscript. */
const BEFORE_VALUE = new Set(
  "all and any as between by case distinct else from having ilike in is like limit not offset on or returning select set some then using values when where".split(
    " ",
  ),
);

/** `[0.1, -2]` where a value is expected → `'[0.1, -2]'::vector` */
function vectorLiterals(statement: Statement): void {
  const { tokens } = statement;
  // Brackets inside of brackets belong to ARRAY[…] or to a subscript.
  let open = 0;
  for (let i = 0; i < tokens.length; i++) {
    if (isSymbol(tokens[i], "]")) open--;
    if (!isSymbol(tokens[i], "[") || open++ > 0) continue;
    const before = tokens[i - 1];
    const isValue =
      before === undefined ||
      (before.kind === "word" ? BEFORE_VALUE.has(before.text) : before.kind === "symbol" && !/[\])]/.test(before.text));
    if (!isValue || !closesVector(tokens, i)) continue;
    const close = tokens.findIndex((token, j) => j > i && isSymbol(token, "]"));
    replace(statement, tokens[i]!, tokens[i]!, "'[");
    replace(statement, tokens[close]!, tokens[close]!, "]'::vector");
    i = close;
    open--;
  }
}

/** Only numbers, signs and commas up to the closing bracket. */
function closesVector(tokens: readonly Token[], open: number): boolean {
  for (let i = open + 1; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (isSymbol(token, "]")) return i > open + 1;
    if (token.kind !== "number" && !(token.kind === "symbol" && /^[-+,]$/.test(token.text))) return false;
  }
  return false;
}

/**
 * SHOW TABLES|… with a filter, DESCRIBE t, and statements on collections, agents, models and backups. True when the
 * statement was one of them.
 */
function listing(statement: Statement): boolean {
  const call = collectionStatement(statement.tokens) ?? clientStatement(statement);
  if (call !== null) {
    replace(statement, statement.tokens[0]!, statement.tokens.at(-1)!, call);
    return true;
  }
  const list = summaryOf(statement) ?? listOf(statement.tokens);
  if (list === null) return false;
  const { tokens } = statement;
  replace(statement, tokens[0]!, tokens.at(-1)!, `SHOW "${LIST_PREFIX}${statement.lists.length}"`);
  statement.lists.push(list);
  return true;
}

const LISTED = {
  tables: "tables",
  indexes: "indexes",
  index: "indexes",
  keys: "indexes",
  databases: "databases",
  schemas: "databases",
  models: "models",
  columns: "columns",
  fields: "columns",
} as const;

/** SUMMARIZE of a table, or of a query. */
function summaryOf({ tokens, text }: Statement): Placed | null {
  const [verb, first] = tokens;
  if (!isWord(verb, "summarize") || first === undefined) return null;
  const isQuery = isWord(first, "select", "with", "values") || isSymbol(first, "(");
  const named = isQuery ? null : tableName(tokens, isWord(first, "table") ? 2 : 1);
  if (!isQuery && (named === null || named.next < tokens.length)) return null;
  if (named !== null) return { kind: "list", what: "summary", table: named.name, like: null };
  return { kind: "list", what: "summary", table: null, like: null, query: text.slice(first.start, tokens.at(-1)!.end) };
}

function listOf(tokens: readonly Token[]): Placed | null {
  const [verb, second] = tokens;
  if (isWord(verb, "create", "drop") && isWord(second, "property") && isWord(tokens[2], "graph")) {
    return { kind: "property graph", tokens };
  }
  if (isWord(verb, "verify") && isWord(second, "table")) {
    const table = tableName(tokens, 2);
    return table === null || table.next < tokens.length ? null : { kind: "verify", table: table.name };
  }
  if (isWord(verb, "verify") && isWord(second, "record")) return verifyRecord(tokens);
  if (isWord(verb, "describe", "desc")) {
    const table = tableName(tokens, isWord(second, "table") ? 2 : 1);
    return table === null ? null : { kind: "list", what: "columns", table: table.name, like: null };
  }
  if (!isWord(verb, "show") || second?.kind !== "word") return null;
  const what = LISTED[second.text as keyof typeof LISTED];
  if (what === undefined) return null;
  let at = 2;
  let table: ReturnType<typeof tableName> = null;
  if (isWord(tokens[at], "from", "in", "on")) {
    table = tableName(tokens, at + 1);
    if (table === null) return null;
    at = table.next;
  }
  const pattern = tokens[at + 1];
  const like = isWord(tokens[at], "like") && pattern?.kind === "string" ? stringValue(pattern) : null;
  if (at + (like === null ? 0 : 2) !== tokens.length || (what === "columns" && table === null)) return null;
  return { kind: "list", what, table: table?.name ?? null, like };
}

/** What `listing` left a placeholder for, or null. */
export function placeholderOf(node: Node, lists: Dialect["lists"]): Placed | null {
  if (!("VariableShowStmt" in node)) return null;
  const name = node.VariableShowStmt.name ?? "";
  return name.startsWith(LIST_PREFIX) ? (lists[Number(name.slice(LIST_PREFIX.length))] ?? null) : null;
}

/** The statement in its place. */
export function placed(
  list: Exclude<Placed, { kind: "property graph" }>,
  position: number,
): ListStatement | VerifyStatement {
  if (list.kind === "verify") return { ...list, table: { ...list.table, position }, position };
  return { ...list, table: list.table === null ? null : { ...list.table, position }, position };
}
