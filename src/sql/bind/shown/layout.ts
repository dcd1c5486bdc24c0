/**
 * How PostgreSQL lays out the texts of queries: which clauses begin a line, how far in, and which parentheses it
 * leaves out when it prints prettily (the conventions of pg_get_viewdef).
 */

/** A line begins here: it takes the spaces before it away. No text of SQL has this character. */
const BREAK = "\0";
/** How much further in a clause of a query stands, and the parts of a list below its first. */
export const CLAUSE = 8;
export const JOIN = 4;
export const ITEM = 4;
/** From this column on, lines go less far in than they should. */
const FAR = 40;

export class Layout {
  private level = 0;

  constructor(
    /** Leaves out parentheses that nothing needs. */
    readonly isPretty: boolean,
    /** Clauses begin lines; else all is one line. */
    readonly hasLines: boolean,
  ) {}

  /** A line with the text, as far in as the level is after `before`, and `plus`; then the level goes `after`. */
  line(text: string, before = 0, after = 0, plus = 0): string {
    if (!this.hasLines) return text;
    this.level += before;
    const level = Math.max(this.level, 0);
    const far = (FAR + Math.trunc((this.level - FAR) / (CLAUSE / 2))) % FAR;
    const result = `${BREAK}${" ".repeat((this.level < FAR ? level : far) + plus)}${text}`;
    this.level = Math.max(this.level + after, 0);
    return result;
  }

  /** A clause of a query. */
  clause(text: string, plus: number): string {
    return this.line(text, -CLAUSE, CLAUSE, plus);
  }

  /** What is printed inside goes further in. */
  further<T>(by: number, print: () => T): T {
    const { level } = this;
    if (this.hasLines) this.level += by;
    try {
      return print();
    } finally {
      this.level = level;
    }
  }

  move(by: number): void {
    if (this.hasLines) this.level += by;
  }

  /** A further part of a list, on a line of its own unless it begins one. */
  nextPart(text: string): string {
    if (!this.hasLines || text.startsWith(BREAK)) return text;
    return `${this.line("", -CLAUSE, CLAUSE, ITEM)}${text}`;
  }
}

/** The text with its lines. */
export function laidOut(text: string): string {
  return text.replace(/ *\0/g, "\n");
}

/**
 * An expression as text, and what it is to what it stands in: `simple` needs no parentheses anywhere; `test` is IS NULL
 * and the like, and a subquery.
 */
export interface Piece {
  readonly text: string;
  readonly kind: PieceKind;
  /** Of an operator between two: its name. */
  readonly operator?: string;
}

export type PieceKind = "simple" | "field" | "operator" | "test" | "and" | "or" | "not" | "other";

/** What an expression stands in. */
export interface Around {
  readonly kind: PieceKind | "cast" | "subscript" | "syntax";
  readonly operator?: string;
  /** It is the first operand. */
  readonly first?: boolean;
}

const LOW = "+-";
const HIGH = "*/%";

/** Whether nothing in the place can be taken for a part of the expression. */
export function isSimple(piece: Piece, around: Around): boolean {
  const isLogic = around.kind === "and" || around.kind === "or" || around.kind === "not";
  switch (piece.kind) {
    case "simple":
      return true;
    case "field":
      return around.kind !== "field";
    case "operator":
      return around.kind === "operator" ? bindsTighter(piece, around) : isLogic || around.kind === "subscript";
    case "test":
      return isLogic || around.kind === "subscript";
    case "and":
    case "not":
      return around.kind === "and" || around.kind === "or" || around.kind === "subscript";
    case "or":
      return around.kind === "or" || around.kind === "subscript";
    case "other":
      return false;
  }
}

function bindsTighter({ operator = "" }: Piece, { operator: outer = "", first }: Around): boolean {
  if (operator.length !== 1 || outer.length !== 1) return false;
  const isKnown = (name: string) => LOW.includes(name) || HIGH.includes(name);
  if (!isKnown(operator) || !isKnown(outer)) return false;
  if (HIGH.includes(operator) && LOW.includes(outer)) return true;
  if (LOW.includes(operator) && HIGH.includes(outer)) return false;
  return first === true;
}
