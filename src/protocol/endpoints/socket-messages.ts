/**
 * Messages that the server sends on the WebSocket, and messages of clients that the gateway answers by itself.
 * Messages that an actor answers are endpoints of the method MESSAGE. GET /v1/asyncapi.json lists all of them. A
 * constant table.
 */
import Type, { type TObject } from "typebox";
import { ERRORS, type ErrorCode } from "../errors.js";
import { trainingProgress } from "./automl.js";
import { ColumnMeta, GraphStats, MessageId, Nullable, Timestamp } from "./schemas.js";

export interface SocketMessage {
  readonly type: string;
  readonly summary: string;
  readonly payload: TObject;
  readonly example: object;
}

const ofClient = <P extends Type.TProperties>(type: string, properties: P) =>
  Type.Object({ type: Type.Literal(type), ...properties });
/** Every answer names the message that it answers. */
const answer = <P extends Type.TProperties>(type: string, properties: P) =>
  Type.Object({ type: Type.Literal(type), id: Nullable(MessageId), ...properties });

const Sequence = Type.Integer({ minimum: 0, description: "Grows with every change. Send it to resume." });
const Rows = Type.Array(Type.Array(Type.Unknown()));
const warnings = Type.Optional(
  Type.Array(Type.String(), { description: "Fields of the request that were accepted but not used." }),
);

const SentColumn = Type.Object({
  ...ColumnMeta.properties,
  base_type: Type.Optional(
    Type.Unknown({
      description:
        "Of MessagePack, where a statement made the type: the name of the type below a domain, or an object with those of a composite type's fields.",
    }),
  ),
});

/** A column of numbers in MessagePack. */
const PackedColumn = Type.Union([
  Type.Object({
    dtype: Type.Enum(["int32", "int64", "float32", "float64", "bool"]),
    data: Type.Unknown({ description: "Binary: the bytes of such a typed array, little-endian; of bool a byte each." }),
    nulls: Type.Optional(Type.Unknown({ description: "Binary: a byte per row, 1 where the value is NULL." })),
  }),
  Type.Array(Type.Unknown()),
]);

const TRAINING = {
  job_id: Type.String(),
  ...trainingProgress,
  model_id: Nullable(Type.String()),
};
const TRAINING_EXAMPLE = {
  ...{ job_id: "job_1", status: "running", progress: 0.4, phase: "validating", current_trial: 8, total_trials: 20 },
  ...{ best_score: 0.31, eta_ms: 5200, model_id: null },
};

export const CLIENT_MESSAGES: readonly SocketMessage[] = [
  {
    type: "ping",
    summary: "Ask for a pong.",
    payload: ofClient("ping", { id: Type.Optional(MessageId) }),
    example: { type: "ping", id: 1 },
  },
  {
    type: "cancel",
    summary: "Cancel a running request. It answers with the error `cancelled`.",
    payload: ofClient("cancel", { id: MessageId }),
    example: { type: "cancel", id: "report" },
  },
  {
    type: "credit",
    summary: "Allow this many more sql.rows messages of a statement that was sent with credits.",
    payload: ofClient("credit", { id: MessageId, messages: Type.Integer({ minimum: 1 }) }),
    example: { type: "credit", id: "report", messages: 8 },
  },
  {
    type: "unsubscribe",
    summary: "End a subscription. `unsubscribed` is its last message.",
    payload: ofClient("unsubscribe", { id: MessageId }),
    example: { type: "unsubscribe", id: "orders" },
  },
];

const NOTHING_SAID = { document_id: null, filename: null, status: null, progress: null, message: null, error: null };
const SOME_FILE = { document_id: "file_1", filename: "notes/sea.md" };

/** Messages of filesystem collections: type, meaning, and an example. */
const PROGRESS_OF_FILES: readonly (readonly [type: string, summary: string, example: object])[] = [
  ["scan_started", "A scan of the folder has begun. Changed files are read.", { status: "scanning", progress: 0 }],
  ["file_processing", "A file is being read.", { ...SOME_FILE, status: "processing", progress: 0.2 }],
  [
    "file_done",
    "The file's content was added to the collection, or removed from it.",
    { ...SOME_FILE, status: "indexed", progress: 0.3 },
  ],
  [
    "file_failed",
    "A file could not be read. It is skipped (status failed) or tried again (pending).",
    { ...SOME_FILE, status: "failed", progress: 0.3, error: "The file is encrypted; store it without a password." },
  ],
  [
    "scan_complete",
    "The collection matches the folder.",
    { status: "ready", progress: 1, message: "12 files are indexed." },
  ],
  ["paused", "It is paused.", { status: "paused" }],
  ["resumed", "It goes on.", { status: "ingesting" }],
];

