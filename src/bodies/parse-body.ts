/**
 * Turns a body's bytes into its value: small ones at once, large ones in pieces with turns in between, so that no
 * other request waits for them. A body that is nested too deeply is refused before it is walked. Called by validate.ts
 * and by readers of JSON-RPC and of lines of imports. Errors are invalid_json and invalid_request, and name the place.
 */

import { DbError } from "../protocol/errors.js";
import { findJsonFault } from "../protocol/json-fault.js";
import { LARGE_BODY_BYTES } from "../protocol/limits.js";
import type { Turns } from "../protocol/turns.js";
import { checkDepth, JsonFault, readJsonInPieces } from "../values/json-pieces.js";
import { parseKeepingIntegers } from "../values/json-text.js";
import { MsgpackFault, readMsgpack, readMsgpackInPieces } from "../values/msgpack-pieces.js";
import { parseVectorElements, parseVectorJson } from "../vector/vector-json.js";

export interface BodyForm {
  readonly hasVectors?: boolean;
  readonly keepsIntegers?: boolean;
  /** What errors call it; "The body" unless said. */
  readonly what?: string;
}

/** Without `turns` it is read at once, however large it is. */
export function parseJsonBody(bytes: Buffer, form: BodyForm, turns: Turns | null): unknown {
  const read = form.keepsIntegers ? parseKeepingIntegers : (text: string): unknown => JSON.parse(text);
  if (turns === null || bytes.length < LARGE_BODY_BYTES || !isContainer(bytes)) {
    try {
      checkDepth(bytes);
      const plain = form.hasVectors ? parseVectorJson(bytes) : undefined;
      return plain ?? read(bytes.toString("utf8"));
    } catch (error) {
      throw jsonError(bytes, error, form);
    }
  }
  const parseElements = form.hasVectors
    ? (member: string, elements: Buffer) => (member === "vectors" ? parseVectorElements(elements) : undefined)
    : undefined;
  return readJsonInPieces(bytes, turns, { parse: read, ...(parseElements && { parseElements }) }).catch(
    (error: unknown) => {
      throw jsonError(bytes, error, form);
    },
  );
}

export function parseMsgpackBody(bytes: Buffer, turns: Turns | null): unknown {
  try {
    if (turns === null || bytes.length < LARGE_BODY_BYTES) return readMsgpack(bytes);
  } catch (error) {
    throw msgpackError(error);
  }
  return readMsgpackInPieces(bytes, turns).catch((error: unknown) => {
    throw msgpackError(error);
  });
}

/** Anything else is one text or number, which no piece can be taken of. */
function isContainer(bytes: Buffer): boolean {
  const first = bytes.find((byte) => byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9);
  return first === 0x7b || first === 0x5b;
}

function msgpackError(error: unknown): unknown {
  if (error instanceof DbError) return error;
  if (error instanceof MsgpackFault && error.isTooLarge)
    return new DbError("invalid_request", `The body ${error.message}.`);
  return new DbError("invalid_request", `The body is not valid MessagePack: ${(error as Error).message}`);
}

/** Bytes in which a tolerant parser looks for a fault: the piece that has it begins there. */
const SEARCHED_BYTES = 256 * 1024;

function jsonError(bytes: Buffer, error: unknown, { what = "The body" }: BodyForm): unknown {
  if (error instanceof SyntaxError) return syntaxError(bytes, whole, what);
  if (!(error instanceof JsonFault)) return error;
  if (error.kind === "syntax") return syntaxError(bytes, error, what);
  const hint = error.kind === "members" ? "Send a list, or several objects." : "Nest it less.";
  return new DbError("invalid_request", `${what} ${error.message}.`, { position: error.offset, hint });
}

const whole = { offset: 0, opens: "" };

/** JSON.parse does not always say where; a tolerant parser finds the first offence behind what is known to be right. */
function syntaxError(bytes: Buffer, { offset, opens }: Pick<JsonFault, "offset" | "opens">, what: string): DbError {
  const text = opens + bytes.toString("utf8", offset, offset + SEARCHED_BYTES);
  const first = findJsonFault(text) ?? { words: "a value is missing", at: opens.length };
  const inPiece = Math.max(0, first.at - opens.length);
  const position = charactersOf(bytes, offset) + inPiece;
  const piece = text.slice(opens.length, opens.length + inPiece);
  const lines = piece.split("\n");
  const line = countLines(bytes, offset) + lines.length;
  const lineStart = bytes.lastIndexOf(10, offset - 1) + 1;
  const before = lines.length > 1 || offset === 0 ? 0 : charactersOf(bytes.subarray(lineStart), offset - lineStart);
  const column = before + lines.at(-1)!.length + 1;
  return new DbError(
    "invalid_json",
    `${what} is not valid JSON: ${first.words} at position ${position} (line ${line}, column ${column}).`,
    { position, line, column },
  );
}

function charactersOf(bytes: Buffer, to: number): number {
  return bytes.toString("utf8", 0, to).length;
}

function countLines(bytes: Buffer, to: number): number {
  let lines = 0;
  for (let at = 0; at < to; at++) if (bytes[at] === 10) lines++;
  return lines;
}
