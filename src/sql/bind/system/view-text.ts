/**
 * Texts that are kept with definitions as pg_get_viewdef and its kin show them: as written, with the names of now and
 * the schemas that the search path does not give. Relations of FROM go on having the names that the text has for them
 * and for their columns, by an alias; columns of rows that are changed have no alias, and are named anew.
 */

import { DEFAULT_SCHEMA } from "../../../catalog/catalog-view.js";
import type { ViewQuery, ViewRelation } from "../../../catalog/kept-query.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import type { AssignmentTarget, ConflictTarget, TargetTable } from "../../parse/ast.js";
import type { FromTable, NameNode, QueryNode } from "../../parse/ast-query.js";
import { parseSql } from "../../parse/parse.js";
import { type Token, tokenize } from "../../parse/tokens.js";
import { outputName } from "../output-name.js";
import { endOfTarget } from "../target-ends.js";
import { catalogIndex } from "./catalog-index.js";
import { isRelationVisible, shownNames } from "./object-names.js";
import { printedQuery } from "./query-printing.js";
import { qualified, queryText } from "./relation-facts.js";
import type { DefinedView, SystemView } from "./system-view.js";

interface Edit {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

/** Where there is no search path, names come without the schema where that is public. */
type Shown = SystemView | DefinedView;

/**
 * As PostgreSQL prints it, or as it was written where that is not printed yet. `columns`: those of the view, or the
 * materialized view.
 */
export function viewText(
  view: Shown,
  query: ViewQuery,
  given: readonly { readonly name: string }[],
  isPretty = false,
): string {
  const columns = given.map(({ name }) => name);
  const { catalog } = view;
  const { searchPath, timeZone } = "searchPath" in view ? view : { searchPath: [DEFAULT_SCHEMA], timeZone: "UTC" };
  const printed = printedQuery({ query, catalog, searchPath, timeZone, columns, isPretty });
  if (printed !== null) return `${printed};`;
  const { node } = parseSql(query.sql)[0]!;
  return withRecursion(queryText(keptText(view, query, node, columns)), query.sql, node);
}

const RECURSIVE = /^\s*create\s+(?:or\s+replace\s+)?(?:(?:local\s+|global\s+)?temp(?:orary)?\s+)?recursive\s+view\b/i;

/** CREATE RECURSIVE VIEW writes the query of a WITH, which is the whole of the view's. */
function withRecursion(text: string, sql: string, node: unknown): string {
  const [table] = (node as { readonly query?: QueryNode }).query?.with?.tables ?? [];
  if (table === undefined || !RECURSIVE.test(sql)) return text;
  const [name, columns] = [quoteIdentifier(table.name), table.columns.map(quoteIdentifier).join(", ")];
  return `WITH RECURSIVE ${name}(${columns}) AS (${text.replace(/;$/, "")}) SELECT ${columns} FROM ${name};`;
}

/** A text that is kept with a definition, with the names of now. */
export function keptText(view: Shown, query: ViewQuery, node: unknown, outputs: readonly string[] = []): string {
  const names = new CurrentNames(view, query, node);
  const edits = [...names.edits(), ...names.outputs(outputs)].sort((a, b) => b.at - a.at);
  const written = edits.reduce(
    (text, { at, length, text: name }) => text.slice(0, at) + name + text.slice(at + length),
    query.sql,
  );
  return shownNames(view, written);
}

/** A relation under the names that the text has, and as it is now. */
interface Known {
  readonly then: ViewRelation;
  readonly schema: string;
  readonly name: string;
  readonly oid: number;
  /** In their order of now. */
  readonly columns: readonly { readonly id: number; readonly name: string }[];
}

class CurrentNames {
  private readonly tokens: readonly Token[];
  private readonly withs: ReadonlySet<string>;

  constructor(
    private readonly view: Shown,
    private readonly query: ViewQuery,
    private readonly node: unknown,
  ) {
    this.tokens = tokenize(query.sql);
    this.withs = new Set(commonTablesIn(node));
  }

  *edits(): Iterable<Edit> {
    for (const place of this.query.places ?? []) {
      const known = this.known(({ id }) => id === place.relation);
      if (known !== null) yield* this.columnAt(place.at, known, place.named);
    }
    for (const part of partsOf(this.node)) {
      if (part.kind === "create rule") yield* this.owner(part);
      if (part.alias !== undefined && isName(part.name)) yield* this.relation(part as Named);
      if (isChanging(part)) yield* this.targets(part);
    }
  }