export const SERVER_MESSAGES: readonly SocketMessage[] = [
  {
    type: "pong",
    summary: "The answer to ping.",
    payload: Type.Object({ type: Type.Literal("pong"), id: Type.Optional(MessageId), timestamp: Timestamp }),
    example: { type: "pong", id: 1, timestamp: "2026-01-02T03:04:05.678Z" },
  },
  {
    type: "error",
    summary: "The error that answers a message or ends its work. The connection stays open.",
    payload: answer("error", {
      code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
      message: Type.String(),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      request_id: Type.Optional(Type.String()),
    }),
    example: {
      type: "error",
      id: "report",
      code: "query_error",
      message: 'column "nothing" does not exist',
      details: { sqlstate: "42703", position: 8 },
    },
  },
  {
    type: "sql.columns",
    summary: "The columns of the rows that follow.",
    payload: answer("sql.columns", { columns: Type.Array(SentColumn) }),
    example: { type: "sql.columns", id: "report", columns: [{ name: "n", data_type: "integer", nullable: true }] },
  },
  {
    type: "sql.rows",
    summary: "Rows: lists in JSON, columns in MessagePack.",
    payload: answer("sql.rows", {
      rows: Type.Optional(Rows),
      count: Type.Optional(Type.Integer({ description: "Of MessagePack." })),
      columns: Type.Optional(Type.Array(PackedColumn, { description: "Of MessagePack." })),
    }),
    example: { type: "sql.rows", id: "report", rows: [[1], [2]] },
  },
  {
    type: "sql.done",
    summary: "The statement has ended.",
    payload: answer("sql.done", {
      row_count: Type.Integer(),
      rows_affected: Type.Optional(Type.Integer()),
      execution_time_ms: Type.Number(),
      truncated: Type.Boolean(),
      stats: Type.Optional(GraphStats),
      notices: Type.Optional(Type.Array(Type.String())),
      warnings,
    }),
    example: { type: "sql.done", id: "report", row_count: 2, execution_time_ms: 0.4, truncated: false },
  },
  {
    type: "transaction",
    summary: "The state of a transaction.",
    payload: answer("transaction", { transaction: Type.String(), status: Type.String() }),
    example: { type: "transaction", id: 1, transaction: "tx_0123456789abcdef", status: "committed" },
  },
  {
    type: "subscribed",
    summary:
      "Changes after the sequence follow. For a query, its columns and whether each change is computed by itself. For a channel, its name.",
    payload: answer("subscribed", {
      sequence: Type.Optional(Sequence),
      channel: Type.Optional(Type.String()),
      collection: Type.Optional(Type.String()),
      columns: Type.Optional(Type.Array(ColumnMeta)),
      mode: Type.Optional(Type.Enum(["incremental", "rerun"])),
    }),
    example: { type: "subscribed", id: "orders", collection: "orders", sequence: 1_767_323_045_678_000 },
  },
  {
    type: "change",
    summary:
      "A committed change, in commit order. A row that stops matching the filter is a delete; one that starts to match is an insert. `truncate` removes all rows.",
    payload: answer("change", {
      operation: Type.Enum(["insert", "update", "delete", "truncate"]),
      collection: Type.String(),
      graph: Type.Optional(Type.String()),
      kind: Type.Optional(Type.Enum(["node", "relationship"])),
      document: Nullable(Type.Record(Type.String(), Type.Unknown())),
      timestamp: Timestamp,
      sequence: Sequence,
    }),
    example: {
      type: "change",
      id: "orders",
      operation: "insert",
      collection: "orders",
      document: { id: "o-1", total: 12.5 },
      timestamp: "2026-01-02T03:04:05.678Z",
      sequence: 1_767_323_045_678_001,
    },
  },
  {
    type: "notification",
    summary: "What was notified on a channel, when it was committed. It cannot be asked for again.",
    payload: answer("notification", {
      channel: Type.String(),
      payload: Type.String(),
      sender: Nullable(Type.Integer({ description: "Number of the session; null: a request of HTTP." })),
    }),
    example: { type: "notification", id: "jobs", channel: "jobs", payload: "17", sender: null },
  },
  {
    type: "result",
    summary: "Rows of a subscribed query's answer. `done` comes with the last of them.",
    payload: answer("result", { rows: Rows, done: Type.Boolean() }),
    example: { type: "result", id: "big", rows: [["o-1", 12.5]], done: true },
  },
  {
    type: "changes",
    summary: "Changes of that answer.",
    payload: answer("changes", {
      added: Rows,
      removed: Rows,
      changed: Type.Array(Type.Object({ old: Type.Array(Type.Unknown()), new: Type.Array(Type.Unknown()) })),
      places: Type.Optional(
        Type.Object(
          { before: Type.Array(Type.Integer()), after: Type.Array(Type.Integer()) },
          {
            description:
              "If the query has an ORDER BY: places in the answer, from 0. `before`: in the answer as it was, of `removed` and then of the old rows of `changed`. `after`: in the answer as it is, of the new rows of `changed` and then of `added`. All other rows stay in their order. A row that has only moved is in `changed`.",
          },
        ),
      ),
      timestamp: Timestamp,
      sequence: Sequence,
    }),
    example: {
      type: "changes",
      id: "big",
      added: [["o-2", 20]],
      removed: [],
      changed: [{ old: ["o-1", 12.5], new: ["o-1", 13] }],
      timestamp: "2026-01-02T03:04:06.000Z",
      sequence: 1_767_323_046_000_000,
    },
  },
  {
    type: "unsubscribed",
    summary: "The subscription was ended by the client.",
    payload: answer("unsubscribed", {}),
    example: { type: "unsubscribed", id: "orders" },
  },
  ...(["graph.columns", "graph.rows", "graph.complete"] as const).map((type) => ({
    type,
    summary: "For a graph algorithm, like the sql. messages for a statement.",
    payload: answer(type, type === "graph.complete" ? { warnings } : {}),
    example: { type, id: "ranks" },
  })),
  ...(["graph.progress", "model.progress", "model.complete"] as const).map((type) => ({
    type,
    summary: "The progress of an algorithm or of a model's pull.",
    payload: answer(type, {}),
    example: { type, id: "ranks" },
  })),
  {
    type: "message_chunk",
    summary: "A piece of a chat's answer.",
    payload: answer("message_chunk", { message_id: Type.String(), session_id: Type.String(), chunk: Type.String() }),
    example: { type: "message_chunk", id: 1, message_id: "m-2", session_id: "s-1", chunk: "Hel" },
  },
  {
    type: "message_complete",
    summary: "The complete answer of a chat.",
    payload: answer("message_complete", {
      message_id: Type.String(),
      session_id: Type.String(),
      full_message: Type.String(),
      warnings,
    }),
    example: { type: "message_complete", id: 1, message_id: "m-2", session_id: "s-1", full_message: "Hello." },
  },
  {
    type: "automl.progress",
    summary: "The progress of a followed training.",
    payload: answer("automl.progress", TRAINING),
    example: { type: "automl.progress", id: "follow", ...TRAINING_EXAMPLE },
  },
  {
    type: "automl.finished",
    summary: "The outcome of a followed training. It is the last message.",
    payload: answer("automl.finished", TRAINING),
    example: {
      type: "automl.finished",
      id: "follow",
      ...TRAINING_EXAMPLE,
      status: "completed",
      progress: 1,
      phase: null,
    },
  },
  ...PROGRESS_OF_FILES.map(([type, summary, example]) => ({
    type,
    summary,
    payload: answer(type, {
      collection_id: Type.String(),
      document_id: Nullable(Type.String()),
      filename: Nullable(Type.String({ description: "The file's path in the folder." })),
      status: Nullable(Type.String()),
      progress: Nullable(Type.Number({ description: "0 to 1, of the files to read." })),
      message: Nullable(Type.String()),
      error: Nullable(Type.String()),
      timestamp: Timestamp,
    }),
    example: {
      type,
      id: null,
      collection_id: "fsc_1",
      ...NOTHING_SAID,
      ...example,
      timestamp: "2026-01-02T03:04:05.678Z",
    },
  })),
];
