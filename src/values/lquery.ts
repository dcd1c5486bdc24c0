/**
 * lquery, a pattern of paths: `Top.*{1,2}.!pdf|txt@.Astro*%`. The value is the text as PostgreSQL prints it. A level
 * says which labels it takes and how many; `*` takes any. Called by the formats and by the functions of ltree.
 */
import { sqlError } from "../protocol/errors.js";
import { checkLabel, isLabelCharacter, LTREE_LABELS_MAX } from "./ltree.js";

/** What a label may be. */
export interface LabelPattern {
  readonly text: string;
  /** `%`: each word of it, parted by underscores, is a word of the label. */
  readonly words: boolean;
  /** `@`: case makes no difference. */
  readonly anyCase: boolean;
  /** `*`: the label, or a word of it, may go on. */
  readonly prefix: boolean;
}

interface Level {
  /** None: any label. */
  readonly patterns: LabelPattern[];
  negated: boolean;
  low: number;
  high: number;
  /** The numbers are written. */
  counted: boolean;
}

/** Throws 42601, 42622, 54000. */
class LqueryReader {
  private readonly characters: readonly string[];
  private at = 0;

  constructor(text: string) {
    this.characters = [...text];
  }

  levels(): readonly Level[] {
    const levels = [this.level()];
    while (this.at < this.characters.length) {
      if (this.next() !== ".") throw this.wrong();
      this.at++;
      levels.push(this.level());
    }
    if (levels.length <= LTREE_LABELS_MAX) return levels;
    const message = `number of lquery items (${levels.length}) exceeds the maximum allowed (${LTREE_LABELS_MAX})`;
    throw sqlError("54000", message);
  }

  private level(): Level {
    const level: Level = { patterns: [], negated: false, low: 1, high: 1, counted: false };
    if (this.next() === "*") {
      this.at++;
      level.low = 0;
      level.high = LTREE_LABELS_MAX;
    } else {
      if (this.next() === "!") {
        this.at++;
        level.negated = true;
        if (!this.isLabel()) throw this.emptyLabel();
      }
      level.patterns.push(this.pattern());
      while (this.next() === "|") {
        this.at++;
        level.patterns.push(this.pattern());
      }
    }
    if (this.next() === "{") this.count(level);
    return level;
  }

  private pattern(): LabelPattern {
    if (!this.isLabel()) throw this.wrong();
    const start = this.at;
    while (this.isLabel()) this.at++;
    const text = this.characters.slice(start, this.at).join("");
    const pattern = { text, words: false, anyCase: false, prefix: false };
    checkLabel(this.at - start, this.at + 1);
    for (; ; this.at++) {
      const flag = this.next();
      if (flag === "%") pattern.words = true;
      else if (flag === "@") pattern.anyCase = true;
      else if (flag === "*") pattern.prefix = true;
      else break;
    }
    return pattern;
  }

  /** `{n}`, `{n,}`, `{,n}`, `{n,m}`, `{,}`. */
  private count(level: Level): void {
    this.at++;
    level.counted = true;
    const lowAt = this.at + 1;
    const low = this.number();
    if (low !== null) this.checkLimit("Low", low, lowAt);
    level.low = low ?? 0;
    level.high = level.low;
    if (this.next() === ",") {
      this.at++;
      const highAt = this.at + 1;
      const high = this.number();
      if (high !== null) this.checkLimit("High", high, highAt);
      level.high = high ?? LTREE_LABELS_MAX;
      if (level.low > level.high) {
        const detail = `Low limit (${level.low}) is greater than high limit (${level.high}), at character ${highAt}.`;
        throw sqlError("42601", "lquery syntax error", { detail });
      }
    } else if (low === null) throw this.wrong();
    if (this.next() !== "}") throw this.wrong();
    this.at++;
  }

  private number(): number | null {
    const start = this.at;
    while (/^[0-9]$/.test(this.next() ?? "")) this.at++;
    return start === this.at ? null : Number(this.characters.slice(start, this.at).join(""));
  }

  private checkLimit(which: string, limit: number, position: number): void {
    if (limit <= LTREE_LABELS_MAX) return;
    throw sqlError("54000", "lquery syntax error", {
      detail: `${which} limit (${limit}) exceeds the maximum allowed (${LTREE_LABELS_MAX}), at character ${position}.`,
    });
  }

