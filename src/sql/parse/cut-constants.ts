/**
 * Texts that are too long for the grammar, because of lists of constants or long strings: `IN (1, 2, …)`, `VALUES (…),
 * (…), …`, `'a whole document'`. The grammar gets the text with the first item of each list and empty strings; what was
 * cut out is put back into the tree. Used by parse.ts.
 */
import { sqlError } from "../../protocol/errors.js";
import { LISTED_CONSTANTS_MAX } from "../../protocol/limits.js";
import type { ExprNode } from "./ast-query.js";
import { CONSTANT, endOfString, SPACE } from "./constants.js";
import type { Edit } from "./source-map.js";

/** A constant or a parameter, by UTF-16 indexes. */
interface Cell {
  readonly start: number;
  readonly end: number;
}

interface Cut extends Edit {
  /** Where the first item of the list, or the string, begins. */
  readonly first: number;
  /** Items behind the first one: of IN, or the values of all further rows; null: a string. */
  readonly cells: readonly Cell[] | null;
}

export interface CutText {
  readonly edits: readonly Edit[];
  /**
   * Puts back what was cut, into a tree that nobody has seen yet. `position`: of a UTF-16 index. False: not all,
   * because something is no constant in an expression.
   */
  restore(tree: unknown, position: (index: number) => number): boolean;
}

/** Shorter lists and strings stay. */
const CUT_CHARACTERS_MIN = 256;

/** Throws 54001 for more constants than a statement may have. */
export function cutConstants(text: string): CutText {
  const cuts = new Scanner(text).cuts();
  return {
    edits: cuts,
    restore: (tree, position) => {
      const left = new Map(cuts.map((cut) => [position(cut.first), cut]));
      put(tree, { text, left, position });
      return left.size === 0;
    },
  };
}

const NEXT = /'|"|\$|--|\/\*|\(|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|[^\s]/g;
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

class Scanner {
  private at = 0;
  private constants = 0;
  private readonly found: Cut[] = [];

  constructor(private readonly text: string) {}

  cuts(): readonly Cut[] {
    const { text, found } = this;
    let word = "";
    for (;;) {
      NEXT.lastIndex = this.at;
      const token = NEXT.exec(text)?.[0];
      if (token === undefined) return found;
      const start = NEXT.lastIndex - token.length;
      this.at = NEXT.lastIndex;
      if (token === "(" && word === "in") this.list(start);
      else if (token === "(" && word === "values") this.rows(start);
      else if (token === "'") this.string(start, /[\w&]/.exec(text[start - 1] ?? "")?.[0] ?? "");
      else this.passOver(token, start);
      if (token !== "--" && token !== "/*") word = /^[A-Za-z]/.test(token) ? token.toLowerCase() : "";
    }
  }

  /** `prefix`: what makes another kind of string of it. One that goes on in a further line stays. */
  private string(start: number, prefix: string): void {
    const { text } = this;
    const end = /[eE]/.test(prefix) ? endOfEscapes(text, start) : endOfString(text, start);
    this.at = end < 0 ? text.length : end;
    if (prefix !== "" || end - start < CUT_CHARACTERS_MIN || text[this.skipSpace(end)] === "'") return;
    this.found.push({ start: start + 1, end: end - 1, text: "", first: start, cells: null });
  }

  /** Quoted names, comments, texts between dollars. */
  private passOver(token: string, start: number): void {
    const { text } = this;
    const behind = (end: number, length: number): number => (end < 0 ? text.length : end + length);
    if (token === '"') this.at = behind(text.indexOf('"', this.at), 1);
    else if (token === "--") this.at = behind(text.indexOf("\n", this.at), 1);
    else if (token === "/*") this.at = endOfComment(text, start);
    else if (token === "$") {
      DOLLAR.lastIndex = start;
      const mark = DOLLAR.exec(text)?.[0];
      if (mark !== undefined) this.at = behind(text.indexOf(mark, start + mark.length), mark.length);
    }
  }

  private list(open: number): void {
    const cells = this.cells(open);
    if (cells === null || cells.length < 2) return;
    const [first] = cells as [Cell];
    this.cut(first, first.end, cells.at(-1)!.end, cells.slice(1));
  }

  private rows(open: number): void {
    const { text } = this;
    const first = this.cells(open);
    if (first === null) return;
    const from = this.at;
    let to = from;
    const further: Cell[] = [];
    for (;;) {
      const comma = this.skipSpace(to);
      const next = text[comma] === "," ? this.skipSpace(comma + 1) : -1;
      const row = next >= 0 && text[next] === "(" ? this.cells(next) : null;
      if (row === null || row.length !== first.length) break;
      for (const cell of row) further.push(cell);
      to = this.at;
    }
    this.at = to;
    if (further.length > 0) this.cut(first[0]!, from, to, further);
  }

