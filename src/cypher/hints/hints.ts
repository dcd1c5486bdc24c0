/**
 * What a statement's text tells about likely mistakes in it: patterns that are not connected, searches without a bound,
 * what is deprecated, and the names that it expects the graph to have. Whether the graph has them, whoever asks finds
 * out. Called by features/bolt for the notifications of Neo4j's drivers.
 */
import type { LabelExpr, MatchClause, PathPattern, PropertyAccess, SubqueryCallClause } from "../parse/ast.js";
import type { Statement } from "../parse/statement-ast.js";

export interface NameAt {
  readonly name: string;
  readonly position: number;
}

export type Note =
  /** `apart`: variables of the patterns that nothing joins to the first one. */
  | { readonly kind: "cartesian product"; readonly patterns: string; readonly apart: string; readonly position: number }
  | { readonly kind: "unbounded search"; readonly pattern: string; readonly position: number }
  | { readonly kind: "deprecated id" | "deprecated import"; readonly position: number };

export interface Hints {
  readonly notes: readonly Note[];
  readonly labels: readonly NameAt[];
  readonly types: readonly NameAt[];
  readonly keys: readonly NameAt[];
}

/** What has a kind, of the syntax tree's nodes. */
interface Kinded {
  readonly kind: string;
  readonly position: number;
}

const isKinded = (node: object): node is Kinded => "kind" in node && typeof node.kind === "string";

export function hintsOf({ body }: Statement, text: string): Hints {
  const reader = new HintReader(text);
  if (body.kind === "query") reader.read(body);
  return reader;
}

/** Whose variables are no nodes or relationships of a pattern; a field of YIELD has no kind. */
const COMPUTING = new Set(["unwind", "foreach", "list-comprehension", "quantifier", "reduce", "path"]);

class HintReader implements Hints {
  readonly notes: Note[] = [];
  readonly labels: NameAt[] = [];
  readonly types: NameAt[] = [];
  readonly keys: NameAt[] = [];
  /** Variables of patterns, by what they stand for. */
  private readonly entities = new Map<string, "node" | "relationship">();
  /** Where each variable comes first. */
  private readonly begins = new Map<string, number>();
  private readonly tests: { readonly target: string; readonly labels: LabelExpr }[] = [];
  private readonly reads: { readonly target: string; readonly key: NameAt }[] = [];

  constructor(private readonly text: string) {}

  read(query: object): void {
    this.meet(query);
    this.look(query, false);
    for (const { target, labels } of this.tests) {
      namesIn(labels, this.entities.get(target) === "relationship" ? this.types : this.labels);
    }
    for (const { target, key } of this.reads) if (this.entities.has(target)) this.keys.push(key);
  }

  /** First all variables. One that is computed somewhere is taken for no entity. */
  private meet(query: object): void {
    const computed = new Set<string>();
    const visit = (part: unknown): void => {
      if (typeof part !== "object" || part === null) return;
      const { kind, variable, alias, expr } = part as {
        kind?: string;
        variable?: NameAt | null;
        alias?: NameAt | null;
        expr?: { kind: string };
      };
      if (kind === "variable") this.seen(part as NameAt);
      if (variable != null) {
        if (kind === "node" || kind === "relationship") this.entities.set(variable.name, kind);
        else if (kind === undefined || COMPUTING.has(kind)) computed.add(variable.name);
      }
      if (alias != null && expr?.kind !== "variable") computed.add(alias.name);
      for (const inner of Object.values(part)) visit(inner);
    };
    visit(query);
    for (const name of computed) this.entities.delete(name);
  }

  private seen({ name, position }: NameAt): void {
    this.begins.set(name, Math.min(position, this.begins.get(name) ?? position));
  }

  /** `writes`: labels, types and keys are made here. */
  private look(node: unknown, writes: boolean): void {
    if (typeof node !== "object" || node === null) return;
    const makes = isKinded(node) ? this.lookAt(node, writes) : writes;
    for (const part of Object.values(node)) this.look(part, makes);
  }

