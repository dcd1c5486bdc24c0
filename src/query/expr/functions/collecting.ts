/**
 * Aggregates that join texts and JSON. Each value is added as it comes, so that the result for millions of them is
 * ready when it is asked for; asking is one step, which cannot give way.
 */
import { sqlError } from "../../../protocol/errors.js";
import { JSON_KEYS_MAX, TEXT_CHARACTERS_MAX } from "../../../protocol/limits.js";
import { Numeric } from "../../../values/numeric.js";
import { JSON_TYPE, Json, type SqlType, type Value } from "../../../values/values.js";
import type { AggregateFunction } from "../expr.js";
import { checkParts, LongList, partsOf } from "../value-parts.js";
import { type Aggregate, aggregate } from "./aggregate-steps.js";
import { type AggregateFamily, family, formOf, matchPatterns } from "./define.js";
import { isZonedJson, jsonTextOf, keptJson, toJson } from "./to-json.js";

/** Pieces that are joined at a time: V8 takes long to put a text together that was added to millions of times. */
const PIECES_MAX = 1024;
/** Characters from which on a piece is copied only once. */
const LONG_PIECE = 4096;

/** A text that grows by short pieces. */
export class JoinedText {
  private readonly chunks: string[] = [];
  private pieces: string[] = [];
  private length = 0;

  /** Throws 54000. */
  add(piece: string): void {
    this.length += piece.length;
    if (this.length > TEXT_CHARACTERS_MAX) throw sqlError("54000", "requested length too large");
    if (piece.length >= LONG_PIECE) {
      this.closeChunk();
      this.chunks.push(piece);
    } else if (this.pieces.push(piece) === PIECES_MAX) this.closeChunk();
  }

  private closeChunk(): void {
    if (this.pieces.length === 0) return;
    this.chunks.push(this.pieces.join(""));
    this.pieces = [];
  }

  get text(): string {
    return this.between("", "");
  }

  /** Everything is joined at once: V8 copies a text again that is added to. */
  between(open: string, close: string): string {
    return [open, ...this.chunks, ...this.pieces, close].join("");
  }
}

interface Texts {
  readonly joined: JoinedText;
  any: boolean;
}

/** Each value but the first is preceded by its own separator. */
export const joinText: Aggregate<Texts> = {
  init: () => ({ joined: new JoinedText(), any: false }),
  step(state, value: string | null, separator: string | null = ",") {
    if (value === null) return state;
    if (state.any && separator !== null) state.joined.add(separator);
    state.joined.add(value);
    state.any = true;
    return state;
  },
  result: ({ any, joined }) => (any ? joined.text : null),
};

/** What has been given away as a result is copied before it grows: over a window the same state goes on. */
interface JsonState<T> {
  value: T;
  isGiven: boolean;
  /** Of json, which keeps its text. */
  readonly text: JoinedText | null;
  parts: number;
  count: number;
}

function jsonState<T>(value: T, returns: SqlType): JsonState<T> {
  return { value, isGiven: false, text: returns === JSON_TYPE ? new JoinedText() : null, parts: 1, count: 0 };
}

function given(state: JsonState<unknown>, value: unknown, open: string, close: string): Json | null {
  if (state.count === 0) return null;
  state.isGiven = true;
  return state.text === null ? new Json(value) : new Json(value, state.text.between(open, close));
}

/** Throws 54000. */
function count(state: JsonState<unknown>, member: unknown): void {
  state.count++;
  state.parts += typeof member === "object" && member !== null ? partsOf(member) : 1;
  checkParts(state.parts);
}

/** Where the session's time zone decides what the JSON is, the steps are made for one run of a statement. */
function inZone(made: (timeZone: string) => AggregateFunction): AggregateFunction {
  const fn = made("UTC");
  return fn.args.some(isZonedJson) ? { ...fn, open: ({ timeZone }) => made(timeZone) } : fn;
}

export function jsonArray(name: string, returns: SqlType): AggregateFamily {
  return family(name, formOf(["any"], returns), (types) => {
    const match = matchPatterns(["any"], types);
    if (match === null) return null;
    const [type] = match.args as [SqlType];
    const separator = type.name === "array" || type.name === "record" ? ", \n " : ", ";
    const steps = (timeZone: string): Aggregate<JsonState<LongList<unknown>>> => ({
      takesJson: true,
      init: () => jsonState(new LongList<unknown>(), returns),
      step(state, value: Value) {
        const kept = keptJson(type, value);
        if (state.text !== null) {
          if (state.count > 0) state.text.add(separator);
          state.text.add(kept?.text ?? jsonTextOf(type, value, timeZone));
        }
        const member = kept === undefined ? toJson(type, value, timeZone) : kept.json;
        state.value.push(member);
        count(state, member);
        return state;
      },
      result: (state) => given(state, state.value.list, "[", "]"),
      resultInTurns: (state, turns) =>
        state.value.isLong ? state.value.listInTurns(turns).then((list) => given(state, list, "[", "]")) : null,
    });
    return inZone((timeZone) => aggregate(name, [type], returns, steps(timeZone), false));
  });
}

export function jsonObject(name: string, returns: SqlType): AggregateFamily {
  return family(name, formOf(["any", "any"], returns), (types) => {
    const match = matchPatterns(["any", "any"], types);
    if (match === null) return null;
    const [keyType, valueType] = match.args as [SqlType, SqlType];
    const steps = (timeZone: string): Aggregate<JsonState<Record<string, unknown>>> => ({
      takesJson: true,
      init: () => jsonState({}, returns),
      step(state, key: Value, value: Value) {
        if (key === null) throw sqlError("22023", "field name must not be null");
        if (state.isGiven) state.value = { ...state.value };
        state.isGiven = false;
        const name = keyText(toJson(keyType, key, timeZone));
        const separator = state.count > 0 ? ", " : "";
        const kept = keptJson(valueType, value);
        state.text?.add(`${separator}${JSON.stringify(name)} : `);
        state.text?.add(kept?.text ?? jsonTextOf(valueType, value, timeZone));
        const member = kept === undefined ? toJson(valueType, value, timeZone) : kept.json;
        setMember(state.value, name, member);
        count(state, member);
        if (state.count > JSON_KEYS_MAX) {
          throw sqlError("54000", `a JSON object that is put together has at most ${JSON_KEYS_MAX} keys`);
        }
        return state;
      },
      result: (state) => given(state, state.value, "{ ", " }"),
    });
    return inZone((timeZone) => aggregate(name, [keyType, valueType], returns, steps(timeZone), false));
  });
}

function keyText(key: unknown): string {
  if (typeof key === "object" && key !== null && !(key instanceof Numeric)) {
    throw sqlError("22023", "key value must be scalar, not array, composite, or json");
  }
  return String(key);
}

/** `__proto__` is a key like any other. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
