/** FROM as PostgreSQL prints that of views: relations with their aliases and columns, joins, functions. */
import { quoteIdentifier } from "../../../query/expr/print.js";
import { FLOAT4 } from "../../../values/values.js";
import type {
  AliasNode,
  ColumnSpec,
  ExprNode,
  FromFunction,
  FromJoin,
  FromNode,
  FromTable,
  SampleNode,
} from "../../parse/ast-query.js";
import { CLAUSE, JOIN } from "./layout.js";
import type { NotedItem } from "./notes.js";
import { NotPrinted, type PrintContext, type RelationOfNow } from "./print-context.js";
import type { ExpressionPrinter } from "./print-expression.js";

export class FromPrinter {
  constructor(
    private readonly context: PrintContext,
    private readonly exprs: ExpressionPrinter,
  ) {}

  private readonly aliases = new Map<FromNode, string>();

  /** The whole clause. */
  list(nodes: readonly FromNode[]): string {
    const { layout } = this.context;
    return nodes
      .map((node, i) => {
        if (i === 0) return `${layout.clause(" FROM ", 2)}${this.item(node)}`;
        return `, ${layout.nextPart(this.item(node))}`;
      })
      .join("");
  }

  private item(node: FromNode): string {
    switch (node.kind) {
      case "table":
        return this.table(node);
      case "from subquery": {
        const query = this.context.query(node.query, true);
        const [item] = this.context.items(node);
        const alias = this.name(node, item!);
        const columns = node.alias === null || node.alias.columns.length === 0 ? "" : columnList(item!);
        return `${node.lateral ? "LATERAL " : ""}${query} ${alias}${columns}`;
      }
      case "from function":
        return this.functions(node);
      case "join":
        return this.join(node);
      case "graph table":
        throw new NotPrinted("GRAPH_TABLE");
    }
  }

  /** Gives all relations their names, in the order in which they are written. */
  prepare(nodes: readonly FromNode[]): void {
    for (const node of nodes) this.prepareItem(node);
  }

  private prepareItem(node: FromNode): void {
    if (node.kind === "join") {
      this.prepareItem(node.left);
      this.prepareItem(node.right);
      if (node.usingAlias !== null) this.context.aliasFor(node.usingAlias.name);
      if (node.alias === null) return;
    }
    const wanted = node.alias?.name ?? this.ownName(node);
    this.aliases.set(node, this.context.aliasFor(wanted));
  }

  private ownName(node: FromNode): string {
    if (node.kind === "table") return this.relation(node).name;
    return node.kind === "from function" ? (this.context.items(node)[0]!.name ?? "") : "unnamed_subquery";
  }

  /** The relation's name in this query; its columns are named by it from now on. */
  private name(node: FromNode, item: NotedItem, columns: RelationOfNow["columns"] = null): string {
    const alias = this.aliases.get(node)!;
    this.context.levels.at(-1)!.add(item, alias, columns);
    return quoteIdentifier(alias);
  }

  private relation({ name }: FromTable): RelationOfNow {
    const isTable = name.path.length === 1 && this.context.withs.includes(name.path[0]!);
    if (!isTable) return this.context.names.relation(name);
    return { name: name.path[0]!, text: quoteIdentifier(name.path[0]!), columns: null };
  }

  private table(node: FromTable): string {
    const { name, alias, sample } = node;
    const [item] = this.context.items(node);
    const relation = this.relation(node);
    const hasNames = alias !== null && alias.columns.length > 0;
    if (hasNames && relation.columns !== null) throw new NotPrinted("some columns have aliases, some other names now");
    const own = this.name(node, item!, relation.columns);
    const isShown = alias !== null || own !== quoteIdentifier(relation.name);
    const columns = hasNames ? columnList(item!) : "";
    const sampled = sample === null ? "" : this.sample(sample);
    return `${name.only ? "ONLY " : ""}${relation.text}${isShown ? ` ${own}` : ""}${columns}${sampled}`;
  }

  private sample({ method, args, seed }: SampleNode): string {
    const list = args.map((arg) => this.exprs.text(arg, this.exprs.typeOf(arg) === FLOAT4 ? null : FLOAT4, false));
    const repeated = seed === null ? "" : ` REPEATABLE (${this.exprs.text(seed, null, false)})`;
    return ` TABLESAMPLE ${quoteIdentifier(method)} (${list.join(", ")})${repeated}`;
  }

  // ---- functions ----

  private functions(node: FromFunction): string {
    const [item] = this.context.items(node);
    const readsOthers = node.functions.some(({ call }) => this.readsLevel(call));
    const calls = listed(node).map(({ call, columns }) => {
      const text = this.call(call);
      return columns.length === 0 ? text : `${text} AS (${this.columns(columns)})`;
    });
    const isList = calls.length > 1 || (node.functions[0]!.columns.length > 0 && node.ordinality);
    const rows = isList ? this.rowsFrom(node, calls) : this.alone(node, calls[0]!);
    const lateral = node.lateral || readsOthers ? "LATERAL " : "";
    const ordinality = node.ordinality ? " WITH ORDINALITY" : "";
    const name = this.name(node, item!);
    const specs = node.columns.length > 0 ? node.columns : isList ? [] : node.functions[0]!.columns;
    const columns = specs.length > 0 ? `(${this.columns(specs)})` : columnList(item!);
    return `${lateral}${rows}${ordinality} ${name}${columns}`;
  }