  /** What is selected has the names of the view's columns. */
  *outputs(names: readonly string[]): Iterable<Edit> {
    let body = (this.node as { readonly query?: QueryNode }).query?.body;
    while (body?.kind === "set operation") body = body.left.body;
    if (body?.kind !== "select" || body.targets.length !== names.length) return;
    for (const [i, { name, expr, position }] of body.targets.entries()) {
      const wanted = names[i]!;
      if ((name ?? outputName(expr)) === wanted) continue;
      const first = this.tokens.findIndex(({ start }) => start === this.startOf(position));
      if (first < 0) continue;
      const last = this.tokens[endOfTarget(this.tokens, first)]!;
      if (name !== null) yield replaced(last, last, quoteIdentifier(wanted));
      else yield { at: last.end, length: 0, text: ` AS ${quoteIdentifier(wanted)}` };
    }
  }

  private known(isIt: (relation: ViewRelation) => boolean): Known | null {
    const then = this.query.relations.find(isIt);
    const { catalog } = this.view;
    const oid = then && oidOfId(then.id);
    const now = oid === undefined ? undefined : catalogIndex(catalog).relations.get(oid);
    if (then === undefined || now === undefined) return null;
    const table = catalog.tableById(then.id);
    const viewed = catalog.views().find(({ id }) => id === then.id);
    const columns = table?.columns ?? viewed?.columns.map(({ name }, id) => ({ id, name })) ?? [];
    return { then, schema: now.schema, name: now.name, oid: now.oid, columns };
  }

  private named({ path }: NameNode): Known | null {
    const name = path.at(-1)!;
    const schema = path.length > 1 ? path.at(-2) : undefined;
    if (schema === undefined && this.withs.has(name)) return null;
    return this.known((relation) => relation.name === name && (schema === undefined || relation.schema === schema));
  }

  /** The relation that a rule belongs to. */
  private *owner(part: Part): Iterable<Edit> {
    const name = part.relation as NameNode;
    const known = this.named(name);
    if (known === null) return;
    const [first, last] = this.nameAt(name.position);
    if (last !== null) yield replaced(first!, last, qualified(known));
  }

  private *relation({ kind, name, alias, position = 0 }: Named): Iterable<Edit> {
    const known = this.named(name);
    const [first, last, next] = this.nameAt(name.position > 0 ? name.position : position);
    if (known === null || last === null) return;
    const isFrom = kind === "table";
    const written = name.path.at(-1)!;
    const columns = isFrom ? this.columnAliases(known) : null;
    const isSame = known.name === written && this.isShownAs(name, known);
    const shown = this.isVisible(known) ? quoteIdentifier(known.name) : qualified(known);
    const named =
      alias === null && (known.name !== written || columns !== null) ? ` AS ${quoteIdentifier(written)}` : "";
    if (!isSame)
      yield replaced(first!, last, name.path.length > 1 || !this.isVisible(known) ? qualified(known) : shown);
    if (alias === null) {
      const listed = columns === null ? "" : `(${columns.join(", ")})`;
      // `t *` means the same as `t`.
      if (named !== "") yield { at: last.end, length: 0, text: `${named}${listed}` };
      return;
    }
    if (columns === null) return;
    const at = this.tokens[next!]?.text === "as" ? next! + 1 : next!;
    const open = this.tokens[at + 1];
    if (alias.columns.length === 0) {
      yield { at: this.tokens[at]!.end, length: 0, text: `(${columns.join(", ")})` };
    } else if (open?.text === "(" && alias.columns.length < columns.length) {
      const close = this.tokens.find(
        ({ text, start, depth }) => text === ")" && start > open.start && depth === open.depth,
      )!;
      yield { at: close.start, length: 0, text: `, ${columns.slice(alias.columns.length).join(", ")}` };
    }
  }

  private isVisible({ oid, schema }: Known): boolean {
    return "searchPath" in this.view ? isRelationVisible(this.view, oid) === true : schema === "public";
  }

  private isShownAs({ path }: NameNode, known: Known): boolean {
    return path.length > 1 ? path.at(-2) === known.schema : this.isVisible(known);
  }

  /** Names for all columns of now, as the text has them; null: none needs one. */
  private columnAliases({ then, columns }: Known): readonly string[] | null {
    const names = new Map(then.columns.map(({ id, name }) => [id, name]));
    const isRenamed = columns.some(({ id, name }) => names.has(id) && names.get(id) !== name);
    const words = new Set(this.tokens.map(({ text }) => text.replace(/^"(.*)"$/s, "$1")));
    // What came later must not be taken for another relation's.
    const isMistaken = columns.some(({ id, name }) => !names.has(id) && (words.has(name) || words.has("natural")));
    if (!isRenamed && !isMistaken) return null;
    const taken = new Set([...words, ...names.values()]);
    return columns.map(({ id, name }) => {
      let own = names.get(id) ?? name;
      for (let n = 1; !names.has(id) && taken.has(own); n++) own = `${name}_${n}`;
      taken.add(own);
      return quoteIdentifier(own);
    });
  }

