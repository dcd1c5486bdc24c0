/**
 * Turns a client's text into statements. The session calls `parseSql` on a miss of its plan cache; workers call
 * `loadParser` once before they serve. The grammar is PostgreSQL's own (libpg-query, in WASM); its output never leaves
 * this room.
 */
import { isMainThread } from "node:worker_threads";
import { hasSqlDetails, loadModule, parseSync } from "libpg-query";
import { DbError, sqlError } from "../../protocol/errors.js";
import { SQL_BYTES_MAX } from "../../protocol/limits.js";
import { nearestName } from "../../protocol/nearest-name.js";
import type { CreateSchemaStatement, Statement, StatementNode } from "./ast.js";
import type { ExprNode, TargetNode } from "./ast-query.js";
import { tooComplex } from "./conversion.js";
import { cutConstants } from "./cut-constants.js";
import { type Dialect, placed, placeholderOf, rewriteDialect, UNCHANGED } from "./dialect.js";
import { convertStatement } from "./from-pg.js";
import { compileGrammar, grammarIsPlain } from "./grammar-code.js";
import { GraphTableReader } from "./graph-table.js";
import { PropertyGraphReader } from "./property-graph.js";
import { type SourceMap, sourceMap } from "./source-map.js";
import { skipBlank, tokenize } from "./tokens.js";

/** Loads the grammar (about 30 ms, once per thread). A server's main thread has compiled it for the other threads. */
export async function loadParser(): Promise<void> {
  if (isMainThread) {
    compileGrammar();
    grammarIsPlain();
  }
  await loadModule();
}

/**
 * The statements of a text, none for a text of white space and comments.
 * Errors: query_too_long; 42601 with the position, message and hint; 54001 when it nests too deeply; 0A000 for what
 * is not supported.
 */
export function parseSql(text: string): Statement[] {
  const zero = text.indexOf("\0");
  if (zero >= 0) {
    const position = sourceMap(text, []).position(zero);
    throw sqlError("42601", "invalid character in statement: NUL", { position });
  }
  if (text === "") return [];
  try {
    if (isTooLong(text)) return parseLong(text);
    const dialect = rewriteDialect(text);
    const map = sourceMap(text, dialect.edits);
    return grammar(map).map((raw) => deepFreeze(statementOf(raw, text, map, dialect)));
  } catch (error) {
    // The grammar recurses in WASM, the converter in JavaScript; both run out of stack on absurd nesting.
    if (error instanceof RangeError) throw tooComplex();
    throw error;
  }
}

const isTooLong = (text: string): boolean =>
  text.length > SQL_BYTES_MAX || Buffer.byteLength(text, "utf8") > SQL_BYTES_MAX;

/** The grammar gets the text without its long strings and lists. Other dialects are not read in it. */
function parseLong(text: string): Statement[] {
  const cut = cutConstants(text);
  const map = sourceMap(text, cut.edits);
  if (isTooLong(map.text)) throw tooLong();
  const statements = grammar(map).map((raw) => statementOf(raw, text, map, UNCHANGED));
  if (!cut.restore(statements, map.position)) throw tooLong();
  return statements.map(deepFreeze);
}

function tooLong(): DbError {
  return new DbError("query_too_long", `The statement is longer than ${SQL_BYTES_MAX} bytes.`, {
    hint: "Lists of constants and long strings in expressions do not count, nor do the rows of an INSERT. Send what else is long as parameters, such as = ANY($1).",
  });
}

/** One expression, as definitions keep it: a DEFAULT or CHECK. Throws as `parseSql` does. */
export function parseExpression(text: string): ExprNode {
  const node = parseSql(`SELECT ${text}`)[0]!.node;
  const body = node.kind === "select" ? node.query.body : null;
  if (body?.kind !== "select" || body.targets.length !== 1) throw sqlError("42601", `not an expression: ${text}`);
  return body.targets[0]!.expr;
}

type RawStatement = NonNullable<ReturnType<typeof parseSync>["stmts"]>[number];

function grammar(map: SourceMap): readonly RawStatement[] {
  try {
    return parseSync(map.text).stmts ?? [];
  } catch (error) {
    if (hasSqlDetails(error)) throw syntaxError(error.message, error.sqlDetails?.cursorPosition ?? 0, map);
    throw error;
  }
}

function syntaxError(message: string, cursor: number, map: SourceMap): Error {
  // The grammar's own bounds on nesting.
  if (message.startsWith("memory exhausted") || message.includes("stack depth")) return tooComplex();
  const index = map.indexOfCharacter(cursor);
  const position = map.position(index);
  const before = map.original.slice(0, index);
  const line = before.split("\n").length;
  const where = map.original.includes("\n") ? ` (line ${line}, column ${position - lineStart(map, before)})` : "";
  const hint = hintFor(message, before, map.original.slice(index));
  // The grammar's own checks of window frames.
  const code = /^frame (start|end)/.test(message) ? "42P20" : "42601";
  return sqlError(code, message + where, { position, ...(hint !== null && { hint }) });
}

