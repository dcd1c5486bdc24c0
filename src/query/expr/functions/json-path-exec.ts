/**
 * Runs SQL/JSON paths over jsonb values: PostgreSQL's jsonpath_exec.c. Called by json-path-functions.ts; a run owns
 * its state. Errors of the data are thrown only where the caller wants them (`silent` false, outside of conditions);
 * elsewhere they travel as the result "error" and make a condition unknown.
 */
import { sqlError } from "../../../protocol/errors.js";
import { spend } from "../../../protocol/stretch.js";
import { compareText } from "../../../values/compare-text.js";
import { type JsonPath, LEVEL_LAST, type PathItem } from "../../../values/json-path.js";
import { exactJsonNumber, sortedKeys } from "../../../values/json-text.js";
import type { Numeric } from "../../../values/numeric.js";
import type { JsonObject } from "./json-member.js";
import { JsonIds } from "./json-path-ids.js";
import {
  type Found,
  isNumber,
  isObject,
  type Outcome,
  type PathExecution,
  type PathSession,
  toNumeric,
} from "./json-path-item.js";
import { callMethod } from "./json-path-methods.js";
import { compareMoments, Moment } from "./json-path-moment.js";
import { regexOf } from "./regex.js";

export interface PathRun {
  readonly path: JsonPath;
  readonly target: unknown;
  /** Values of `$name`; must be an object. */
  readonly vars: unknown;
  readonly silent: boolean;
  /** Functions with the suffix _tz may convert between times with and without zone. */
  readonly withZone: boolean;
  readonly session: PathSession;
}

/** All items that the path finds, up to an error that `silent` hides. */
export function queryPath(run: PathRun): unknown[] {
  const found: unknown[] = [];
  new Executor(run).start(found);
  return found.map(plain);
}

/** Whether the path finds anything; null after an error that `silent` hides. */
export function existsPath(run: PathRun): boolean | null {
  const outcome = new Executor(run).start(null);
  return outcome === "error" ? null : outcome === "ok";
}

/** Dates and times leave a path as strings. */
const plain = (value: unknown) => (value instanceof Moment ? value.toString() : value);

/** Three-valued: null is unknown. */
type Truth = boolean | null;

const NANOS_PER_STEP = 50;

class Executor implements PathExecution {
  readonly lax: boolean;
  /** Items of lax paths that do not fit their accessor are passed over. */
  private ignoreStructure: boolean;
  private throwing: boolean;
  private current: unknown;
  /** Length of the array whose subscripts are being read. */
  private arraySize = -1;
  private idSource: JsonIds | null = null;

  constructor(private readonly run: PathRun) {
    this.lax = run.path.lax;
    this.ignoreStructure = this.lax;
    this.throwing = !run.silent;
    this.current = run.target;
    if (!isObject(run.vars)) {
      throw sqlError("22023", '"vars" argument is not an object', {
        detail: 'Jsonpath parameters should be encoded as key-value pairs of "vars" object.',
      });
    }
  }

  get session(): PathSession {
    return this.run.session;
  }

  get withZone(): boolean {
    return this.run.withZone;
  }

  /** Identities of objects for keyvalue(), numbered when first asked for. */
  get ids(): JsonIds {
    this.idSource ??= new JsonIds(this.run.target, this.run.vars);
    return this.idSource;
  }

  start(found: Found): Outcome {
    if (this.lax || found !== null) return this.execute(this.run.path.root, this.run.target, found);
    // A strict path must be followed to its end, to see whether there are errors.
    const all: unknown[] = [];
    const outcome = this.execute(this.run.path.root, this.run.target, all);
    return outcome === "error" ? outcome : all.length > 0 ? "ok" : "none";
  }

  /** An error of the data: thrown, or the outcome "error". */
  fail(code: string, message: string, hint?: string): "error" {
    if (this.throwing) throw sqlError(code, message, hint === undefined ? undefined : { hint });
    return "error";
  }

  private structural(code: string, message: string): Outcome {
    return this.ignoreStructure ? "none" : this.fail(code, message);
  }

  execute(item: PathItem, json: unknown, found: Found): Outcome {
    return this.step(item, json, found, this.lax);
  }

  /** Hands a result to what follows in the path, or to the caller. */
  proceed(item: PathItem, result: unknown, found: Found): Outcome {
    if (item.next !== null) return this.execute(item.next, result, found);
    found?.push(result);
    return "ok";
  }

