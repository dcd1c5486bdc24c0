/** Calls of functions, aggregates and windows, what SQL writes as syntax of its own, CASE, and sort keys. */
import { commonType } from "../../../query/expr/coercion.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { categoryOf } from "../../../query/expr/types.js";
import { FLOAT8, INTERVAL, type SqlType } from "../../../values/values.js";
import type {
  CallNode,
  CaseNode,
  ExprNode,
  FrameBound,
  FrameNode,
  SortNode,
  WindowNode,
} from "../../parse/ast-query.js";
import { printSyntax } from "../../parse/print-syntax.js";
import { argumentTypes, variadicFrom, type Wanted } from "./argument-types.js";
import type { Label } from "./constant-text.js";
import { type Around, ITEM, type Piece } from "./layout.js";
import { NotPrinted, type PrintContext } from "./print-context.js";

/** What prints the expressions around and inside (print-expression.ts). */
interface Expressions {
  readonly context: PrintContext;
  typeOf(node: ExprNode): SqlType;
  text(node: ExprNode, wanted?: Wanted, shows?: boolean): string;
  value(node: ExprNode, wanted?: Wanted, shows?: boolean): Piece;
  inside(piece: Piece, around: Around): string;
  constant(node: ExprNode, label: Label, type?: SqlType | null): Piece | null;
  beside(name: string, left: ExprNode, right: ExprNode): Wanted;
}

export class CallPrinter {
  constructor(private readonly exprs: Expressions) {}

  call(node: CallNode): Piece {
    const { context } = this.exprs;
    if (node.path.some((part) => part.includes(" "))) throw new NotPrinted(node.path.join("."));
    // Nobody writes it as a call, and older definitions keep it as one.
    const syntax = node.isSyntax || node.path.at(-1) === "extract" ? this.syntax(node) : null;
    if (syntax !== null) return syntax;
    const name = this.name(node);
    const given = node.args.map(({ value }) => this.exprs.typeOf(value));
    const id = context.notes.exprs.get(node) && this.idOf(node);
    if (node.withinGroup) return { kind: "simple", text: this.withinGroup(node, name) };
    const types = node.variadic ? given.map(() => null) : argumentTypes(node, given, id, context.names.catalog);
    const gathered = variadicFrom(node, id, context.names.catalog);
    const args = node.args.map((arg, i) => {
      const named = arg.name === null ? "" : `${quoteIdentifier(arg.name)} => `;
      const variadic = node.variadic && i === node.args.length - 1 ? "VARIADIC " : "";
      return `${variadic}${named}${this.exprs.text(arg.value, types[i] ?? null)}`;
    });
    if (gathered !== null && !node.withinGroup) args.push(`VARIADIC ARRAY[${args.splice(gathered).join(", ")}]`);
    const distinct = node.distinct ? "DISTINCT " : "";
    const orderBy = node.orderBy.length === 0 ? "" : ` ORDER BY ${this.sorted(node.orderBy)}`;
    const list = node.star ? "*" : `${distinct}${args.join(", ")}${orderBy}`;
    return { kind: "simple", text: `${name}(${list})${this.filter(node)}${this.over(node.over)}` };
  }

  private idOf(node: CallNode): number | undefined {
    return this.exprs.context.functionIds.get(node);
  }

  private name({ path }: CallNode): string {
    const name = path.at(-1)!;
    return path.length > 1 && path.at(-2) !== "pg_catalog"
      ? path.map(quoteIdentifier).join(".")
      : quoteIdentifier(name);
  }

  private filter({ filter }: CallNode): string {
    return filter === null ? "" : ` FILTER (WHERE ${this.exprs.text(filter, null, false)})`;
  }

  private withinGroup(node: CallNode, name: string): string {
    const isFraction = /^percentile_/.test(name);
    const direct = node.args.map(({ value }, i) => {
      const sorted = node.orderBy[i];
      const of: Wanted = isFraction ? fractionType(this.exprs.typeOf(value)) : null;
      return this.exprs.text(value, of ?? (sorted === undefined || isFraction ? null : this.exprs.typeOf(sorted.expr)));
    });
    const wanted = name === "percentile_cont" ? continuousType : () => null;
    const keys = node.orderBy.map((sort) =>
      this.sortKey(sort, this.key(sort.expr, wanted(this.exprs.typeOf(sort.expr)))),
    );
    return `${name}(${direct.join(", ")}) WITHIN GROUP (ORDER BY ${keys.join(", ")})${this.filter(node)}`;
  }

  // ---- windows ----

  private over(window: WindowNode | null): string {
    if (window === null) return "";
    return window.name === null ? ` OVER ${this.window(window)}` : ` OVER ${quoteIdentifier(window.name)}`;
  }

