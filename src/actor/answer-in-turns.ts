/**
 * Makes a large answer into text or bytes with turns in between, before it is sent. Called by requests.ts for each
 * answer; most are small and stay as they are.
 */

import { mapHeader, PackedPieces } from "../bodies/pack-in-turns.js";
import { pageLinks } from "../bodies/page-links.js";
import { parseJsonBody } from "../bodies/parse-body.js";
import { LARGE_BODY_BYTES, RESULT_BYTES_MAX } from "../protocol/limits.js";
import { resultTooLarge } from "../protocol/size-errors.js";
import { type Answer, STREAMED } from "../session/answer.js";
import { flattened, plainPieces } from "../values/json-value-pieces.js";
import { costLeft } from "../values/value-cost.js";
import { metaJson, packedEnvelope } from "./reply.js";
import type { Request } from "./request.js";

/** Parts of an answer that are written at once. */
const PARTS_AT_ONCE = 16 * 1024;
/**
 * Characters or bytes of a payload from which on its reply leaves in pieces: copying it as a whole takes milliseconds.
 */
const STREAMED_FROM = 1024 * 1024;
const PIECE_CHARACTERS = 64 * 1024;
const MSGPACK = "application/msgpack";

/** Before it is written, its page's links are added. */
export function answerInTurns(request: Request, given: Answer): Answer | Promise<Answer> {
  if (given === STREAMED || request.endpoint.jsonRpc !== undefined) return given;
  return sendable(request, request.endpoint.pages === undefined ? given : withLinks(request, given));
}

function withLinks({ endpoint, head }: Request, answer: Answer): Answer {
  if (answer.plain === undefined) return answer;
  const links = pageLinks(endpoint.pages!, head.query, answer.plain);
  if (links === "") return answer;
  return { ...answer, headers: answer.headers === undefined ? links : `${answer.headers}\n${links}` };
}

function sendable(request: Request, answer: Answer): Answer | Promise<Answer> {
  const { plain, json } = answer;
  if (plain !== undefined) {
    if (costLeft(plain, PARTS_AT_ONCE) >= 0) return answer;
    return request.wantsMsgpack ? packed(request, answer, plain) : written(request, answer, plain);
  }
  if (json === undefined || json.length < LARGE_BODY_BYTES) return answer;
  if (request.wantsMsgpack) return unread(request, answer, json);
  return json.length >= STREAMED_FROM && mayStream(request, answer)
    ? stream(request, answer, textPieces(request, json))
    : answer;
}

function mayStream({ endpoint, sink }: Request, { status }: Answer): boolean {
  const isUsual = (status ?? endpoint.status ?? 200) === 200;
  return isUsual && sink === null && endpoint.messages === undefined && endpoint.home === "tenant";
}

async function stream(request: Request, { headers = "" }: Answer, pieces: Iterable<Uint8Array>): Promise<Answer> {
  const sink = await request.openReply(
    request.wantsMsgpack ? MSGPACK : "application/json",
    headers === "" ? [] : [headers],
  );
  for (const piece of pieces) {
    request.checkpoint();
    await sink.write(piece);
    if (request.shouldYield()) await request.yieldTurn();
  }
  sink.end();
  return STREAMED;
}

/** The envelope around JSON text, where there is one; for a flat endpoint its members are also beside it. */
function* textPieces({ endpoint, requestId, warnings }: Request, json: string): Iterable<Uint8Array> {
  if (endpoint.form === "openai") {
    yield* slices(json, 0, json.length);
    return;
  }
  yield Buffer.from('{"data":');
  yield* slices(json, 0, json.length);
  yield Buffer.from(`,${metaJson(requestId, warnings)}`);
  if (endpoint.flat && json.startsWith("{") && json !== "{}") {
    yield Buffer.from(",");
    yield* slices(json, 1, json.length - 1);
  }
  yield Buffer.from("}");
}

function* slices(text: string, from: number, to: number): Iterable<Uint8Array> {
  for (let at = from; at < to; ) {
    let end = Math.min(at + PIECE_CHARACTERS, to);
    // The halves of a surrogate pair stay together.
    if (end < to && text.charCodeAt(end - 1) >> 10 === 0x36) end++;
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}

async function written(request: Request, answer: Answer, plain: unknown): Promise<Answer> {
  const { plain: _, ...rest } = answer;
  let json = "";
  for (const piece of plainPieces(plain)) {
    json += flattened(piece);
    if (json.length > RESULT_BYTES_MAX) throw resultTooLarge();
    if (request.shouldYield()) await request.yieldTurn();
  }
  return sendable(request, { ...rest, json });
}

/** A payload that is JSON text already, for a client of MessagePack. */
async function unread(request: Request, { json: _, ...rest }: Answer, json: string): Promise<Answer> {
  const plain = await parseJsonBody(Buffer.from(json), {}, request);
  return packed(request, rest, plain);
}

async function packed(request: Request, answer: Answer, plain: unknown): Promise<Answer> {
  const { plain: _, ...rest } = answer;
  const pieces = new PackedPieces(request);
  const isObject = typeof plain === "object" && plain !== null && Object.getPrototypeOf(plain) === Object.prototype;
  const members = isObject ? Object.entries(plain) : null;
  if (members === null) await pieces.pack(plain);
  else await pieces.packMembers(members);
  const payload =
    members === null
      ? { bytes: pieces.pieces, members: null }
      : {
          bytes: [mapHeader(members.length), ...pieces.pieces],
          members: { count: members.length, bytes: pieces.pieces },
        };
  if (pieces.bytes >= STREAMED_FROM && mayStream(request, answer)) {
    return stream(
      request,
      answer,
      evenPieces(packedEnvelope(request.endpoint, payload, request.requestId, request.warnings)),
    );
  }
  return { ...rest, packed: payload };
}

/** The same bytes in pieces of about one size. */
function* evenPieces(pieces: readonly Uint8Array[]): Iterable<Uint8Array> {
  let some: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (piece.length >= PIECE_CHARACTERS) {
      if (bytes > 0) yield Buffer.concat(some);
      some = [];
      bytes = 0;
      for (let at = 0; at < piece.length; at += PIECE_CHARACTERS) yield piece.subarray(at, at + PIECE_CHARACTERS);
      continue;
    }
    some.push(piece);
    bytes += piece.length;
    if (bytes < PIECE_CHARACTERS) continue;
    yield Buffer.concat(some);
    some = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(some);
}