  private step(item: PathItem, json: unknown, found: Found, unwrap: boolean): Outcome {
    switch (item.op) {
      case "null":
        return this.proceed(item, null, found);
      case "bool":
        return this.proceed(item, item.value, found);
      case "number":
        return this.proceed(item, exactJsonNumber(item.value), found);
      case "string":
        return this.proceed(item, item.text, found);
      case "variable":
        return this.variable(item, item.text, found);
      case "root":
        return this.proceed(item, this.run.target, found);
      case "current":
        return this.proceed(item, this.current, found);
      case "last":
        return this.proceed(item, this.arraySize - 1, found);
      case "key":
        return this.key(item, item.text, json, found, unwrap);
      case "anykey":
        if (isObject(json)) return this.members(item.next, json, found, this.lax);
        if (unwrap && Array.isArray(json)) return this.unwrapped(item, json, found);
        return this.structural("2203C", "jsonpath wildcard member accessor can only be applied to an object");
      case "anyarray":
        if (Array.isArray(json)) return this.members(item.next, json, found, this.lax);
        if (this.lax) return this.proceed(item, json, found);
        return this.structural("22039", "jsonpath wildcard array accessor can only be applied to an array");
      case "index":
        return this.index(item, json, found);
      case "any":
        return this.anyLevel(item, json, found);
      case "filter":
        if (unwrap && Array.isArray(json)) return this.unwrapped(item, json, found);
        return this.nested(item.input, json) === true ? this.proceed(item, json, found) : "none";
      case "binary":
        if (!ARITHMETIC.has(item.name)) return this.proceed(item, this.truth(item, json), found);
        return this.arithmetic(item, json, found);
      case "unary":
        return this.unary(item, json, found);
      case "method":
        if (unwrap && Array.isArray(json) && item.name !== "type" && item.name !== "size") {
          return this.unwrapped(item, json, found);
        }
        return callMethod(this, item, json, found);
      default:
        return this.proceed(item, this.truth(item, json), found);
    }
  }

  private variable(item: PathItem, name: string, found: Found): Outcome {
    const { vars } = this.run;
    if (!isObject(vars) || !Object.hasOwn(vars, name)) {
      throw sqlError("42704", `could not find jsonpath variable "${name}"`);
    }
    return this.proceed(item, vars[name], found);
  }

  private key(item: PathItem, name: string, json: unknown, found: Found, unwrap: boolean): Outcome {
    if (isObject(json)) {
      if (Object.hasOwn(json, name)) return this.proceed(item, json[name], found);
      return this.structural("2203A", `JSON object does not contain key "${name}"`);
    }
    if (unwrap && Array.isArray(json)) return this.unwrapped(item, json, found);
    return this.structural("2203A", "jsonpath member accessor can only be applied to an object");
  }

  /** The item for each member of an array, which are not unwrapped once more. */
  private unwrapped(item: PathItem | null, array: readonly unknown[], found: Found): Outcome {
    return this.members(item, array, found, false);
  }

  private members(item: PathItem | null, json: object, found: Found, unwrapNext: boolean): Outcome {
    return this.levels(item, json, found, { first: 1, last: 1, ignore: false, unwrapNext }, 1);
  }

  /** Members of a container down to a level; those from `first` on are results. */
  private levels(item: PathItem | null, json: object, found: Found, range: LevelRange, level: number): Outcome {
    let outcome: Outcome = "none";
    if (level > range.last) return outcome;
    this.run.session.checkpoint();
    spend(NANOS_PER_STEP);
    const values = Array.isArray(json) ? json : sortedKeys(json as JsonObject).map((key) => (json as JsonObject)[key]);
    for (const value of values) {
      spend(NANOS_PER_STEP);
      const container = Array.isArray(value) || isObject(value);
      const leafOnly = range.first === LEVEL_LAST && range.last === LEVEL_LAST;
      if (level >= range.first || (leafOnly && !container)) {
        if (item !== null) {
          const ignored = this.ignoreStructure;
          if (range.ignore) this.ignoreStructure = true;
          outcome = this.step(item, value, found, range.unwrapNext);
          this.ignoreStructure = ignored;
          if (outcome === "error" || (outcome === "ok" && found === null)) return outcome;
        } else if (found === null) return "ok";
        else found.push(value);
      }
      if (level < range.last && container) {
        outcome = this.levels(item, value as object, found, range, level + 1);
        if (outcome === "error" || (outcome === "ok" && found === null)) return outcome;
      }
    }
    return outcome;
  }