  /** In parentheses. */
  window({ base, partitionBy, orderBy, frame }: WindowNode): string {
    const parts = [
      base === null ? "" : quoteIdentifier(base),
      partitionBy.length === 0 ? "" : `PARTITION BY ${partitionBy.map((expr) => this.key(expr)).join(", ")}`,
      orderBy.length === 0 ? "" : `ORDER BY ${this.sorted(orderBy)}`,
      frame === null ? "" : this.frame(frame, orderBy),
    ];
    return `(${parts.filter((part) => part !== "").join(" ")})`;
  }

  private frame({ mode, start, end, exclude, isShort }: FrameNode, [key]: readonly SortNode[]): string {
    const type = mode === "range" && key !== undefined ? distanceType(this.exprs.typeOf(key.expr)) : null;
    const bound = ({ kind, offset }: FrameBound) =>
      offset === null ? kind.toUpperCase() : `${this.exprs.text(offset, type, false)} ${kind.toUpperCase()}`;
    const between = isShort ? bound(start) : `BETWEEN ${bound(start)} AND ${bound(end)}`;
    return `${mode.toUpperCase()} ${between}${exclude === "no others" ? "" : ` EXCLUDE ${exclude.toUpperCase()}`}`;
  }

  // ---- sort keys ----

  sorted(keys: readonly SortNode[]): string {
    return keys.map((key) => this.sortKey(key, this.key(key.expr))).join(", ");
  }

  /** `text`: of what is sorted by. */
  sortKey({ descending, nullsFirst, using }: SortNode, text: string): string {
    if (using !== null && using !== "<" && using !== ">") {
      return `${text} USING ${using}${nullsFirst === true ? " NULLS FIRST" : " NULLS LAST"}`;
    }
    const isDown = descending || using === ">";
    const nulls = nullsFirst === null || nullsFirst === isDown ? "" : isDown ? " NULLS LAST" : " NULLS FIRST";
    return `${text}${isDown ? " DESC" : ""}${nulls}`;
  }

  /** What is grouped or sorted by: nobody may take it for a column's number. */
  key(node: ExprNode, wanted: Wanted = null): string {
    const own = this.exprs.typeOf(node);
    const isTyped = node.kind === "cast" && this.exprs.typeOf(node.input) === own;
    const literal = isTyped ? node.input : node;
    const constant = this.exprs.constant(literal, "always", own.name === "unknown" ? null : own);
    if (constant !== null) return constant.text;
    const { text } = this.exprs.value(node, wanted);
    const isCast = wanted !== null && text !== this.exprs.text(node);
    if (isCast) return `(${text})`;
    if (node.kind === "column") return text;
    const isCall = node.kind === "call" && !(node.isSyntax === true && text.startsWith("("));
    return isCall || node.kind === "cast" || this.exprs.context.layout.isPretty ? `(${text})` : text;
  }

  // ---- CASE ----

  cases(node: CaseNode): Piece {
    const { layout } = this.exprs.context;
    const results = node.branches.map(({ result }) => result);
    const type = commonType(
      [...(node.otherwise === null ? [] : [node.otherwise]), ...results].map((each) => this.exprs.typeOf(each)),
      "CASE",
    );
    const space = layout.hasLines ? "" : " ";
    let text = layout.line("CASE", 0, ITEM);
    if (node.input !== null) text += ` ${this.exprs.text(node.input)}`;
    for (const { when, result } of node.branches) {
      text += `${space}${layout.line("WHEN ")}${this.when(node.input, when)} THEN ${this.exprs.text(result, type)}`;
    }
    const otherwise = node.otherwise ?? ({ kind: "null", position: 0 } as const);
    const last =
      node.otherwise === null ? this.exprs.constant(otherwise, "usual", type)!.text : this.exprs.text(otherwise, type);
    text += `${space}${layout.line("ELSE ")}${last} ${layout.line("END", -ITEM)}`;
    return { kind: "simple", text: layout.hasLines ? text.replace(/ (?=\0 *END$)/, "") : text };
  }

  private when(input: ExprNode | null, when: ExprNode): string {
    if (input === null) return this.exprs.text(when, null, false);
    return this.exprs.text(when, this.exprs.beside("=", input, when), false);
  }

  // ---- syntax ----

  private syntax(node: CallNode): Piece | null {
    const args = node.args.map(({ value }) => value);
    const given = args.map((arg) => this.exprs.typeOf(arg));
    const types = argumentTypes(node, given, undefined, this.exprs.context.names.catalog);
    const value = (i: number) => this.exprs.value(args[i]!, types[i] ?? null, false);
    const text = printSyntax(node, {
      text: (i) => value(i).text,
      operand: (i) => this.exprs.inside(value(i), { kind: "syntax" }),
      isCount: given[1]?.name === "int4",
    });
    return text === null ? null : { kind: "simple", text };
  }
}

/** What literals of a RANGE frame become. */
const distanceType = (key: SqlType): SqlType => (categoryOf(key) === "D" ? INTERVAL : key);

const continuousType = (type: SqlType): Wanted => (categoryOf(type) === "N" ? FLOAT8 : null);

const fractionType = (type: SqlType): Wanted => (type.element === null ? FLOAT8 : null);
