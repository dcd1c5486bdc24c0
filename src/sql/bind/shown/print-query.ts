/** Queries as PostgreSQL prints those of views: WITH, set operations, SELECT, VALUES. FROM: print-from.ts. */
import { commonType } from "../../../query/expr/coercion.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import type { SqlType } from "../../../values/values.js";
import type {
  CommonTableNode,
  CycleNode,
  ExprNode,
  GroupingElement,
  QueryNode,
  SearchNode,
  SelectBody,
  SetOperationBody,
  SortNode,
  TargetNode,
  ValuesBody,
  WithNode,
} from "../../parse/ast-query.js";
import type { Binding } from "../binding.js";
import { outputName } from "../output-name.js";
import { CLAUSE, type Layout } from "./layout.js";
import type { BindingNotes } from "./notes.js";
import { Level, type Names, NotPrinted, PrintContext } from "./print-context.js";
import { ExpressionPrinter } from "./print-expression.js";
import { FromPrinter } from "./print-from.js";

/** One column of a select list. */
interface Target {
  readonly name: string;
  /** Null: a column that `*` stands for. */
  readonly expr: ExprNode | null;
  /** The text and the name that it has by itself, null: none. */
  print(): { readonly text: string; readonly own: string | null };
}

/** How the query's columns are called outside. */
interface Naming {
  readonly names: readonly string[] | null;
  /** Somebody may name the columns. */
  readonly isNamed: boolean;
}

export class QueryPrinter {
  readonly context: PrintContext;
  private readonly exprs: ExpressionPrinter;
  private readonly from: FromPrinter;

  constructor(
    notes: BindingNotes,
    functionIds: Pick<WeakMap<object, number>, "get">,
    names: Names,
    private readonly layout: Layout,
    types: Binding,
  ) {
    const inside = (query: QueryNode, isNamed: boolean) => `(${this.query(query, { names: null, isNamed })})`;
    this.context = new PrintContext(notes, functionIds, names, layout, inside);
    this.exprs = new ExpressionPrinter(this.context, types);
    this.from = new FromPrinter(this.context, this.exprs);
  }

  /** The whole of a view's query, whose columns have the names. */
  view(query: QueryNode, names: readonly string[]): string {
    // A view's query has two more relations, which only its rule knows.
    const level = new Level();
    level.taken.add("old").add("new");
    this.context.levels.push(level);
    return this.query(query, { names, isNamed: true });
  }

  /** A condition over the rows of the level. */
  condition(expr: ExprNode, type: SqlType, level: Level): string {
    this.context.levels.push(level);
    return this.exprs.text(expr, type, false);
  }

  private query(query: QueryNode, naming: Naming, types: readonly SqlType[] | null = null): string {
    return this.layout.further(0, () => {
      const { withs, levels } = this.context;
      const before = withs.length;
      levels.push(new Level());
      withs.push(...(query.with?.tables ?? []).map(({ name }) => name));
      try {
        // The relations get their names before those of the queries inside do.
        if (query.body.kind === "select") this.from.prepare(query.body.from);
        const tables = query.with === null ? "" : this.tables(query.with);
        return `${tables}${this.body(query, naming, types)}`;
      } finally {
        levels.pop();
        withs.length = before;
      }
    });
  }

  private body(query: QueryNode, naming: Naming, types: readonly SqlType[] | null): string {
    const { body } = query;
    if (body.kind === "set operation") {
      const text = this.operation(body, naming, this.typesOf(body, types));
      const names = outputNamesOf(query);
      return `${text}${this.end(query, (key) => String(numberOf(key, names)))}`;
    }
    if (this.layout.hasLines) this.layout.move(CLAUSE);
    const space = this.layout.hasLines ? " " : "";
    if (body.kind === "values") {
      const names = body.rows[0]!.map((_, i) => `column${i + 1}`);
      const isRenamed = naming.names?.some((name, i) => name !== names[i]) === true;
      const rows = this.values(body, types);
      const text = `${space}${isRenamed ? this.namedValues(rows, names, naming.names!) : rows}`;
      return `${text}${this.end(query, (key) => this.valuesKey(key))}`;
    }
    const [text, targets] = this.select(body, naming, types);
    return `${space}${text}${this.end(query, (key) => this.keyOf(key.expr, targets, false))}`;
  }