  private next(): string | undefined {
    return this.characters[this.at];
  }

  private isLabel(): boolean {
    const next = this.next();
    return next !== undefined && isLabelCharacter(next);
  }

  private wrong(): Error {
    if (this.at >= this.characters.length) {
      return sqlError("42601", "lquery syntax error", { detail: "Unexpected end of input." });
    }
    return sqlError("42601", `lquery syntax error at character ${this.at + 1}`);
  }

  private emptyLabel(): Error {
    return sqlError("42601", `lquery syntax error at character ${this.at + 1}`, {
      detail: "Empty labels are not allowed.",
    });
  }
}

const LAST_QUERIES = 64;
const queries = new Map<string, readonly Level[]>();

/** A statement has few patterns and asks for each of them with every row. */
function levelsOf(text: string): readonly Level[] {
  let levels = queries.get(text);
  if (levels !== undefined) return levels;
  levels = new LqueryReader(text).levels();
  if (queries.size >= LAST_QUERIES) queries.clear();
  if (text.length < 1024) queries.set(text, levels);
  return levels;
}

export function flagsText({ words, anyCase, prefix }: LabelPattern): string {
  return `${words ? "%" : ""}${anyCase ? "@" : ""}${prefix ? "*" : ""}`;
}

function countText({ low, high, patterns, counted }: Level): string {
  if (!counted && patterns.length > 0) return "";
  if (low === high) return `{${low}}`;
  const isOpen = high === LTREE_LABELS_MAX;
  if (low === 0 && isOpen) return patterns.length === 0 ? "" : "{,}";
  return `{${low === 0 ? "" : low},${isOpen ? "" : high}}`;
}

export function lqueryFromText(text: string): string {
  return new LqueryReader(text)
    .levels()
    .map((level) => {
      const labels = level.patterns.map((pattern) => `${pattern.text}${flagsText(pattern)}`).join("|");
      return `${level.negated ? "!" : ""}${labels === "" ? "*" : labels}${countText(level)}`;
    })
    .join(".");
}

/** The path that everything which matches is below, or is: the levels at the beginning that take one label once. */
export function lqueryPrefix(query: string): string {
  const labels: string[] = [];
  for (const { patterns, negated, low, high } of levelsOf(query)) {
    const [pattern, ...others] = patterns;
    if (pattern === undefined || others.length > 0 || negated || low !== 1 || high !== 1) break;
    if (pattern.words || pattern.anyCase || pattern.prefix) break;
    labels.push(pattern.text);
  }
  return labels.join(".");
}

const WORD = /[^_]+/g;

export function matchesLabel({ text, words, anyCase, prefix }: LabelPattern, label: string): boolean {
  const [wanted, given] = anyCase ? [text.toLowerCase(), label.toLowerCase()] : [text, label];
  if (!words) return prefix ? given.startsWith(wanted) : given === wanted;
  const there: readonly string[] = given.match(WORD) ?? [];
  return (wanted.match(WORD) ?? []).every((word) =>
    there.some((other) => (prefix ? other.startsWith(word) : other === word)),
  );
}

function takes({ patterns, negated }: Level, label: string): boolean {
  if (patterns.length === 0) return true;
  return patterns.some((pattern) => matchesLabel(pattern, label)) !== negated;
}

/** Whether the whole path matches. In time of levels times labels: where levels may end is followed for all at once. */
export function matchesLquery(labels: readonly string[], query: string): boolean {
  const count = labels.length;
  let ends = new Uint8Array(count + 1);
  ends[0] = 1;
  for (const level of levelsOf(query)) {
    const next = new Uint8Array(count + 1);
    // Of the labels that the level takes in a row up to `at`, where they begin, and which starts are near enough.
    let begin = 0;
    let near: number[] = [];
    let first = 0;
    for (let at = 0; at <= count; at++) {
      if (at > 0 && !takes(level, labels[at - 1]!)) begin = at;
      if (at - level.low >= 0 && ends[at - level.low] === 1) near.push(at - level.low);
      const least = Math.max(begin, at - level.high);
      while (first < near.length && near[first]! < least) first++;
      if (first > 64) {
        near = near.slice(first);
        first = 0;
      }
      if (first < near.length) next[at] = 1;
    }
    ends = next;
  }
  return ends[count] === 1;
}