  private cut({ start: first }: Cell, start: number, end: number, cells: readonly Cell[]): void {
    if (end - start < CUT_CHARACTERS_MIN) return;
    this.constants += cells.length;
    if (this.constants > LISTED_CONSTANTS_MAX) {
      throw sqlError("54001", `a statement lists at most ${LISTED_CONSTANTS_MAX} constants`, {
        hint: "Send long lists as a parameter: = ANY($1).",
      });
    }
    this.found.push({ start, end, text: "", first, cells });
  }

  /** From an opening parenthesis on, up to behind its closing one. Null: there is more than constants in it. */
  private cells(open: number): Cell[] | null {
    const { text } = this;
    const cells: Cell[] = [];
    for (let at = open + 1; ; at++) {
      const start = this.skipSpace(at);
      let end: number;
      if (text[start] === "'") end = endOfString(text, start);
      else {
        CONSTANT.lastIndex = start;
        if (!CONSTANT.test(text)) return null;
        end = CONSTANT.lastIndex;
      }
      if (end < 0) return null;
      cells.push({ start, end });
      at = this.skipSpace(end);
      if (text[at] === ")") {
        this.at = at + 1;
        return cells;
      }
      if (text[at] !== ",") return null;
    }
  }

  private skipSpace(from: number): number {
    SPACE.lastIndex = from;
    SPACE.test(this.text);
    return SPACE.lastIndex;
  }
}

/** Behind a string in which a backslash takes the next character. */
function endOfEscapes(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "'" && text[at + 1] === "'") at++;
    else if (text[at] === "'") return at + 1;
  }
  return text.length;
}

/** Block comments nest in SQL. */
function endOfComment(text: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  for (let open = 0; ; ) {
    const found = mark.exec(text)?.[0];
    if (found === undefined) return text.length;
    open += found === "/*" ? 1 : -1;
    if (open === 0) return mark.lastIndex;
  }
}

interface Restoring {
  readonly text: string;
  /** By position: what is not put back yet. */
  readonly left: Map<number, Cut>;
  readonly position: (index: number) => number;
}

/** Looks through the tree for the places of what was cut. */
function put(node: unknown, restoring: Restoring): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const each of node) put(each, restoring);
    return;
  }
  const { kind, items, rows } = node as { kind?: unknown; items?: ExprNode[]; rows?: ExprNode[][] };
  if (kind === "string") putString(node as { value: string; position: number }, restoring);
  for (const each of Object.values(node)) put(each, restoring);
  if (kind === "in" && items?.length === 1) putItems(items, restoring);
  if (kind === "values" && rows !== undefined && rows.length > 0) putRows(rows, restoring);
}

function putString(node: { value: string; position: number }, { text, left }: Restoring): void {
  const cut = left.get(node.position);
  if (cut?.cells !== null) return;
  node.value = text.slice(cut.start, cut.end).replaceAll("''", "'");
  left.delete(node.position);
}

/** What was cut of a list behind its first item; null: nothing. */
function taken(first: ExprNode | undefined, { left }: Restoring): readonly Cell[] | null {
  const cells = first === undefined ? null : (left.get(first.position)?.cells ?? null);
  if (cells !== null) left.delete(first!.position);
  return cells;
}

function putItems(items: ExprNode[], restoring: Restoring): void {
  const { text, position } = restoring;
  for (const cell of taken(items[0], restoring) ?? []) items.push(constantNode(text, cell, position));
}

function putRows(rows: ExprNode[][], restoring: Restoring): void {
  const { text, position } = restoring;
  const [first] = rows as [ExprNode[]];
  const cells = taken(first[0], restoring) ?? [];
  const further: ExprNode[][] = [];
  for (let at = 0; at < cells.length; at += first.length) {
    further.push(cells.slice(at, at + first.length).map((cell) => constantNode(text, cell, position)));
  }
  rows.splice(1, 0, ...further);
}

/** As the grammar's output is converted (from-pg-expr.ts). */
function constantNode(text: string, { start, end }: Cell, positionOf: (index: number) => number): ExprNode {
  const position = positionOf(start);
  const word = text.slice(start, end);
  if (word[0] === "'") return { kind: "string", value: word.slice(1, -1).replaceAll("''", "'"), position };
  if (word[0] === "$") {
    const number = Number(word.slice(1));
    if (number < 1) throw sqlError("42P02", `there is no parameter ${word}`, { position });
    return { kind: "parameter", index: number - 1, position };
  }
  switch (word.toLowerCase()) {
    case "null":
      return { kind: "null", position };
    case "default":
      return { kind: "default", position };
    case "true":
    case "false":
      return { kind: "boolean", value: word.toLowerCase() === "true", position };
  }
  const isInteger = /^-?\d+$/.test(word) && Math.abs(Number(word)) <= 0x7fff_ffff;
  return isInteger ? { kind: "integer", value: Number(word), position } : { kind: "number", text: word, position };
}
