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
import { argumentTypes, type Wanted } from "./argument-types.js";
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

/** Words of the calls that are written as syntax, between their arguments in the order of the text. */
const SYNTAX: Readonly<Record<string, { readonly order: readonly number[]; readonly words: readonly string[] }>> = {
  overlay: { order: [0, 1, 2, 3], words: [" PLACING ", " FROM ", " FOR "] },
  substring: { order: [0, 1, 2], words: [" FROM ", " FOR "] },
};

const TRIMMED: Readonly<Record<string, string>> = { btrim: "BOTH", ltrim: "LEADING", rtrim: "TRAILING" };

export class CallPrinter {
  constructor(private readonly exprs: Expressions) {}

  call(node: CallNode): Piece {
    const { context } = this.exprs;
    if (node.path.some((part) => part.includes(" "))) throw new NotPrinted(node.path.join("."));
    const syntax = node.isSyntax ? this.syntax(node) : null;
    if (syntax !== null) return syntax;
    const name = this.name(node);
    const given = node.args.map(({ value }) => this.exprs.typeOf(value));
    const id = context.notes.exprs.get(node) && this.idOf(node);
    if (node.withinGroup) return { kind: "simple", text: this.withinGroup(node, name) };
    const types = node.variadic ? given.map(() => null) : argumentTypes(node, given, id, context.names.catalog);
    const args = node.args.map((arg, i) => {
      const named = arg.name === null ? "" : `${quoteIdentifier(arg.name)} => `;
      const variadic = node.variadic && i === node.args.length - 1 ? "VARIADIC " : "";
      return `${variadic}${named}${this.exprs.text(arg.value, types[i] ?? null)}`;
    });
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
    const name = node.path.at(-1)!;
    const args = node.args.map(({ value }) => value);
    const given = args.map((arg) => this.exprs.typeOf(arg));
    const types = argumentTypes(node, given, undefined, this.exprs.context.names.catalog);
    const text = (i: number) => this.exprs.text(args[i]!, types[i] ?? null, false);
    const simple = (written: string): Piece => ({ kind: "simple", text: written });
    if (name === "timezone" && args.length === 2) {
      const at = (i: number) =>
        this.exprs.inside(this.exprs.value(args[i]!, types[i] ?? null, false), { kind: "syntax" });
      return simple(`(${at(1)} AT TIME ZONE ${at(0)})`);
    }
    if (name === "extract" && args[0]?.kind === "string") return simple(`EXTRACT(${args[0].value} FROM ${text(1)})`);
    if (name === "overlaps" && args.length === 4) {
      return simple(`((${text(0)}, ${text(1)}) OVERLAPS (${text(2)}, ${text(3)}))`);
    }
    if (name === "is_normalized" || name === "normalize") return simple(this.normal(name, args, text(0)));
    if (name === "pg_collation_for") return simple(`COLLATION FOR (${text(0)})`);
    if (name === "substring" && args.length === 3 && given[2]!.name !== "int4") {
      return simple(`SUBSTRING(${text(0)} SIMILAR ${text(1)} ESCAPE ${text(2)})`);
    }
    if (name === "position") return simple(`POSITION((${text(1)}) IN (${text(0)}))`);
    if (name === "substring" && given[1]!.name !== "int4") return null;
    const trimmed = TRIMMED[name];
    if (trimmed !== undefined) {
      return simple(`TRIM(${trimmed}${args.length === 2 ? ` ${text(1)}` : ""} FROM ${text(0)})`);
    }
    const form = SYNTAX[name];
    if (form === undefined || args.length > form.order.length) throw new NotPrinted(`${name} as syntax`);
    const parts = form.order.slice(0, Math.max(args.length, 2)).map((i) => text(i));
    const words = parts.map((part, i) => (i === 0 ? part : form.words[i - 1]! + part));
    return simple(`${name.toUpperCase()}(${words.join("")})`);
  }

  /** `form`: NFC and the like, a word of its own. */
  private normal(name: string, [, form]: readonly ExprNode[], text: string): string {
    if (form !== undefined && form.kind !== "string") throw new NotPrinted("a form of Unicode that is no word");
    if (name === "normalize") return `NORMALIZE(${text}${form === undefined ? "" : `, ${form.value}`})`;
    return `(${text} IS${form === undefined ? "" : ` ${form.value}`} NORMALIZED)`;
  }
}

/** What literals of a RANGE frame become. */
const distanceType = (key: SqlType): SqlType => (categoryOf(key) === "D" ? INTERVAL : key);

const continuousType = (type: SqlType): Wanted => (categoryOf(type) === "N" ? FLOAT8 : null);

const fractionType = (type: SqlType): Wanted => (type.element === null ? FLOAT8 : null);
