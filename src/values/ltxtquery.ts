/**
 * ltxtquery, words that a path has in any order: `Europe & Russia*@ & !Transportation`. The value is the text as
 * PostgreSQL prints it. Called by the formats and by the functions of ltree.
 */
import { sqlError } from "../protocol/errors.js";
import { flagsText, type LabelPattern, matchesLabel } from "./lquery.js";
import { isLabelCharacter } from "./ltree.js";

type Query =
  | { readonly kind: "word"; readonly word: LabelPattern }
  | { readonly kind: "not"; readonly part: Query }
  | { readonly kind: "and" | "or"; readonly left: Query; readonly right: Query };

/** Words and negations. A chain of operators is a tree that is as deep, and is printed with parentheses. */
const PARTS_MAX = 500;
/** Of parentheses and negations: what is printed has two for a part at most, and is read again. */
const DEPTH_MAX = 2_000;

/** Throws 42601, 54000. */
class LtxtqueryReader {
  private readonly characters: readonly string[];
  private at = 0;
  private depth = 0;
  private parts = 0;

  constructor(text: string) {
    this.characters = [...text];
  }

  query(): Query {
    const query = this.alternatives();
    if (this.at < this.characters.length) throw sqlError("42601", "syntax error");
    return query;
  }

  private alternatives(): Query {
    let left = this.all();
    while (this.take("|")) left = { kind: "or", left, right: this.all() };
    return left;
  }

  private all(): Query {
    let left = this.operand();
    while (this.take("&")) left = { kind: "and", left, right: this.operand() };
    return left;
  }

  private operand(): Query {
    if (++this.depth > DEPTH_MAX) throw sqlError("54001", "ltxtquery is nested too deeply");
    try {
      if (this.take("!")) {
        this.countPart();
        return { kind: "not", part: this.operand() };
      }
      if (!this.take("(")) return this.word();
      const inner = this.alternatives();
      if (!this.take(")")) throw sqlError("42601", "syntax error");
      return inner;
    } finally {
      this.depth--;
    }
  }

  private word(): Query {
    this.countPart();
    const start = this.at;
    while (this.isLabel()) this.at++;
    if (start === this.at) throw sqlError("42601", "operand syntax error");
    const word = {
      text: this.characters.slice(start, this.at).join(""),
      words: false,
      anyCase: false,
      prefix: false,
    };
    for (; ; this.at++) {
      const flag = this.characters[this.at];
      if (flag === "%") word.words = true;
      else if (flag === "@") word.anyCase = true;
      else if (flag === "*") word.prefix = true;
      else break;
    }
    if (this.isLabel()) throw sqlError("42601", "modifiers syntax error");
    this.skip();
    return { kind: "word", word };
  }

  private countPart(): void {
    if (++this.parts > PARTS_MAX) throw sqlError("54000", `ltxtquery has more than ${PARTS_MAX} words and negations`);
  }

  private isLabel(): boolean {
    const next = this.characters[this.at];
    return next !== undefined && isLabelCharacter(next);
  }

  private take(character: string): boolean {
    this.skip();
    if (this.characters[this.at] !== character) return false;
    this.at++;
    this.skip();
    return true;
  }

  private skip(): void {
    while (/^\s$/.test(this.characters[this.at] ?? "")) this.at++;
  }
}

function printed(query: Query, isFirst: boolean): string {
  switch (query.kind) {
    case "word":
      return `${query.word.text}${flagsText(query.word)}`;
    case "not":
      return query.part.kind === "word" ? `!${printed(query.part, true)}` : `!( ${printed(query.part, true)} )`;
    case "and":
      return `${printed(query.left, false)} & ${printed(query.right, false)}`;
    case "or": {
      const text = `${printed(query.left, false)} | ${printed(query.right, false)}`;
      return isFirst ? text : `( ${text} )`;
    }
  }
}

export const ltxtqueryFromText = (text: string): string => printed(new LtxtqueryReader(text).query(), true);

let last: { readonly text: string; readonly query: Query } | null = null;

function queryOf(text: string): Query {
  if (last?.text !== text) last = { text, query: new LtxtqueryReader(text).query() };
  return last.query;
}

function holds(query: Query, labels: readonly string[]): boolean {
  switch (query.kind) {
    case "word":
      return labels.some((label) => matchesLabel(query.word, label));
    case "not":
      return !holds(query.part, labels);
    case "and":
      return holds(query.left, labels) && holds(query.right, labels);
    case "or":
      return holds(query.left, labels) || holds(query.right, labels);
  }
}

export const matchesLtxtquery = (labels: readonly string[], text: string): boolean => holds(queryOf(text), labels);