  // ---- WITH ----

  private tables({ recursive, tables }: WithNode): string {
    const { layout } = this;
    layout.move(CLAUSE);
    const { withs } = this.context;
    const outer = withs.slice(0, withs.length - tables.length);
    const parts = tables.map((table, i) => {
      // One that is not recursive sees those before it.
      if (!recursive) withs.splice(outer.length, tables.length, ...tables.slice(0, i).map(({ name }) => name));
      return this.table(table);
    });
    withs.splice(outer.length, tables.length, ...tables.map(({ name }) => name));
    const text = `${layout.hasLines ? " " : ""}WITH ${recursive ? "RECURSIVE " : ""}${parts.join(", ")}`;
    layout.move(-CLAUSE);
    return `${text}${layout.hasLines ? layout.line("") : " "}`;
  }

  private table(table: CommonTableNode): string {
    const { name, columns, materialized, statement, search, cycle } = table;
    if (statement.kind !== "query") throw new NotPrinted("changes in WITH");
    const list = columns.length === 0 ? "" : `(${columns.map(quoteIdentifier).join(", ")})`;
    const kept = materialized === null ? "" : materialized ? "MATERIALIZED " : "NOT MATERIALIZED ";
    const line = () => (this.layout.hasLines ? this.layout.line("") : "");
    const query = `(${line()}${this.query(statement, { names: null, isNamed: true })}${line()})`;
    return `${quoteIdentifier(name)}${list} AS ${kept}${query}${this.search(search)}${this.cycle(cycle)}`;
  }

  private search(search: SearchNode | undefined): string {
    if (search === undefined) return "";
    const { depthFirst, columns, sequence } = search;
    const by = `SEARCH ${depthFirst ? "DEPTH" : "BREADTH"} FIRST BY ${columns.map(quoteIdentifier).join(", ")}`;
    return ` ${by} SET ${quoteIdentifier(sequence)}`;
  }

  private cycle(cycle: CycleNode | undefined): string {
    if (cycle === undefined) return "";
    const { columns, mark, value, otherwise, path } = cycle;
    const isUsual = isBoolean(value, true) && isBoolean(otherwise, false);
    const constant = (node: ExprNode) => {
      const piece = this.exprs.constant(node, "usual");
      if (piece === null) throw new NotPrinted("a mark of cycles that is no constant");
      return piece.text;
    };
    const values = isUsual ? "" : ` TO ${constant(value)} DEFAULT ${constant(otherwise)}`;
    const by = ` CYCLE ${columns.map(quoteIdentifier).join(", ")} SET ${quoteIdentifier(mark)}`;
    return `${by}${values} USING ${quoteIdentifier(path)}`;
  }

  // ---- UNION, INTERSECT, EXCEPT ----

  private operation(body: SetOperationBody, naming: Naming, types: readonly SqlType[]): string {
    const { layout } = this;
    const { left, right, op, all } = body;
    const isSame = left.body.kind === "set operation" && left.body.op === op && left.body.all === all;
    const first = isOperation(left) && !isSame;
    let text = first ? `(${layout.line("", CLAUSE)}` : "";
    text += this.side(left, naming, types);
    text += first ? layout.line(") ", -CLAUSE) : layout.hasLines ? layout.line("") : " ";
    text += `${op.toUpperCase()} ${all ? "ALL " : ""}`;
    const second = isOperation(right);
    text += `${second ? "(" : ""}${layout.line("", second ? CLAUSE : 0)}`;
    text += this.side(right, { names: naming.names, isNamed: false }, types);
    if (!second) return text;
    layout.move(-CLAUSE);
    return `${text}${layout.line(")")}`;
  }