/** Characters before the line that `before` ends in. */
function lineStart(map: SourceMap, before: string): number {
  return map.position(before.lastIndexOf("\n") + 1) - 1;
}

function hintFor(message: string, before: string, rest: string): string | null {
  // A question mark is an operator to the grammar, which then misses its operand.
  if (/\?\s*$/.test(before) || rest.startsWith("?")) return "Parameters are written $1, $2, …";
  const word = /at or near "([A-Za-z]{3,})"/.exec(message)?.[1];
  if (word !== undefined) return meantWord(word, before.trim() === "" ? FIRST_WORDS : CLAUSE_WORDS);
  if (message.includes("end of input")) return "The statement ends too early.";
  if (message.includes("unterminated quoted string")) return "A quote inside a string is written twice: 'it''s'.";
  return null;
}

const FIRST_WORDS =
  "SELECT INSERT UPDATE DELETE CREATE ALTER DROP WITH VALUES EXPLAIN MERGE TRUNCATE SHOW DESCRIBE MATCH BEGIN COMMIT ROLLBACK".split(
    " ",
  );
const CLAUSE_WORDS = "FROM WHERE GROUP ORDER HAVING LIMIT OFFSET VALUES INTO SET JOIN LEFT UNION RETURNING".split(" ");

/** The keyword that was likely meant; null where the word is one, or like none. */
function meantWord(word: string, words: readonly string[]): string | null {
  const near = nearestName(word, words);
  return near === null || near === word.toUpperCase() ? null : `Did you mean ${near}?`;
}

function statementOf(raw: RawStatement, original: string, map: SourceMap, { lists, graphTables }: Dialect): Statement {
  const offset = raw.stmt_location ?? 0;
  const length = raw.stmt_len ?? 0;
  const end = length === 0 ? original.length : map.indexOfByte(offset + length);
  const start = skipBlank(original, map.indexOfByte(offset));
  const bytes = (byte: number) => map.position(map.indexOfByte(byte));
  const position = map.position(start);
  const text = original.slice(start, end).trimEnd();
  const reading = [map.position, (from: number, to: number) => targetsAt(original, from, to), end] as const;
  const placeholder = placeholderOf(raw.stmt!, lists);
  if (placeholder?.kind === "property graph") {
    return { node: new PropertyGraphReader(placeholder.tokens, ...reading).read(text), start, end, text };
  }
  const graphTable = (index: number) => new GraphTableReader(graphTables[index]!, ...reading).read();
  const converted =
    placeholder === null ? convertStatement(raw.stmt!, position, bytes, graphTable) : placed(placeholder, position);
  const keepsText =
    converted.kind === "create view" ||
    converted.kind === "create table as" ||
    converted.kind === "create function" ||
    converted.kind === "create rule" ||
    converted.kind === "create policy" ||
    converted.kind === "alter policy";
  if (converted.kind === "create schema" && converted.elements.length > 0) {
    return { node: { ...converted, elements: elementsOf(converted, text, start, map) }, start, end, text };
  }
  return { node: keepsText ? { ...converted, text } : converted, start, end, text };
}

/** The statements inside of CREATE SCHEMA, each with its own text and position. */
function elementsOf(
  { elements, position }: CreateSchemaStatement,
  text: string,
  start: number,
  map: SourceMap,
): readonly StatementNode[] {
  const tokens = tokenize(text);
  // Reserved words: within an element they are labels (AS create) and columns (t.create) alone.
  const begins = tokens.filter(
    ({ text, depth }, i) =>
      i > 0 && depth === 0 && (text === "create" || text === "grant") && !["as", "."].includes(tokens[i - 1]!.text),
  );
  if (begins.length !== elements.length)
    throw sqlError("0A000", "CREATE SCHEMA of this form is not supported", { position });
  return elements.map((element, i) => {
    const own = text.slice(begins[i]!.start, begins[i + 1]?.start).trimEnd();
    const placed = { ...element, position: map.position(start + begins[i]!.start) };
    return placed.kind === "create view" ? { ...placed, text: own } : placed;
  });
}

/** A select list inside a text, with the positions that it has there: what stands before it becomes a comment. */
function targetsAt(text: string, start: number, end: number): readonly TargetNode[] {
  const before = text.slice(0, start - OPENING.length).replace(/[^\n\ud800-\udfff]/g, " ");
  const node = parseSql(`/*${before.slice(4)}*/${OPENING}${text.slice(start, end)}`)[0]!.node;
  const body = node.kind === "select" ? node.query.body : null;
  if (body?.kind === "select" && body.from.length === 0 && body.where === null) return body.targets;
  throw sqlError("42601", "syntax error: an expression is wanted", { position: sourceMap(text, []).position(start) });
}

const OPENING = "SELECT ";

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
