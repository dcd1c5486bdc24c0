/**
 * Large JSON values, parsed and written with turns in between. Called where values come out of storage, go into it, or
 * come from another process.
 */
import type { Turns } from "../protocol/turns.js";
import { readJsonInPieces } from "./json-pieces.js";
import { checkJson, parseJson } from "./json-text.js";
import { flattened, jsonPieces } from "./json-value-pieces.js";
import { costLeft } from "./value-cost.js";
import { JSONB, type Json } from "./values.js";

/** A shorter text is parsed at once. */
export const LONG_JSON_CHARACTERS = 32 * 1024;
/** A value of fewer parts is written at once. */
const LARGE_PARTS = 4096;

/** The value of a text, as parseJson gives it, or checkJson for `json`. Throws 22P02. */
export async function jsonTextInTurns(text: string, keepsText: boolean, turns: Turns): Promise<unknown> {
  const parse = keepsText ? checkJson : parseJson;
  const isLong = text.length > LONG_JSON_CHARACTERS && /^\s*[[{]/.test(text);
  return isLong ? readJsonInPieces(Buffer.from(text), turns, { parse, isOurs: true }) : parse(text);
}

/** The value is there afterwards. */
export async function parseInTurns(json: Json, turns: Turns): Promise<void> {
  const text = json.unparsed;
  if (text !== undefined) json.take(await jsonTextInTurns(text, json.text !== undefined, turns));
}

/** A `jsonb` value of many parts whose text is not at hand. */
export function isUnwritten(json: Json): boolean {
  return json.text === undefined && json.compact === undefined && costLeft(json, LARGE_PARTS) < 0;
}

/** The compact text is there afterwards, with which the value can be stored and sent. */
export async function writeInTurns(json: Json, turns: Turns): Promise<string> {
  let text = "";
  for (const piece of jsonPieces(JSONB, json)) {
    text += flattened(piece);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  json.compact = text;
  return text;
}
