/**
 * Figures of each question of an evaluation, so that two evaluations can be compared question by question. As they are
 * stored they are few long texts, which are written and read in no time. Pure.
 */
import { createHash } from "node:crypto";
import { giveWay, type Turns } from "../../protocol/turns.js";

export interface QuestionScores {
  /** Of each question, the same in other evaluations (keysOf). Empty: there are too many. */
  readonly keys: readonly string[];
  /** By setting and metric, of each question; NaN: the question has none. */
  readonly series: Readonly<Record<string, Readonly<Record<string, Float64Array>>>>;
}

/** Numbers of 32 bits as base64. */
export interface StoredScores {
  readonly keys: string;
  readonly series: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const KEY_CHARACTERS = 16;
const KEYS_A_TURN = 128;

/** Of each text, short; of a text that comes again another one each time. */
export async function keysOf(turns: Turns, count: number, textAt: (place: number) => string): Promise<string[]> {
  const seen = new Map<string, number>();
  const keys: string[] = [];
  for (let place = 0; place < count; place++) {
    const key = keyOf(textAt(place));
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    keys.push(times === 0 ? key : keyOf(`${key} ${times}`));
    if (place % KEYS_A_TURN === 0) await giveWay(turns);
  }
  return keys;
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, KEY_CHARACTERS);
}

export function storedScores({ keys, series }: QuestionScores): StoredScores {
  return { keys: keys.join(""), series: eachSeries(series, (values) => base64Of(values)) };
}

export function readScores({ keys, series }: StoredScores): QuestionScores {
  const count = keys.length / KEY_CHARACTERS;
  return {
    keys: Array.from({ length: count }, (_, i) => keys.slice(i * KEY_CHARACTERS, (i + 1) * KEY_CHARACTERS)),
    series: eachSeries(series, numbersOf),
  };
}

function base64Of(values: Float64Array): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

function numbersOf(text: string): Float64Array {
  const bytes = Buffer.from(text, "base64");
  return Float64Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

function eachSeries<A, B>(series: Readonly<Record<string, Readonly<Record<string, A>>>>, make: (values: A) => B) {
  return Object.fromEntries(
    Object.entries(series).map(([setting, metrics]) => [
      setting,
      Object.fromEntries(Object.entries(metrics).map(([metric, values]) => [metric, make(values)])),
    ]),
  );
}