  private side(query: QueryNode, naming: Naming, types: readonly SqlType[]): string {
    if (isOperation(query)) return this.operation(query.body as SetOperationBody, naming, types);
    const isClosed = query.with !== null || hasEnd(query);
    const text = this.query(query, naming, types);
    return isClosed ? `(${text})` : text;
  }

  /** What constants of unknown type become, by column. */
  private typesOf(body: SetOperationBody, outer: readonly SqlType[] | null): readonly SqlType[] {
    const sides = [body.left, body.right].map((side) => this.columnTypes(side));
    return sides[0]!.map((type, i) => outer?.[i] ?? commonType([type, sides[1]![i]!], body.op.toUpperCase()));
  }

  private columnTypes({ body }: QueryNode): readonly SqlType[] {
    if (body.kind === "set operation") return this.typesOf(body, null);
    if (body.kind === "values") return body.rows[0]!.map((node) => this.exprs.typeOf(node));
    return body.targets.flatMap(({ expr }) =>
      expr.kind === "column" && expr.star
        ? this.starColumns(expr).map((column) => column.type)
        : [this.exprs.typeOf(expr)],
    );
  }

  private starColumns(node: ExprNode) {
    const items = this.stars.get(node);
    if (items === undefined) throw new NotPrinted("a * that was not bound");
    return items.flatMap((item) => item.columns.map((column) => ({ column, item, type: column.expr.type })));
  }

  /** What `*` stands for. */
  private get stars(): BindingNotes["items"] {
    return this.context.notes.items;
  }

  // ---- SELECT ----

  private select(
    body: SelectBody,
    naming: Naming,
    types: readonly SqlType[] | null,
  ): readonly [string, readonly Target[]] {
    const { layout } = this;
    // Relations tell how their columns are called.
    const from = body.from.length === 0 ? "" : this.from.list(body.from);
    const targets = body.targets.flatMap((target) => this.targetsOf(target, types));
    let text = "SELECT";
    if (body.distinct === "distinct") text += " DISTINCT";
    else if (body.distinct !== "all") {
      text += ` DISTINCT ON (${body.distinct.on.map((on) => this.keyOf(on, targets, false)).join(", ")})`;
    }
    text += this.list(targets, naming);
    text += from;
    if (body.where !== null) text += `${layout.clause(" WHERE ", 1)}${this.exprs.text(body.where, null, false)}`;
    if (body.groupBy.length > 0) text += this.groups(body, targets);
    if (body.having !== null) text += `${layout.clause(" HAVING ", 0)}${this.exprs.text(body.having, null, false)}`;
    body.windows.forEach((window, i) => {
      const word = i === 0 ? layout.clause(" WINDOW ", 1) : ", ";
      text += `${word}${quoteIdentifier(window.name!)} AS ${this.exprs.calls.window({ ...window, name: null })}`;
    });
    return [text, targets];
  }

  private targetsOf({ expr, name }: TargetNode, types: readonly SqlType[] | null): readonly Target[] {
    if (expr.kind === "column" && expr.star && this.stars.has(expr)) {
      return this.starColumns(expr).map(({ column, item }) => ({
        name: column.name,
        expr: null,
        print: () => ({ text: this.context.listed(column, item), own: column.name }),
      }));
    }
    if (expr.kind === "field" && expr.name === "*") throw new NotPrinted("a row that is taken apart");
    const { notes } = this.context;
    const print = () => {
      const isOpen = this.exprs.typeOf(expr).name === "unknown";
      const column = notes.columns.get(expr);
      if (column !== undefined) return { text: this.exprs.text(expr), own: lastName(this.exprs.text(expr)) };
      const named = expr.kind === "cast" ? expr.input : expr;
      const row = notes.rows.get(named);
      if (row !== undefined && this.exprs.typeOf(expr) === this.exprs.typeOf(named)) {
        return { text: `${this.context.row(row)}.*::${this.rowType(named)}`, own: null };
      }
      return { text: this.exprs.text(expr, isOpen ? (types?.[this.place] ?? null) : null), own: null };
    };
    return [{ name: name ?? outputName(expr), expr, print }];
  }