  private alone(node: FromFunction, text: string): string {
    const [first] = node.functions;
    if (first!.columns.length === 0) return text;
    return text.slice(0, text.lastIndexOf(" AS ("));
  }

  /** `unnest` of several arrays is what the standard has for it. */
  private rowsFrom(node: FromFunction, calls: readonly string[]): string {
    const isUnnest = listed(node).every(
      ({ call, columns }) =>
        call.kind === "call" && call.path.at(-1) === "unnest" && call.args.length === 1 && columns.length === 0,
    );
    if (!isUnnest) return `ROWS FROM(${calls.join(", ")})`;
    return `UNNEST(${calls.map((call) => call.slice("unnest(".length, -1)).join(", ")})`;
  }

  private call(call: ExprNode): string {
    if (LIKE_CALLS.has(call.kind)) return this.exprs.text(call);
    if (call.kind === "cast")
      return `CAST(${this.exprs.text(call.input, null, false)} AS ${this.exprs.typeText(call.type)})`;
    if (call.kind !== "call") throw new NotPrinted("a function in FROM that is no call");
    for (const { value } of call.args) this.context.bound(value);
    return this.exprs.calls.call(call).text;
  }

  /** Whether a column of this query stands in it: the relations before it. */
  private readsLevel(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    const { kind } = value as { readonly kind?: string };
    if (kind === "column") {
      const column = this.context.notes.columns.get(value);
      return column?.expr.kind === "column" && this.context.levels.at(-1)!.column(column.expr.id) !== undefined;
    }
    return Object.values(value).some((part) => this.readsLevel(part));
  }

  private columns(specs: readonly ColumnSpec[]): string {
    return specs.map(({ name, type }) => `${quoteIdentifier(name)} ${this.exprs.typeText(type)}`).join(", ");
  }

  // ---- joins ----

  private join(node: FromJoin): string {
    const { layout } = this.context;
    const isClosed = !layout.isPretty || node.alias !== null;
    const left = this.item(node.left);
    const isCross = node.condition === null && this.usingOf(node).length === 0;
    const type = node.type === "cross" ? "inner" : node.type;
    const word = type === "inner" ? (isCross ? "CROSS JOIN" : "JOIN") : `${type.toUpperCase()} JOIN`;
    const line = layout.line(` ${word} `, -CLAUSE, CLAUSE, JOIN);
    const right = this.item(node.right);
    const isNested = layout.isPretty && node.right.kind === "join" && node.right.alias === null;
    const condition = this.condition(node, type);
    const text = `${left}${line}${isNested ? `(${right})` : right}${condition}`;
    const joined = isClosed ? `(${text})` : text;
    return node.alias === null ? joined : `${joined} ${this.joinAlias(node, node.alias)}`;
  }

  private condition(node: FromJoin, type: string): string {
    const using = this.usingOf(node);
    if (using.length > 0) {
      const alias = node.usingAlias === null ? "" : ` AS ${quoteIdentifier(node.usingAlias.name)}`;
      return ` USING (${using.map(quoteIdentifier).join(", ")})${alias}`;
    }
    if (node.condition === null) return type === "inner" ? "" : " ON TRUE";
    return ` ON ${this.exprs.wrapped(this.exprs.text(node.condition, null, false))}`;
  }

  /** Names of the columns that the sides have in common, if they are joined by them. */
  private usingOf(node: FromJoin): readonly string[] {
    if ((node.natural || node.using !== null) && this.isRenamed(node)) {
      throw new NotPrinted("a join by columns that have other names now");
    }
    if (!node.natural) return node.using ?? [];
    const visible = (side: FromNode) =>
      this.context.items(side).flatMap((item) => (item.unqualified ? item.columns.map(({ name }) => name) : []));
    const right = new Set(visible(node.right));
    return [...new Set(visible(node.left))].filter((name) => right.has(name));
  }

  private isRenamed(node: FromNode): boolean {
    if (node.kind === "join") return this.isRenamed(node.left) || this.isRenamed(node.right);
    return node.kind === "table" && this.relation(node).columns !== null;
  }

  private joinAlias(node: FromJoin, alias: AliasNode): string {
    const item = this.context.items(node).find(({ name }) => name === alias.name);
    if (item === undefined) throw new NotPrinted("a join whose alias is not known");
    return `${this.name(node, item)}${alias.columns.length === 0 ? "" : columnList(item)}`;
  }
}

/** With `unnest` of several arrays as one of each. */
function listed({ functions }: FromFunction): FromFunction["functions"] {
  return functions.flatMap((each) => {
    const { call } = each;
    if (call.kind !== "call" || call.path.at(-1) !== "unnest" || call.args.length < 2) return [each];
    return call.args.map((arg) => ({ ...each, call: { ...call, args: [arg] } }));
  });
}

/** What is written like a call, or by its name alone. */
const LIKE_CALLS: ReadonlySet<ExprNode["kind"]> = new Set([
  "value function",
  "coalesce",
  "greatest",
  "least",
  "nullif",
]);

const columnList = ({ columns }: NotedItem) => `(${columns.map(({ name }) => quoteIdentifier(name)).join(", ")})`;
