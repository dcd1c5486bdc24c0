/**
 * The SQL/JSON path language (chapter 9.16.2) as values of type jsonpath: the tree of a path and its text. Paths are
 * read by json-path-parse.ts and run by the JSON path executor of the expression room. Trees are frozen.
 */
import type { Numeric } from "./numeric.js";

export type PathBinary = "&&" | "||" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "+" | "-" | "*" | "/" | "%";

/** Methods without arguments, and those that take them. */
export const PATH_METHODS = [
  "type",
  "size",
  "abs",
  "floor",
  "ceiling",
  "double",
  "keyvalue",
  "bigint",
  "boolean",
  "date",
  "integer",
  "number",
  "string",
  "datetime",
  "decimal",
  "time",
  "time_tz",
  "timestamp",
  "timestamp_tz",
] as const;
export type PathMethod = (typeof PATH_METHODS)[number];

/** What a path does to an item, without what follows. */
export type PathStep =
  | { readonly op: "null" | "root" | "current" | "last" | "anyarray" | "anykey" }
  | { readonly op: "bool"; readonly value: boolean }
  | { readonly op: "number"; readonly value: Numeric }
  | { readonly op: "string" | "variable" | "key"; readonly text: string }
  | { readonly op: "binary"; readonly name: PathBinary; readonly left: PathItem; readonly right: PathItem }
  | { readonly op: "unary"; readonly name: "+" | "-"; readonly input: PathItem }
  | { readonly op: "not" | "is unknown" | "exists" | "filter"; readonly input: PathItem }
  | { readonly op: "starts with"; readonly left: PathItem; readonly right: PathItem }
  | { readonly op: "like_regex"; readonly input: PathItem; readonly pattern: string; readonly flags: string }
  | { readonly op: "index"; readonly subscripts: readonly PathSubscript[] }
  /** `.**{first to last}`; LEVEL_LAST stands for `last`. */
  | { readonly op: "any"; readonly first: number; readonly last: number }
  | { readonly op: "method"; readonly name: PathMethod; readonly args: readonly PathItem[] };

/** A step and the accessors behind it. */
export type PathItem = PathStep & { readonly next: PathItem | null };

export interface PathSubscript {
  readonly from: PathItem;
  readonly to: PathItem | null;
}

export const LEVEL_LAST = 4_294_967_295;

/** A value of type jsonpath. */
export class JsonPath {
  constructor(
    readonly root: PathItem,
    readonly lax: boolean,
  ) {}

  /** As jsonpath_out prints it. */
  toString(): string {
    return (this.lax ? "" : "strict ") + print(this.root, false, true);
  }
}

const COMPARISONS = new Set(["==", "!=", "<", ">", "<=", ">="]);

function priority(item: PathItem): number {
  if (item.op === "starts with") return 2;
  if (item.op === "unary") return 5;
  if (item.op !== "binary") return 6;
  if (item.name === "||") return 0;
  if (item.name === "&&") return 1;
  if (COMPARISONS.has(item.name)) return 2;
  return item.name === "+" || item.name === "-" ? 3 : 4;
}

function print(item: PathItem, inKey: boolean, brackets: boolean): string {
  const own = printStep(item, inKey, brackets);
  return item.next === null ? own : own + print(item.next, true, true);
}

function printStep(item: PathItem, inKey: boolean, brackets: boolean): string {
  const operand = (inner: PathItem) => print(inner, false, priority(inner) <= priority(item));
  const enclosed = (text: string) => (brackets ? `(${text})` : text);
  const dot = inKey ? "." : "";
  switch (item.op) {
    case "null":
    case "last":
      return item.op;
    case "root":
      return "$";
    case "current":
      return "@";
    case "bool":
      return String(item.value);
    case "number":
      return item.next === null ? item.value.toString() : `(${item.value})`;
    case "string":
      return JSON.stringify(item.text);
    case "variable":
      return `$${JSON.stringify(item.text)}`;
    case "key":
      return dot + JSON.stringify(item.text);
    case "binary":
      return enclosed(`${operand(item.left)} ${item.name} ${operand(item.right)}`);
    case "starts with":
      return enclosed(`${operand(item.left)} starts with ${operand(item.right)}`);
    case "like_regex": {
      const flags = item.flags === "" ? "" : ` flag "${item.flags}"`;
      return enclosed(`${operand(item.input)} like_regex ${JSON.stringify(item.pattern)}${flags}`);
    }
    case "unary":
      return enclosed(item.name + operand(item.input));
    case "filter":
      return `?(${print(item.input, false, false)})`;
    case "not":
      return `!(${print(item.input, false, false)})`;
    case "is unknown":
      return `(${print(item.input, false, false)}) is unknown`;
    case "exists":
      return `exists (${print(item.input, false, false)})`;
    case "anyarray":
      return "[*]";
    case "anykey":
      return `${dot}*`;
    case "index":
      return `[${item.subscripts.map(printSubscript).join()}]`;
    case "any":
      return `${dot}**${printLevels(item.first, item.last)}`;
    case "method":
      return `.${item.name}(${item.args.map((arg) => print(arg, false, false)).join()})`;
  }
}

function printSubscript({ from, to }: PathSubscript): string {
  return to === null ? print(from, false, false) : `${print(from, false, false)} to ${print(to, false, false)}`;
}

function printLevels(first: number, last: number): string {
  if (first === 0 && last === LEVEL_LAST) return "";
  const level = (n: number) => (n === LEVEL_LAST ? "last" : String(n));
  return first === last ? `{${level(first)}}` : `{${level(first)} to ${level(last)}}`;
}
