/**
 * Which queries of `CALL (row) { … } IN TRANSACTIONS` may run for all rows at once, clause by clause, instead of for
 * one row after the other: those that only write, where no row can tell what those before it wrote.
 *
 *   CREATE (n:Label {p: row.p})-[:TYPE]->(imported) SET n.q = row.q
 *   MERGE (n:Label {p: row.p}) ON CREATE SET n.q = row.q SET n.r = row.r
 */
import type { Clause, PathPattern, SetItem, SubqueryCallClause } from "../cypher/parse/ast.js";

interface ScopeVariable {
  readonly name: string;
  readonly isNode: boolean;
}

/** What expressions have that may look at the graph. */
const LOOKING: ReadonlySet<unknown> = new Set(["subquery", "pattern"]);

/** Its clauses; null: it has to run for each row. `scope`: all variables around it. */
export function clausesAtOnce(call: SubqueryCallClause, scope: readonly ScopeVariable[]): readonly Clause[] | null {
  const [part, another] = call.query.parts;
  if (another !== undefined || call.optional || part!.finish === true) return null;
  const isImported = ({ name }: ScopeVariable) =>
    call.imports === "*" || call.imports.some((variable) => variable.name === name);
  const names = new Names(scope, scope.filter(isImported));
  const { clauses } = part!;
  const set = clauses.at(-1)?.kind === "set" ? clauses.at(-1)! : null;
  const writing = set === null ? clauses : clauses.slice(0, -1);
  const items = set?.kind === "set" ? set.items : [];
  const [first] = writing;
  if (first?.kind === "merge" && writing.length === 1) {
    const { pattern, onCreate, onMatch } = first;
    const isFit =
      names.fitsPattern(pattern) && [...onCreate, ...onMatch, ...items].every((item) => names.fitsItem(item));
    return isFit && !setsWhatIsSought([...onCreate, ...onMatch, ...items], pattern) ? clauses : null;
  }
  const areCreated = writing.every(
    (clause) => clause.kind === "create" && clause.patterns.every((pattern) => names.fitsPattern(pattern)),
  );
  return writing.length > 0 && areCreated && items.every((item) => names.fitsItem(item)) ? clauses : null;
}

/** A later row may find what an earlier one has set. */
function setsWhatIsSought(items: readonly SetItem[], { start, steps }: PathPattern): boolean {
  const parts = [start, ...steps.flatMap(({ relationship, node }) => [relationship, node])];
  const sought = parts.flatMap(({ properties }) => (properties?.kind === "map" ? properties.entries : []));
  if (parts.some(({ properties }) => properties !== null && properties.kind !== "map")) return true;
  return items.some(
    (item) =>
      item.kind !== "set-property" ||
      item.target.kind !== "property" ||
      sought.some(({ key }) => item.target.kind === "property" && key === item.target.name),
  );
}

class Names {
  private readonly around: ReadonlySet<string>;
  /** Imported ones whose values no row changes. */
  private readonly values: ReadonlySet<string>;
  private readonly nodes: ReadonlySet<string>;
  private readonly made = new Set<string>();

  constructor(scope: readonly ScopeVariable[], imported: readonly ScopeVariable[]) {
    this.around = new Set(scope.map(({ name }) => name));
    this.values = new Set(imported.flatMap(({ name, isNode }) => (isNode ? [] : [name])));
    this.nodes = new Set(imported.flatMap(({ name, isNode }) => (isNode ? [name] : [])));
  }

  /** What it names is new or an imported node, and the rest of it are values. */
  fitsPattern({ variable, search, start, steps, where }: PathPattern): boolean {
    if (variable !== null || search !== "all" || where !== undefined) return false;
    const parts = [start, ...steps.flatMap(({ relationship, node }) => [relationship, node])];
    return parts.every((part) => {
      if (part.variable !== null && !this.isEntity(part.variable.name)) return false;
      const { variable: _, ...rest } = part;
      return this.areValues(rest);
    });
  }

  private isEntity(name: string): boolean {
    if (this.nodes.has(name) || this.made.has(name)) return true;
    if (this.around.has(name)) return false;
    this.made.add(name);
    return true;
  }

  /** It changes what the query has made, to values. */
  fitsItem(item: SetItem): boolean {
    if (item.kind === "labels") return this.made.has(item.variable.name) && this.areValues(item.dynamic);
    if (!this.areValues(item.value)) return false;
    if (item.kind !== "set-property") return this.made.has(item.variable.name);
    const { target } = item.target;
    if (target.kind !== "variable" || !this.made.has(target.name)) return false;
    return item.target.kind === "property" || this.areValues(item.target.index);
  }

  private areValues(tree: unknown): boolean {
    if (typeof tree !== "object" || tree === null) return true;
    if ("kind" in tree) {
      if (LOOKING.has(tree.kind)) return false;
      if (tree.kind === "variable" && "name" in tree) return this.values.has(String(tree.name));
    }
    return Object.values(tree).every((part) => this.areValues(part));
  }
}