  /** Of the target that is printed, in its list. */
  private place = 0;

  private rowType(expr: ExprNode): string {
    const type = this.exprs.typeOf(expr);
    return type.typeName === undefined ? "record" : quoteIdentifier(type.typeName);
  }

  private list(targets: readonly Target[], { names, isNamed }: Naming): string {
    if (targets.length === 0) return "";
    const parts = targets.map(({ name, print }, i) => {
      this.place = i;
      const { text, own } = print();
      const wanted = names?.[i] ?? name;
      const written = own ?? (isNamed ? null : "?column?");
      return wanted === written ? text : `${text} AS ${quoteIdentifier(wanted)}`;
    });
    const [first, ...others] = parts;
    return ` ${first}${others.map((part) => `, ${this.layout.nextPart(part)}`).join("")}`;
  }

  // ---- GROUP BY ----

  private groups({ groupBy, groupDistinct }: SelectBody, targets: readonly Target[]): string {
    const isPlain = groupBy.every(({ kind }) => kind === "expr");
    const word = `${this.layout.clause(" GROUP BY ", 1)}${groupDistinct ? "DISTINCT " : ""}`;
    if (!isPlain) return `${word}${groupBy.map((element) => this.element(element, targets, true)).join(", ")}`;
    const keys = groupBy.flatMap((element) => this.grouped(element, targets));
    return `${word}${[...new Set(keys)].join(", ")}`;
  }

  private grouped(element: GroupingElement, targets: readonly Target[]): string[] {
    if (element.kind !== "expr") throw new NotPrinted("grouping sets in a plain list");
    const { expr } = element;
    const parts = expr.kind === "row" ? expr.items : [expr];
    return parts.map((part) => this.keyOf(part, targets, true));
  }

  private element(element: GroupingElement, targets: readonly Target[], isOpen: boolean): string {
    if (element.kind === "empty") return "()";
    if (element.kind === "expr") {
      const keys = this.grouped(element, targets);
      return isOpen && keys.length === 1 ? keys[0]! : `(${keys.join(", ")})`;
    }
    const word = { rollup: "ROLLUP(", cube: "CUBE(", sets: "GROUPING SETS (" }[element.kind];
    return `${word}${element.items.map((item) => this.element(item, targets, element.kind !== "sets")).join(", ")})`;
  }

  /** What is sorted or grouped by: an expression, or one of the targets by its number or name. */
  private keyOf(node: ExprNode, targets: readonly Target[], inputsFirst: boolean): string {
    const target = this.targetMeant(node, targets, inputsFirst);
    if (target === null) return this.exprs.calls.key(node);
    if (target.expr === null) return target.print().text;
    return this.exprs.calls.key(target.expr);
  }

  private targetMeant(node: ExprNode, targets: readonly Target[], inputsFirst: boolean): Target | null {
    if (node.kind === "integer") return targets[node.value - 1] ?? null;
    if (node.kind !== "column" || node.star || node.path.length !== 1) return null;
    if (inputsFirst && this.context.notes.columns.has(node)) return null;
    return targets.find(({ name }) => name === node.path[0]) ?? null;
  }

  // ---- VALUES ----

  private values({ rows }: ValuesBody, types: readonly SqlType[] | null): string {
    const common = rows[0]!.map(
      (_, i) =>
        types?.[i] ??
        commonType(
          rows.map((row) => this.exprs.typeOf(row[i]!)),
          "VALUES",
        ),
    );
    const lists = rows.map((row) => `(${row.map((node, i) => this.exprs.text(node, common[i]!, false)).join(",")})`);
    return `VALUES ${lists.join(", ")}`;
  }