  /** Columns that INSERT, UPDATE and MERGE give values, and those of ON CONFLICT. */
  private *targets(part: Changing): Iterable<Edit> {
    const known = this.named(part.table.name);
    if (known === null) return;
    const { clauses = [], onConflict } = part;
    const given = [part, ...clauses, onConflict].flatMap((each) => [
      ...(each?.columns ?? []),
      ...(each?.assignments ?? []).flatMap(({ targets }) => targets),
    ]);
    for (const { position } of given) yield* this.columnAt(this.startOf(position), known);
    const { position = 0, elements = [] } = onConflict?.target ?? {};
    if (elements.length === 0) return;
    const open = this.tokens.findIndex(({ start }) => start === this.startOf(position));
    const { depth } = this.tokens[open]!;
    for (let i = open + 1; this.tokens[i]!.text !== ")" || this.tokens[i]!.depth > depth; i++) {
      const isKey = this.tokens[i]!.depth === depth && /^[(,]$/.test(this.tokens[i - 1]!.text);
      if (isKey) yield* this.columnAt(this.tokens[i]!.start, known);
    }
  }

  private *columnAt(at: number, { then, columns }: Known, isNamed = false): Iterable<Edit> {
    const token = this.tokens.find(({ start }) => start === at);
    if (token === undefined) return;
    const written = token.text.startsWith('"') ? token.text.slice(1, -1).replaceAll('""', '"') : token.text;
    const id = then.columns.find(({ name }) => name === written)?.id;
    const now = columns.find((column) => column.id === id)?.name;
    yield* this.ownerBefore(at, then);
    if (now === undefined || now === written) return;
    const name = isNamed ? ` AS ${quoteIdentifier(written)}` : "";
    yield replaced(token, token, `${quoteIdentifier(now)}${name}`);
  }

  /** The name of a policy's table before that of a column: there is no alias for it. */
  private *ownerBefore(at: number, then: ViewRelation): Iterable<Edit> {
    const { kind } = this.node as { readonly kind?: string };
    const i = this.tokens.findIndex(({ start }) => start === at);
    const owner = this.tokens[i - 2];
    const now = this.known((relation) => relation === then)!;
    if (kind?.endsWith("policy") !== true || this.tokens[i - 1]?.text !== "." || owner === undefined) return;
    if (now.name !== then.name) yield replaced(owner, owner, quoteIdentifier(now.name));
  }

  /** UTF-16 index of a position in nodes. */
  private startOf(position: number): number {
    return [...this.query.sql].slice(0, position - 1).join("").length;
  }

  /** The tokens of a name: its first and last, and the number of the next one. */
  private nameAt(position: number): [Token | null, Token | null, number | null] {
    const at = this.startOf(position);
    const first = this.tokens.findIndex(({ start }) => start === at);
    if (position <= 0 || first < 0) return [null, null, null];
    let last = first;
    while (this.tokens[last + 1]?.text === "." && this.tokens[last + 2] !== undefined) last += 2;
    return [this.tokens[first]!, this.tokens[last]!, last + 1];
  }
}

function replaced(first: Token, last: Token, text: string): Edit {
  return { at: first.start, length: last.end - first.start, text };
}

type Part = Readonly<Record<string, unknown>>;
type Named = Pick<FromTable, "name" | "alias"> & { readonly kind?: string; readonly position?: number };

interface Assigning {
  readonly columns?: readonly AssignmentTarget[] | null;
  readonly assignments?: readonly { readonly targets: readonly AssignmentTarget[] }[];
}

interface Changing extends Assigning {
  readonly kind: string;
  readonly table: TargetTable;
  readonly clauses?: readonly Assigning[];
  readonly onConflict?: (Assigning & { readonly target: ConflictTarget | null }) | null;
}

const isName = (value: unknown): value is NameNode => typeof value === "object" && value !== null && "path" in value;

const isChanging = (part: object): part is Changing =>
  "kind" in part && /^(?:insert|update|delete|merge)$/.test(part.kind as string);

/** Nodes of the tree, at any depth. */
function* partsOf(node: unknown): Iterable<Part> {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) yield node as Part;
  for (const part of Object.values(node)) yield* partsOf(part);
}

/** Names that WITH gives to queries. */
function* commonTablesIn(node: unknown): Iterable<string> {
  for (const { query, name } of partsOf(node)) if (query !== undefined && typeof name === "string") yield name;
}