  private anyLevel(item: PathItem & { op: "any" }, json: unknown, found: Found): Outcome {
    let outcome: Outcome = "none";
    if (item.first === 0) {
      const ignored = this.ignoreStructure;
      this.ignoreStructure = true;
      outcome = this.proceed(item, json, found);
      this.ignoreStructure = ignored;
      if (outcome === "error" || (outcome === "ok" && found === null)) return outcome;
    }
    if (!Array.isArray(json) && !isObject(json)) return outcome;
    const range = { first: item.first, last: item.last, ignore: true, unwrapNext: this.lax };
    return this.levels(item.next, json, found, range, 1);
  }

  private index(item: PathItem & { op: "index" }, json: unknown, found: Found): Outcome {
    const array = Array.isArray(json) ? json : this.lax ? [json] : null;
    if (array === null) return this.structural("22039", "jsonpath array accessor can only be applied to an array");
    const enclosing = this.arraySize;
    this.arraySize = array.length;
    try {
      let outcome: Outcome = "none";
      for (const subscript of item.subscripts) {
        const from = this.subscript(subscript.from, json);
        if (from === null) return "error";
        const to = subscript.to === null ? from : this.subscript(subscript.to, json);
        if (to === null) return "error";
        if (!this.ignoreStructure && (from < 0 || from > to || to >= array.length)) {
          return this.fail("22033", "jsonpath array subscript is out of bounds");
        }
        for (let i = Math.max(from, 0); i <= Math.min(to, array.length - 1); i++) {
          outcome = this.proceed(item, array[i], found);
          if (outcome === "error" || (outcome === "ok" && found === null)) return outcome;
        }
      }
      return outcome;
    } finally {
      this.arraySize = enclosing;
    }
  }

  /** Null after an error. */
  private subscript(item: PathItem, json: unknown): number | null {
    const found: unknown[] = [];
    if (this.execute(item, json, found) === "error") return null;
    if (found.length !== 1 || !isNumber(found[0])) {
      this.fail("22033", "jsonpath array subscript is not a single numeric value");
      return null;
    }
    const index = toNumeric(found[0]).trunc().toNumber();
    if (index >= -2_147_483_648 && index <= 2_147_483_647) return index;
    this.fail("22033", "jsonpath array subscript is out of integer range");
    return null;
  }

  /** The items of an operand; arrays among them are spread in lax mode where `unwrap`. */
  private operand(item: PathItem, json: unknown, found: Found, unwrap: boolean): Outcome {
    if (!unwrap || !this.lax) return this.execute(item, json, found);
    const items: unknown[] = [];
    if (this.execute(item, json, items) === "error") return "error";
    for (const value of items) {
      if (Array.isArray(value)) this.unwrapped(null, value, found);
      else found?.push(value);
    }
    return "ok";
  }

  private quietly(item: PathItem, json: unknown, found: Found, unwrap: boolean): Outcome {
    const { throwing } = this;
    this.throwing = false;
    try {
      return this.operand(item, json, found, unwrap);
    } finally {
      this.throwing = throwing;
    }
  }

  private arithmetic(item: PathItem & { op: "binary" }, json: unknown, found: Found): Outcome {
    const sides = { left: [] as unknown[], right: [] as unknown[] };
    for (const side of ["left", "right"] as const) {
      if (this.operand(item[side], json, sides[side], true) === "error") return "error";
    }
    for (const side of ["left", "right"] as const) {
      if (sides[side].length !== 1 || !isNumber(sides[side][0])) {
        return this.fail("22038", `${side} operand of jsonpath operator ${item.name} is not a single numeric value`);
      }
    }
    const [left, right] = [toNumeric(sides.left[0] as number), toNumeric(sides.right[0] as number)];
    if ((item.name === "/" || item.name === "%") && right.isZero()) return this.fail("22012", "division by zero");
    if (item.next === null && found === null) return "ok";
    return this.proceed(item, exactJsonNumber(calculate(item.name, left, right)), found);
  }

  private unary(item: PathItem & { op: "unary" }, json: unknown, found: Found): Outcome {
    const operands: unknown[] = [];
    if (this.operand(item.input, json, operands, true) === "error") return "error";
    let outcome: Outcome = "none";
    for (const operand of operands) {
      if (!isNumber(operand)) {
        if (found === null && item.next === null) continue;
        return this.fail("2203B", `operand of unary jsonpath operator ${item.name} is not a numeric value`);
      }
      const number = toNumeric(operand);
      const result = this.proceed(item, exactJsonNumber(item.name === "-" ? number.negate() : number), found);
      if (result === "error" || (result === "ok" && found === null)) return result;
      if (result === "ok") outcome = "ok";
    }
    return outcome;
  }