  /** Rows whose columns have names. */
  private namedValues(rows: string, columns: readonly string[], names: readonly string[]): string {
    const parts = columns.map((column, i) => {
      const text = `"*VALUES*".${column}${names[i] === column ? "" : ` AS ${quoteIdentifier(names[i]!)}`}`;
      return i === 0 ? ` ${text}` : `, ${this.layout.nextPart(text)}`;
    });
    return `SELECT${parts.join("")}${this.layout.clause(" FROM ", 2)}(${rows}) "*VALUES*"`;
  }

  private valuesKey({ expr }: SortNode): string {
    if (expr.kind !== "column") throw new NotPrinted("VALUES that are sorted by an expression");
    return `"*VALUES*".${quoteIdentifier(expr.path.at(-1)!)}`;
  }

  // ---- the end ----

  private end(query: QueryNode, key: (sort: SortNode) => string): string {
    const { layout } = this;
    let text = "";
    if (query.orderBy.length > 0) {
      const keys = query.orderBy.map((sort) => this.exprs.calls.sortKey(sort, key(sort)));
      text += `${layout.clause(" ORDER BY ", 1)}${keys.join(", ")}`;
    }
    if (query.offset !== null) text += `${layout.clause(" OFFSET ", 0)}${this.count(query.offset)}`;
    if (query.limit !== null) {
      text += query.withTies
        ? `${layout.clause(" FETCH FIRST ", 0)}(${this.count(query.limit)}) ROWS WITH TIES`
        : `${layout.clause(" LIMIT ", 0)}${query.limit.kind === "null" ? "ALL" : this.count(query.limit)}`;
    }
    for (const { strength, relations, wait } of query.locking) {
      const names = relations.map(({ path }) => quoteIdentifier(path.at(-1)!));
      const of = names.length === 0 ? this.lockedNames(query) : names;
      const waits = { block: "", skip: " SKIP LOCKED", error: " NOWAIT" }[wait];
      for (const name of of) {
        text += `${layout.clause(` FOR ${strength.toUpperCase()}`, 0)} OF ${name}${waits}`;
      }
    }
    return text;
  }

  private lockedNames({ body }: QueryNode): readonly string[] {
    if (body.kind !== "select") return [];
    return body.from.map((node) => {
      if (node.kind !== "table") throw new NotPrinted("locks of what is no table");
      return quoteIdentifier(node.alias?.name ?? node.name.path.at(-1)!);
    });
  }

  /** A number of rows, which is a bigint. */
  private count(node: ExprNode): string {
    const constant = this.exprs.constant(node, "usual");
    if (constant !== null && node.kind !== "integer") return constant.text;
    return constant?.text ?? this.exprs.text(node, null, false);
  }
}

const isBoolean = (node: ExprNode, value: boolean) => node.kind === "boolean" && node.value === value;

const isOperation = (query: QueryNode) => query.body.kind === "set operation" && query.with === null && !hasEnd(query);

const hasEnd = ({ orderBy, limit, offset, locking }: QueryNode) =>
  orderBy.length > 0 || limit !== null || offset !== null || locking.length > 0;

/** Of a column in full. */
function lastName(text: string): string {
  const quoted = /(?:^|\.)"((?:[^"]|"")*)"$/.exec(text);
  return quoted === null ? text.slice(text.lastIndexOf(".") + 1) : quoted[1]!.replaceAll('""', '"');
}

function outputNamesOf({ body }: QueryNode): readonly string[] {
  if (body.kind === "set operation") return outputNamesOf(body.left);
  if (body.kind === "values") return body.rows[0]!.map((_, i) => `column${i + 1}`);
  return body.targets.map(({ name, expr }) => name ?? outputName(expr));
}

/** Of the column that a set operation is sorted by. */
function numberOf({ expr }: SortNode, names: readonly string[]): number {
  if (expr.kind === "integer") return expr.value;
  const at = expr.kind === "column" ? names.indexOf(expr.path.at(-1)!) : -1;
  if (at < 0) throw new NotPrinted("a set operation that is sorted by an expression");
  return at + 1;
}
