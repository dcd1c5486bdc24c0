/**
 * Statements that definitions keep as text: queries of views, conditions of policies, bodies of functions. As in
 * stored-expression.ts functions and types stand there by their ids. `*` stands there as the columns that it meant, and
 * what is called by an unnamed function or type gets its name of now, as in PostgreSQL. All else stays as it was
 * written, comments left out.
 */
import type { ColumnPlace, ViewQuery } from "../../catalog/kept-query.js";
import { looksLikeReference, referenceTo } from "../../catalog/object-reference.js";
import { sqlError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import type { FromFunction, NameNode, TargetNode } from "../parse/ast-query.js";
import { sourceMap } from "../parse/source-map.js";
import { type Token, tokenize } from "../parse/tokens.js";
import type { Noted, StarItem } from "./bound-statement.js";
import { outputName } from "./output-name.js";
import { endOfCall, endOfTarget } from "./target-ends.js";

/** A statement's tree that was bound by now, and where it is in the text. */
export interface Bound {
  readonly tree: unknown;
  /** The position, as nodes have it, of the text's first character. */
  readonly origin: number;
}

/** Where `*`, `t.*` or `s.t.*` that begins at a token ends; null: there is none. */
function starAt(tokens: readonly Token[], at: number): number | null {
  const star = tokens[at]!.text === "*" ? at : lastOfName(tokens, at) + 2;
  return tokens[star]?.text === "*" && (star === at || tokens[star - 1]!.text === ".") ? star : null;
}

/** The text to keep. Throws 0A000 for a name that has no place in it. */
export function exactText(text: string, { tree, origin }: Bound, noted: Noted): ExactText {
  const places = sourceMap(text, []);
  const changes = new Changes((position) => places.indexOfCharacter(position - origin), tree);
  changes.collect(tree, noted);
  const tokens = tokenize(text);
  const behind = namesBehind(tokens, changes);
  const kept: ColumnPlace[] = [];
  let sql = "";
  let end = 0;
  for (let i = 0; i < tokens.length; i++) {
    const { start } = tokens[i]!;
    sql += withoutComments(text.slice(end, start));
    const [id, star, place] = [changes.ids.get(start), changes.stars.get(start), changes.own.get(start)];
    const starEnd = starAt(tokens, i);
    // PREDICT and the like stand for a query with a star of which the text has nothing.
    if (star !== undefined && starEnd !== null) {
      i = starEnd;
      star.forEach(({ path, relation }, n) => {
        sql += n === 0 ? "" : ", ";
        sql += path
          .slice(0, -1)
          .map((part) => `${quoteIdentifier(part)}.`)
          .join("");
        if (relation !== undefined) kept.push({ at: sql.length, relation, named: true });
        sql += quoteIdentifier(path.at(-1)!);
      });
    } else {
      const isName = id !== undefined || place !== undefined || changes.columns.has(start);
      const last = isName ? lastOfName(tokens, i) : i;
      const operator = id === undefined ? null : operatorAt(tokens, i);
      if (operator !== null) {
        changes.ids.delete(start);
        sql += `OPERATOR(${referenceTo(id!)}.${operator.name})`;
        i = operator.last;
        end = tokens[i]!.end;
        continue;
      }
      if (id !== undefined) {
        changes.ids.delete(start);
        sql += `${referenceTo(id)}.`;
      } else {
        // Without the schema, which may get another name: the relation goes on having this one.
        if (last - i === 4) i += 2;
        for (; i < last; i++) sql += wordOf(text, tokens[i]!);
        if (place !== undefined) kept.push({ at: sql.length, ...place });
      }
      i = last;
      sql += wordOf(text, tokens[i]!);
    }
    end = tokens[i]!.end;
    sql += behind.get(i) ?? "";
  }
  if (changes.ids.size > 0)
    throw sqlError("0A000", "a definition cannot call a function that is not named in its text");
  return { sql, exact: true, ...(kept.length > 0 && { places: kept }) };
}

type ExactText = Pick<ViewQuery, "sql" | "places"> & { readonly exact: true };

/** One of the columns that `*` means. */
interface StarColumn {
  readonly path: readonly string[];
  /** As in ColumnPlace. */
  readonly relation: number | undefined;
}

/** What becomes of the text, by where nodes begin in it. */
class Changes {
  readonly ids = new Map<number, number>();
  readonly own = new Map<number, Omit<ColumnPlace, "at">>();
  readonly stars = new Map<number, readonly StarColumn[]>();
  /** Columns that are named with the schema of their relation. */
  readonly columns = new Set<number>();
  /** Names of what calls or casts and has none. */
  readonly targets = new Map<number, string>();
  readonly functions = new Map<number, string>();
  private schemas: ReturnType<typeof schemasByRelation> | null = null;

  constructor(
    private readonly indexOf: (position: number) => number,
    private readonly tree: unknown,
  ) {}

  /** Whether relations of several schemas have the name. */
  private isTwice(name: string): boolean {
    this.schemas ??= schemasByRelation(this.tree);
    return (this.schemas.get(name)?.size ?? 0) > 1;
  }

  /** Nodes of the syntax tree are plain objects and arrays. */
  collect(value: unknown, noted: Noted, isTarget = false): void {
    if (typeof value !== "object" || value === null) return;
    const { position = 0 } = value as { readonly position?: number };
    const [id, relation, items] = [noted.named.get(value), noted.own.get(value), noted.stars.get(value)];
    if (id !== undefined) this.ids.set(this.indexOf(position), id);
    if (relation !== undefined) this.own.set(this.indexOf(position), { relation, ...(isTarget && { named: true }) });
    const columns = items && columnsOf(items);
    if (columns) this.stars.set(this.indexOf(position), columns);
    const { kind, path } = value as { readonly kind?: string; readonly path?: readonly string[] };
    if (kind === "column" && path?.length === 3 && !columns && !this.isTwice(path[1]!)) {
      this.columns.add(this.indexOf(position));
    }
    if (kind === "from function") this.function(value as FromFunction, noted);
    const target = "expr" in value && "name" in value && value.name === null ? (value as TargetNode) : null;
    if (target !== null) this.target(target, noted);
    for (const child of Object.values(value)) this.collect(child, noted, child === target?.expr);
  }

  private target({ expr, position }: TargetNode, { named }: Noted): void {
    const name = outputName(expr);
    const isOf = (value: unknown): boolean =>
      typeof value === "object" && value !== null && (named.has(value) || Object.values(value).some(isOf));
    if (name !== "?column?" && position > 0 && isOf(expr)) this.targets.set(this.indexOf(position), name);
  }

  private function({ functions, alias, columns }: FromFunction, { named }: Noted): void {
    const [only, ...others] = functions;
    if (alias !== null || columns.length > 0 || others.length > 0 || only!.columns.length > 0) return;
    const { call } = only!;
    if (call.kind !== "call" || !named.has(call)) return;
    this.functions.set(this.indexOf(call.position), call.path.at(-1)!);
  }
}

/** The schemas with which relations of a name, without an alias, are written in FROM. */
function schemasByRelation(tree: unknown): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const schemas = new Map<string, Set<string | undefined>>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { alias, name } = value as { readonly alias?: unknown; readonly name?: NameNode };
    if (alias === null && typeof name === "object" && name?.path !== undefined) {
      const relation = name.path.at(-1)!;
      const found = schemas.get(relation);
      if (found === undefined) schemas.set(relation, new Set([name.path.at(-2)]));
      else found.add(name.path.at(-2));
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(tree);
  return schemas;
}

/** Null: some could not be told from others by a name. */
function columnsOf(items: readonly StarItem[]): readonly StarColumn[] | null {
  const columns = items.flatMap(({ name, qualifiable, own, columns }) =>
    columns.map((column): StarColumn => {
      return { path: name !== null && qualifiable ? [name, column.name] : [column.name], relation: own };
    }),
  );
  const names = new Set(columns.map(({ path }) => JSON.stringify(path)));
  return columns.length === 0 || names.size < columns.length ? null : columns;
}

/** What to write behind tokens, by their numbers. */
function namesBehind(tokens: readonly Token[], { targets, functions }: Changes): ReadonlyMap<number, string> {
  const behind = new Map<number, string>();
  // RETURN is followed by an expression.
  const isQuery = tokens[0]?.text !== "return";
  tokens.forEach(({ start }, i) => {
    const [target, called] = [targets.get(start), functions.get(start)];
    if (target !== undefined && isQuery) behind.set(endOfTarget(tokens, i), ` AS ${quoteIdentifier(target)}`);
    if (called !== undefined) behind.set(endOfCall(tokens, i), ` AS ${quoteIdentifier(called)}`);
  });
  return behind;
}

/**
 * An operator, by its symbol or as OPERATOR(…), and its last token; null: a name begins here. Throws 0A000 for a symbol
 * that binds its operands otherwise than OPERATOR() does.
 */
function operatorAt(tokens: readonly Token[], at: number): { readonly name: string; readonly last: number } | null {
  const isWritten = tokens[at]!.text === "operator" && tokens[at + 1]?.text === "(";
  let first = isWritten ? at + 2 : at;
  if (isWritten) while (isName(tokens[first]) && tokens[first + 1]?.text === ".") first += 2;
  let last = first;
  while (isSymbol(tokens[last + 1]) && tokens[last + 1]!.start === tokens[last]!.end) last++;
  if (!isSymbol(tokens[first])) return null;
  const name = tokens
    .slice(first, last + 1)
    .map(({ text }) => text)
    .join("");
  if (isWritten) return { name, last: last + 1 };
  if (!BINDS_OTHERWISE.has(name)) return { name, last };
  throw sqlError("0A000", `a definition cannot use the operator ${name}, which a statement made, by its symbol alone`, {
    hint: `Write OPERATOR(schema.${name}), with parentheses around its operands.`,
  });
}

const isSymbol = (token: Token | undefined) => token !== undefined && /^[-+*/<>=~!@#%^&|`?]$/.test(token.text);

const BINDS_OTHERWISE: ReadonlySet<string> = new Set("+ - * / % ^ < > = <= >= <> !=".split(" "));

function lastOfName(tokens: readonly Token[], first: number): number {
  let last = first;
  while (tokens[last + 1]?.text === "." && isName(tokens[last + 2])) last += 2;
  return last;
}

const isName = (token: Token | undefined) =>
  token !== undefined && (token.kind === "word" || token.kind === "quoted" || token.kind === "backtick");

function wordOf(text: string, { kind, start, end }: Token): string {
  const word = text.slice(start, end);
  return kind === "word" && looksLikeReference(word) ? `"${word.toLowerCase()}"` : word;
}

const withoutComments = (blank: string) => (/--|\/\*/.test(blank) ? (blank.includes("\n") ? "\n" : " ") : blank);