  private lookAt(node: Kinded, writes: boolean): boolean {
    // biome-ignore lint/suspicious/noExplicitAny: the kind tells what it is
    const each = node as any;
    switch (node.kind) {
      case "match":
        this.apart(each);
        return false;
      case "create":
      case "merge":
      case "set":
      case "remove":
        return true;
      case "node":
      case "relationship":
        if (!writes) this.pattern(each);
        return writes;
      case "path":
        this.search(each);
        return writes;
      case "property":
        if (!writes) this.property(each);
        return writes;
      case "label-test":
        if (each.target.kind === "variable") this.tests.push({ target: each.target.name, labels: each.labels });
        return writes;
      case "call":
        if (each.name?.toLowerCase() === "id") this.notes.push({ kind: "deprecated id", position: node.position });
        return writes;
      case "subquery-call":
        this.imports(each);
        return writes;
      default:
        return writes;
    }
  }

  private pattern(part: {
    kind: string;
    labels?: LabelExpr | null;
    types?: LabelExpr | null;
    properties: unknown;
  }): void {
    const { kind, labels, types, properties } = part;
    if (kind === "node" && labels != null) namesIn(labels, this.labels);
    if (kind === "relationship" && types != null) namesIn(types, this.types);
    const { entries = [] } = (properties ?? {}) as { entries?: readonly { key: string; position: number }[] };
    for (const { key, position } of entries) this.keys.push({ name: key, position });
  }

  private property({ target, name, position }: PropertyAccess): void {
    if (target?.kind === "variable") this.reads.push({ target: target.name, key: { name, position: position + 1 } });
  }

  private imports({ imports, keeps, position }: SubqueryCallClause): void {
    const isOld = !keeps && imports !== "*" && imports.length > 0;
    if (isOld) this.notes.push({ kind: "deprecated import", position });
  }

  /** Only searches for shortest paths: others end when their limit does. */
  private search({ search, steps, position }: PathPattern): void {
    if (search !== "shortest" && search !== "all-shortest") return;
    const open = steps.find(({ relationship: { length } }) => length !== null && length.max === null);
    if (open === undefined) return;
    const at = open.relationship.position;
    this.notes.push({ kind: "unbounded search", pattern: this.written(at), position: position || at });
  }

  /** Up to the end of the pattern's parentheses and brackets. */
  private written(from: number): string {
    const end = this.text.indexOf("]", from);
    return this.text.slice(from, end < 0 ? from + 20 : end + 1);
  }

  /** Patterns that share a variable are connected, and so are those with variables from before. */
  private apart({ patterns, position }: MatchClause): void {
    if (patterns.length < 2) return;
    const groups: Set<string>[] = [];
    for (const pattern of patterns) {
      const names = new Set(variablesIn(pattern).map((name) => (this.begins.get(name)! < position ? "" : name)));
      const joined = groups.filter((group) => [...names].some((name) => group.has(name)));
      const rest = groups.filter((group) => !joined.includes(group));
      groups.splice(0, groups.length, ...rest, new Set([...joined.flatMap((group) => [...group]), ...names]));
    }
    if (groups.length < 2) return;
    const shown = (names: Iterable<string>) => [...names].filter((name) => name !== "").map((name) => `(${name})`);
    const [first, ...others] = groups as [Set<string>, ...Set<string>[]];
    const apart = others.flatMap((group) => shown(group));
    const all = [...shown(first), ...apart].join(", ");
    this.notes.push({ kind: "cartesian product", patterns: all, apart: apart.join(", "), position });
  }
}

/** Without those of relationships, which join nothing. */
function variablesIn({ start, steps }: PathPattern): string[] {
  const nodes = [start, ...steps.map(({ node }) => node)];
  return nodes.flatMap(({ variable }) => (variable === null ? [] : [variable.name]));
}

function namesIn(labels: LabelExpr, into: NameAt[]): void {
  switch (labels.kind) {
    case "label":
      into.push({ name: labels.name, position: labels.position });
      return;
    case "not-label":
      namesIn(labels.operand, into);
      return;
    case "and-labels":
    case "or-labels":
      for (const operand of labels.operands) namesIn(operand, into);
  }
}
