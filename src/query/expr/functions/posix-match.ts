/**
 * The match that POSIX's rules give (chapter 9.7.3.5), from a place on where there is one. A pattern is run as an
 * automaton over all its states at once (Thompson, CACM 1968), forwards for the places where a part may end and
 * backwards for those where the rest may begin, so that the time grows with the text and not with the number of ways.
 * Used by posix-regexp.ts. State: what was compiled, per pattern.
 */
import { sqlError } from "../../../protocol/errors.js";
import { REGEX_LINEAR_STEPS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";
import { hasGroups, type ParsedPattern, partsOf, preferenceOf, type RegexNode, setTester } from "./posix-syntax.js";

type State =
  | { readonly kind: "set"; readonly accepts: (code: number) => boolean; next: number }
  | { readonly kind: "place"; readonly holds: (text: string, at: number) => boolean; next: number }
  | { readonly kind: "split"; a: number; b: number }
  | { readonly kind: "end" };

interface Program {
  readonly states: readonly State[];
  readonly start: number;
  /** By state: the step in which it was reached. */
  readonly reached: Uint32Array;
  step: number;
}

type Repeat = Extract<RegexNode, { kind: "repeat" }>;

const ASCII = 128;
/** What a step takes on average; so many are announced together. */
const NANOS_PER_STEP = 40;
const ANNOUNCED_STEPS = 1024;
/** As a Uint32Array holds them. */
const STEP_MAX = 0xffff_ffff;
/** Stands for no bound. */
const MANY = 1e9;

export interface PosixMatch {
  readonly end: number;
  /** From and to of each group by twos; −1: it has no part in the match. */
  readonly groups: Int32Array;
}

export class PosixMatcher {
  private readonly forwards = new Map<RegexNode, Program>();
  private readonly backwards = new Map<RegexNode, Program>();
  /** What follows each unit of a sequence, and what comes before the last round of a repetition. */
  private readonly rests = new Map<RegexNode, Map<number, RegexNode>>();
  private readonly units = new Map<RegexNode, readonly RegexNode[]>();
  private readonly sets = new Map<string, (code: number) => boolean>();
  /** What was asked for last: rounds of a repetition ask for the same. */
  private known: { part: RegexNode; to: number; limit: number; found: ReadonlySet<number> } | null = null;
  private text = "";
  private steps = 0;

  constructor(
    private readonly pattern: ParsedPattern,
    private readonly flags: string,
  ) {}

  /** Throws 54001 and Overrun. There is a match that begins at `start`. */
  match(text: string, start: number): PosixMatch {
    this.text = text;
    this.steps = 0;
    const { root, groups: count } = this.pattern;
    try {
      const end = this.ends(root, start, text.length, preferenceOf(root) === "short").at(-1)!;
      const groups = new Int32Array(2 * (count + 1)).fill(-1);
      this.dissect(root, start, end, groups);
      return { end, groups };
    } finally {
      // A long text is not kept alive.
      this.text = "";
      this.known = null;
    }
  }

  private dissect(pattern: RegexNode, from: number, to: number, groups: Int32Array): void {
    if (!hasGroups(pattern)) return;
    switch (pattern.kind) {
      case "group":
        groups[2 * pattern.index] = from;
        groups[2 * pattern.index + 1] = to;
        this.dissect(pattern.inner, from, to, groups);
        break;
      case "alternatives": {
        const branch = pattern.branches.find((other) => this.ends(other, from, to).at(-1) === to)!;
        this.dissect(branch, from, to, groups);
        break;
      }
      case "sequence":
        this.dissectSequence(pattern, from, to, groups);
        break;
      case "repeat":
        this.dissectRounds(pattern, from, to, groups);
    }
  }

  private dissectSequence(pattern: RegexNode, from: number, to: number, groups: Int32Array): void {
    const units = this.unitsOf(pattern);
    let at = from;
    units.forEach((unit, i) => {
      let end = to;
      if (i < units.length - 1) {
        const rest = this.rest(pattern, i, () => ({ kind: "sequence", items: units.slice(i + 1) }));
        end = this.chosen(unit, this.ends(unit, at, to), this.starts(rest, to, at));
      }
      this.dissect(unit, at, end, groups);
      at = end;
    });
  }

  /**
   * Only the last round counts. With a least number `x{m,n}` is `x{m-1,n-1}` and then x; else rounds follow one another
   * that take as much, or as little, as x prefers.
   */
  private dissectRounds(pattern: Repeat, from: number, to: number, groups: Int32Array): void {
    const { inner, least, most } = pattern;
    let start = from;
    if (least > 0) {
      if (most > 1) start = this.beforeLast(pattern, from, to);
    } else {
      if (from === to && (preferenceOf(inner) === "short" || this.ends(inner, from, to).length === 0)) return;
      for (let round = 1, end = from; end < to; round++) {
        start = end;
        const rest = this.rest(pattern, Math.min(most - round, MANY), () => ({ ...pattern, most: most - round }));
        const ends = this.ends(inner, start, to).filter((other) => other > start);
        end = this.chosen(inner, ends, this.starts(rest, to, from));
      }
    }
    this.dissect(inner, start, to, groups);
  }

  private beforeLast(pattern: Repeat, from: number, to: number): number {
    const { inner, least, most } = pattern;
    const before = this.rest(pattern, 0, () => ({ ...pattern, least: least - 1, most: most - 1 }));
    return this.chosen(before, this.ends(before, from, to), this.starts(inner, to, from));
  }

  private chosen(part: RegexNode, ends: readonly number[], starts: ReadonlySet<number>): number {
    const isRight = (end: number) => starts.has(end);
    return preferenceOf(part) === "short" ? ends.find(isRight)! : ends.findLast(isRight)!;
  }

  /** Neighbours without groups that prefer the same are looked at as one. */
  private unitsOf(pattern: RegexNode): readonly RegexNode[] {
    return madeOnce(this.units, pattern, () => {
      const joined: RegexNode[][] = [];
      for (const item of partsOf(pattern)) {
        const last = joined.at(-1);
        if (last !== undefined && !hasGroups(item) && !hasGroups(last[0]!) && agree(last, item)) last.push(item);
        else joined.push([item]);
      }
      return joined.map((items) => (items.length === 1 ? items[0]! : { kind: "sequence", items }));
    });
  }

  private rest(of: RegexNode, key: number, make: () => RegexNode): RegexNode {
    const rests = madeOnce(this.rests, of, () => new Map<number, RegexNode>());
    return madeOnce(rests, key, make);
  }

  /** Where a match of the part from there may end, in order. */
  private ends(part: RegexNode, from: number, limit: number, isFirstEnough = false): readonly number[] {
    const program = madeOnce(this.forwards, part, () => this.compile(part, false));
    return this.run(program, from, limit, isFirstEnough);
  }

  /** Where a match of the part that ends there may begin. */
  private starts(part: RegexNode, to: number, limit: number): ReadonlySet<number> {
    const { known } = this;
    if (known?.part === part && known.to === to && known.limit <= limit) return known.found;
    const program = madeOnce(this.backwards, part, () => this.compile(part, true));
    const found = new Set(this.run(program, to, limit, false));
    this.known = { part, to, limit, found };
    return found;
  }

  private run(program: Program, from: number, limit: number, isFirstEnough: boolean): number[] {
    const { text } = this;
    const isBackwards = limit < from;
    const found: number[] = [];
    let current = this.closure(program, [program.start], from);
    for (let at = from; current.length > 0; ) {
      if (current.some((state) => program.states[state]!.kind === "end")) {
        found.push(at);
        if (isFirstEnough) break;
      }
      if (at === limit) break;
      const code = isBackwards ? codeBefore(text, at) : text.codePointAt(at)!;
      at += (code > 0xffff ? 2 : 1) * (isBackwards ? -1 : 1);
      const next: number[] = [];
      for (const index of current) {
        const state = program.states[index]!;
        if (state.kind === "set" && state.accepts(code)) next.push(state.next);
      }
      current = this.closure(program, next, at);
    }
    return found;
  }

  /** The states that are reached without a character. */
  private closure(program: Program, from: number[], at: number): number[] {
    const { states, reached } = program;
    if (program.step === STEP_MAX) {
      reached.fill(0);
      program.step = 0;
    }
    const step = ++program.step;
    const found: number[] = [];
    while (from.length > 0) {
      const index = from.pop()!;
      if (reached[index] === step) continue;
      reached[index] = step;
      if (++this.steps % ANNOUNCED_STEPS === 0) spend(ANNOUNCED_STEPS * NANOS_PER_STEP);
      if (this.steps > REGEX_LINEAR_STEPS_MAX) {
        throw sqlError("54001", "regular expression is too complex", {
          hint: "Its alternatives or lazy parts match a long text in many ways.",
        });
      }
      const state = states[index]!;
      if (state.kind === "split") from.push(state.b, state.a);
      else if (state.kind !== "place") found.push(index);
      else if (state.holds(this.text, at)) from.push(state.next);
    }
    return found;
  }

  private compile(part: RegexNode, isBackwards: boolean): Program {
    const states: State[] = [{ kind: "end" }];
    const add = (state: State): number => states.push(state) - 1;
    /** The state that a match of the part begins with; `next`: the one that follows. */
    const build = (pattern: RegexNode, next: number): number => {
      switch (pattern.kind) {
        case "set":
          return add({ kind: "set", accepts: this.set(pattern.token), next });
        case "place":
          return add({ kind: "place", holds: placeTester(pattern.source, this.flags), next });
        case "group":
          return build(pattern.inner, next);
        case "alternatives":
          return pattern.branches
            .map((branch) => build(branch, next))
            .reduceRight((b, a) => add({ kind: "split", a, b }));
        case "sequence":
          return (isBackwards ? pattern.items : [...pattern.items].reverse()).reduce(
            (then, item) => build(item, then),
            next,
          );
        case "repeat": {
          let start = next;
          if (pattern.most === Number.POSITIVE_INFINITY) {
            const loop = { kind: "split", a: 0, b: next } as const;
            start = add({ ...loop });
            (states[start] as { a: number }).a = build(pattern.inner, start);
          } else {
            for (let i = pattern.least; i < pattern.most; i++) {
              start = add({ kind: "split", a: build(pattern.inner, start), b: next });
            }
          }
          for (let i = 0; i < pattern.least; i++) start = build(pattern.inner, start);
          return start;
        }
      }
    };
    const start = build(part, 0);
    return { states, start, reached: new Uint32Array(states.length), step: 0 };
  }

  private set(token: string): (code: number) => boolean {
    return madeOnce(this.sets, token, () => {
      const tester = setTester(token, this.flags);
      const isMember = (code: number) => tester.test(String.fromCodePoint(code));
      const ascii = Array.from({ length: ASCII }, (_, code) => isMember(code));
      return (code) => (code < ASCII ? ascii[code]! : isMember(code));
    });
  }
}

function madeOnce<K, V>(made: Map<K, V>, key: K, make: () => V): V {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  return value;
}

function agree(items: readonly RegexNode[], item: RegexNode): boolean {
  const own = preferenceOf(item);
  const others = preferenceOf({ kind: "sequence", items });
  return own === null || others === null || own === others;
}

function placeTester(source: string, flags: string): (text: string, at: number) => boolean {
  const tester = new RegExp(source, `${flags.replace(/[gy]/g, "")}y`);
  return (text, at) => {
    tester.lastIndex = at;
    return tester.test(text);
  };
}

function codeBefore(text: string, at: number): number {
  const code = at > 1 ? text.codePointAt(at - 2)! : 0;
  return code > 0xffff ? code : text.charCodeAt(at - 1);
}
