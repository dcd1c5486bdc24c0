/**
 * Chat sessions and messages as they are stored: in tables of the tenant, through statements like a client's. Called by
 * the handlers of chats and by exchange.ts; holds no state.
 */
import { randomBytes } from "node:crypto";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { ownRowsOf, timeOf } from "../statements/run-alone.js";
import type { Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import type { PassageSource } from "../tools/search-tools.js";
import { CREATE_TABLES, MESSAGES, SESSIONS, SESSIONS_NAME } from "./chat-tables.js";

export interface ChatSession {
  readonly id: string;
  readonly title: string;
  /** Null: whoever is configured. */
  readonly model: string | null;
  readonly systemPrompt: string;
  /** Whose passages are put into the prompt. */
  readonly collections: readonly string[];
  readonly messageCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A passage that was put into a prompt, or that the answer quotes. */
export interface Citation extends PassageSource {
  readonly number: number;
  readonly collection: string;
  readonly id: string;
  readonly score: number | null;
  readonly text: string;
  /** The answer names it by its number in brackets. */
  readonly cited: boolean;
  /** Where in `text` the sentence stands that the answer quotes, UTF-16 code units. */
  readonly start?: number;
  readonly end?: number;
}

export interface StoredMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly createdAt: string;
  readonly finishReason: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly citations: readonly Citation[] | null;
}

type Row = readonly unknown[];

const SESSION_COLUMNS = "id, title, model, system_prompt, collections, message_count, created_at, updated_at";
const MESSAGE_COLUMNS = "id, role, content, created_at, finish_reason, input_tokens, output_tokens, citations";

/** An id whose order is that of the times at which they are made, from one millisecond to the next. */
export function newId(kind: "chat" | "msg"): string {
  return `${kind}_${Date.now().toString(36)}${randomBytes(10).toString("hex")}`;
}

export async function insertSession(run: Run, userId: string, session: ChatSession): Promise<void> {
  for (const sql of CREATE_TABLES) await run(sql, []);
  const { id, title, model, systemPrompt, collections, createdAt } = session;
  await run(
    `INSERT INTO ${SESSIONS} VALUES ($1, $2, $3, $4, $5, $6::jsonb, 0, 0, 0, $7::timestamptz, $7::timestamptz)`,
    [id, userId, title, model, systemPrompt, JSON.stringify(collections), createdAt],
  );
}

export function hasSessions(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, SESSIONS_NAME)) !== null;
}

/** Throws not_found, also for another user's. */
export async function findSession(request: Request, id: string): Promise<ChatSession> {
  const [row] = hasSessions(request)
    ? await ownRowsOf(request, {
        sql: `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE id = $1::text AND user_id = $2::text`,
        params: [id, request.head.userId],
      })
    : [];
  if (row === undefined) throw noSession(id);
  return sessionOf(row);
}

/** Newest first. */
export async function listSessions(
  request: Request,
  limit: number,
  offset: number,
): Promise<{ readonly sessions: readonly ChatSession[]; readonly total: number }> {
  if (!hasSessions(request)) return { sessions: [], total: 0 };
  const { userId } = request.head;
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${SESSION_COLUMNS} FROM ${SESSIONS} WHERE user_id = $1::text
          ORDER BY updated_at DESC, id DESC LIMIT $2::int8 OFFSET $3::int8`,
    params: [userId, limit, offset],
  });
  const [counted] = await ownRowsOf(request, {
    sql: `SELECT count(*) FROM ${SESSIONS} WHERE user_id = $1::text`,
    params: [userId],
  });
  return { sessions: rows.map(sessionOf), total: Number(counted![0]) };
}

/** Oldest first; `newest`: only the given number of the newest. */
export async function messagesOf(request: Request, id: string, newest: number, skipped = 0): Promise<StoredMessage[]> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${MESSAGE_COLUMNS} FROM ${MESSAGES} WHERE session_id = $1::text
          ORDER BY seq DESC LIMIT $2::int8 OFFSET $3::int8`,
    params: [id, newest, skipped],
  });
  return rows.map(messageOf).reverse();
}

/** A page from the beginning. */
export async function pageOfMessages(
  request: Request,
  id: string,
  limit: number,
  offset: number,
): Promise<StoredMessage[]> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${MESSAGE_COLUMNS} FROM ${MESSAGES} WHERE session_id = $1::text
          ORDER BY seq LIMIT $2::int8 OFFSET $3::int8`,
    params: [id, limit, offset],
  });
  return rows.map(messageOf);
}

/** A message and its answer. Throws not_found if the session has been deleted. */
export async function insertExchange(
  run: Run,
  session: ChatSession,
  messages: readonly StoredMessage[],
  usage: { readonly inputTokens: number; readonly outputTokens: number },
  title: string,
): Promise<void> {
  const { rows } = await run(
    `UPDATE ${SESSIONS} SET message_count = message_count + $2::int8, updated_at = $3::timestamptz, title = $4::text,
       input_tokens = input_tokens + $5::int8, output_tokens = output_tokens + $6::int8
     WHERE id = $1::text RETURNING message_count`,
    [session.id, messages.length, messages.at(-1)!.createdAt, title, usage.inputTokens, usage.outputTokens],
  );
  if (rows.length === 0) throw noSession(session.id);
  let seq = Number(rows[0]![0]) - messages.length;
  for (const message of messages) {
    const { id, role, content, createdAt, finishReason, inputTokens, outputTokens, citations } = message;
    await run(
      `INSERT INTO ${MESSAGES} VALUES ($1, $2::int8, $3, $4, $5, $6::timestamptz, $7, $8::int8, $9::int8, $10::jsonb)`,
      [
        session.id,
        ++seq,
        id,
        role,
        content,
        createdAt,
        finishReason,
        inputTokens,
        outputTokens,
        citations === null ? null : JSON.stringify(citations),
      ],
    );
  }
}

/** Throws not_found, also for another user's. */
export async function deleteSession(run: Run, userId: string, id: string): Promise<void> {
  const { affected } = await run(`DELETE FROM ${SESSIONS} WHERE id = $1::text AND user_id = $2::text`, [id, userId]);
  if (affected === 0) throw noSession(id);
  await run(`DELETE FROM ${MESSAGES} WHERE session_id = $1::text`, [id]);
}

export function noSession(id: string): DbError {
  return new DbError("not_found", `The session "${id.slice(0, 100)}" does not exist.`, {
    field: "session_id",
    hint: "POST /v1/ai/sessions creates one. GET /v1/ai/sessions lists yours.",
  });
}

function sessionOf(row: Row): ChatSession {
  const [id, title, model, systemPrompt, collections, messageCount, createdAt, updatedAt] = row as [
    string,
    string,
    string | null,
    string,
    readonly string[],
    unknown,
    string,
    string,
  ];
  return {
    ...{ id, title, model, systemPrompt, collections, messageCount: Number(messageCount) },
    ...{ createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) },
  };
}

function messageOf(row: Row): StoredMessage {
  const [id, role, content, createdAt, finishReason, inputTokens, outputTokens, citations] = row as [
    string,
    StoredMessage["role"],
    string,
    string,
    string | null,
    unknown,
    unknown,
    readonly Citation[] | null,
  ];
  const number = (value: unknown) => (value === null ? null : Number(value));
  return {
    id,
    role,
    content,
    createdAt: timeOf(createdAt),
    finishReason,
    inputTokens: number(inputTokens),
    outputTokens: number(outputTokens),
    citations,
  };
}
