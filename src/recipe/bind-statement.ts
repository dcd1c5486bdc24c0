/**
 * Turns a recipe's statement with `$name`s into one that the database accepts, with its values as parameters. Values
 * never become text of the statement; only an `identifier` does, as a quoted name. Pure; called when a recipe is read
 * (which names a statement uses) and when a step runs.
 */
import { tokenize as tokenizeCypher } from "../cypher/parse/lexer.js";
import { type Edit, sourceMap } from "../sql/parse/source-map.js";
import { tokenize } from "../sql/parse/tokens.js";
import type { ParameterType, Statement } from "./recipe.js";

/** The meaning of a name. */
export interface BoundValue {
  /** "rows": what a step kept. */
  readonly type: ParameterType | "rows";
  readonly items?: string;
  readonly value: unknown;
}

export interface BoundText {
  readonly language: "sql" | "cypher";
  readonly text: string;
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>;
  /** From a position (from 1) in `text` to the one in the recipe's statement. */
  position(position: number): number;
}

interface Use {
  readonly name: string;
  /** UTF-16 indexes of the `$` and behind the name. */
  readonly start: number;
  readonly end: number;
}

/** Types of SQL; of "list" the type of its items. */
const SQL_TYPES: Readonly<Record<Exclude<ParameterType, "list" | "identifier"> | "rows", string>> = {
  text: "text",
  integer: "int4",
  number: "float8",
  boolean: "bool",
  date: "date",
  timestamp: "timestamptz",
  uuid: "uuid",
  json: "jsonb",
  vector: "vector",
  rows: "jsonb",
};

/** Whole numbers are what PostgreSQL takes them for: functions want int4 where that is enough. */
function typeOf(type: keyof typeof SQL_TYPES, value: unknown): string {
  if (type !== "integer") return SQL_TYPES[type];
  const numbers = (Array.isArray(value) ? value : [value]) as readonly (number | null)[];
  return numbers.every((number) => number === null || number === (number | 0)) ? SQL_TYPES.integer : "int8";
}

/** The names that a statement uses, in order; a name may occur more than once. Throws the errors of Cypher's lexer. */
export function namesIn({ sql, cypher }: Statement): readonly string[] {
  return (sql === undefined ? usesInCypher(cypher!) : usesInSql(sql)).map(({ name }) => name);
}

/** Every name must be in `values`. */
export function bindStatement({ sql, cypher }: Statement, values: ReadonlyMap<string, BoundValue>): BoundText {
  return sql === undefined ? bindCypher(cypher!, values) : bindSql(sql, values);
}

function bindSql(sql: string, values: ReadonlyMap<string, BoundValue>): BoundText {
  const params: unknown[] = [];
  const numbers = new Map<string, number>();
  const edits = usesInSql(sql).map(({ name, start, end }): Edit => {
    const { type, items = "text", value } = values.get(name)!;
    if (type === "identifier") return { start, end, text: quoted(value as string, '"') };
    let number = numbers.get(name);
    if (number === undefined) {
      number = params.push(type === "json" && value !== null ? JSON.stringify(value) : value);
      numbers.set(name, number);
    }
    const typeName = type === "list" ? `${typeOf(items as "text", value)}[]` : typeOf(type, value);
    // The type is known whatever the value is.
    return { start, end, text: `($${number}::${typeName})` };
  });
  return { language: "sql", params, ...mapped(sql, edits) };
}

function bindCypher(cypher: string, values: ReadonlyMap<string, BoundValue>): BoundText {
  const params: Record<string, unknown> = {};
  const edits: Edit[] = [];
  for (const { name, start, end } of usesInCypher(cypher)) {
    const { type, value } = values.get(name)!;
    if (type === "identifier") edits.push({ start, end, text: quoted(value as string, "`") });
    else params[name] = value;
  }
  return { language: "cypher", params, ...mapped(cypher, edits) };
}

function mapped(original: string, edits: readonly Edit[]): Pick<BoundText, "text" | "position"> {
  const map = sourceMap(original, edits);
  return { text: map.text, position: (position) => map.position(map.indexOfCharacter(position - 1)) };
}

const quoted = (name: string, mark: string): string => mark + name.replaceAll(mark, mark + mark) + mark;

function usesInSql(sql: string): Use[] {
  const tokens = tokenize(sql);
  const uses: Use[] = [];
  for (let i = 1; i < tokens.length; i++) {
    const [before, word] = [tokens[i - 1]!, tokens[i]!];
    if (before.text !== "$" || word.kind !== "word" || before.end !== word.start) continue;
    uses.push({ name: sql.slice(word.start, word.end), start: before.start, end: word.end });
  }
  return uses;
}

function usesInCypher(cypher: string): Use[] {
  const { kinds, starts, ends } = tokenizeCypher(cypher);
  const uses: Use[] = [];
  for (let i = 0; i < kinds.length; i++) {
    if (kinds[i] !== "parameter") continue;
    const [start, end] = [starts[i]!, ends[i]!];
    const name = cypher.slice(start + 1, end);
    uses.push({ name: name.startsWith("`") ? name.slice(1, -1) : name, start, end });
  }
  return uses;
}