  /** A condition with `json` as its `@`. */
  private nested(item: PathItem, json: unknown): Truth {
    const enclosing = this.current;
    this.current = json;
    const result = this.truth(item, json);
    this.current = enclosing;
    return result;
  }

  private truth(item: PathItem, json: unknown): Truth {
    switch (item.op) {
      case "binary":
        if (item.name === "&&" || item.name === "||") {
          const decisive = item.name === "||";
          const left = this.truth(item.left, json);
          if (left === decisive) return decisive;
          const right = this.truth(item.right, json);
          return right === !decisive ? left : right;
        }
        return this.predicate(item.left, item.right, json, true, (a, b) => this.compare(item.name, a, b));
      case "not": {
        const inner = this.truth(item.input, json);
        return inner === null ? null : !inner;
      }
      case "is unknown":
        return this.truth(item.input, json) === null;
      case "starts with":
        return this.predicate(item.left, item.right, json, false, (a, b) =>
          typeof a === "string" && typeof b === "string" ? a.startsWith(b) : null,
        );
      case "like_regex":
        return this.predicate(item.input, null, json, false, (text) =>
          typeof text === "string" ? pathRegex(item.pattern, item.flags).test(text) : null,
        );
      case "exists": {
        const found: Found = this.lax ? null : [];
        const outcome = this.quietly(item.input, json, found, false);
        if (outcome === "error") return null;
        return found === null ? outcome === "ok" : found.length > 0;
      }
      default:
        throw new Error(`not a condition of a path: ${item.op}`);
    }
  }

  /** A test of every pair: true as soon as one holds; in strict mode an unknown one decides. */
  private predicate(
    left: PathItem,
    right: PathItem | null,
    json: unknown,
    unwrapRight: boolean,
    test: (a: unknown, b: unknown) => Truth,
  ): Truth {
    const lefts: unknown[] = [];
    const rights: unknown[] = [];
    if (this.quietly(left, json, lefts, true) === "error") return null;
    if (right === null) rights.push(null);
    else if (this.quietly(right, json, rights, unwrapRight) === "error") return null;
    let found = false;
    let unknown = false;
    for (const a of lefts) {
      for (const b of rights) {
        spend(NANOS_PER_STEP);
        const result = test(a, b);
        if (result === null) {
          if (!this.lax) return null;
          unknown = true;
        } else if (result) {
          if (this.lax) return true;
          found = true;
        }
      }
    }
    return found ? true : unknown ? null : false;
  }

  private compare(name: string, a: unknown, b: unknown): Truth {
    if (a === null || b === null) {
      // null equals nothing but itself
      return a === b ? decide(name, 0) : name === "!=";
    }
    if (isNumber(a) && isNumber(b)) return decide(name, toNumeric(a).compare(toNumeric(b)));
    if (a instanceof Moment && b instanceof Moment) {
      const order = compareMoments(a, b, this.withZone, this.session.timeZone);
      return order === null ? null : decide(name, order);
    }
    if (typeof a === "boolean" && typeof b === "boolean") return decide(name, Number(a) - Number(b));
    return typeof a === "string" && typeof b === "string" ? decide(name, compareText(a, b)) : null;
  }
}

interface LevelRange {
  readonly first: number;
  readonly last: number;
  readonly ignore: boolean;
  readonly unwrapNext: boolean;
}

const ARITHMETIC = new Set(["+", "-", "*", "/", "%"]);

function calculate(name: string, left: Numeric, right: Numeric): Numeric {
  switch (name) {
    case "+":
      return left.add(right);
    case "-":
      return left.sub(right);
    case "*":
      return left.mul(right);
    case "/":
      return left.div(right);
    default:
      return left.mod(right);
  }
}

function decide(name: string, order: number): boolean {
  switch (name) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    default:
      return order >= 0;
  }
}

/** XQuery's flags as PostgreSQL's: without `s` a dot stops at newlines, with `m` anchors match there too. */
export function pathRegex(pattern: string, flags: string): RegExp {
  const quoted = flags.includes("q");
  let options = flags.includes("i") ? "i" : "";
  if (quoted) options += "q";
  else {
    if (!flags.includes("s")) options += "p";
    if (flags.includes("m")) options += "w";
  }
  return regexOf(pattern, options);
}
