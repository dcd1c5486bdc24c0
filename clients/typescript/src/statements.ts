/** Statements of SQL and Cypher, as a whole or row by row. What a client and a transaction have in common. */
import { ConnectionError, errorOf } from "./errors.js";
import { wholeLinesOf } from "./lines.js";
import type { CallOptions, WriteOptions } from "./options.js";
import { type Column, type Result, type Row, resultOf, rowMaker, type SentResult } from "./result.js";
import { type Batch, RowIterator } from "./row-iterator.js";
import type { ResultPart, SocketLink } from "./socket.js";
import { Fragment, parameterOf, statementOf } from "./sql-text.js";
import { newKey, type Transport } from "./transport.js";

/** Of one statement. */
export interface QueryOptions extends WriteOptions {
  /** The most rows; 1,000 unless said. */
  readonly maxRows?: number;
  /** Seconds after which the server stops it. */
  readonly timeoutSeconds?: number;
  /** The language, where the text alone does not tell. */
  readonly language?: "sql" | "cypher";
}

/** Of rows that are read one by one. */
export interface StreamOptions extends CallOptions {
  /** `websocket`: streams share one connection, and the server sends only as far ahead as they are read. */
  readonly over?: "http" | "websocket";
  readonly maxRows?: number;
  readonly timeoutSeconds?: number;
  readonly language?: "sql" | "cypher";
  /** The id of an open transaction, which the statement belongs to. Only over the WebSocket. */
  readonly transaction?: string;
}

/** Values of $1, $2 …, or of $name in Cypher. */
export type Parameters = readonly unknown[] | Readonly<Record<string, unknown>>;

export abstract class Statements {
  protected constructor(
    protected readonly transport: Transport,
    private readonly path: string,
  ) {}

  /** Runs a statement; values in the template become its parameters. `R`: the type of its rows. */
  readonly sql = <R = Row>(texts: TemplateStringsArray, ...values: readonly unknown[]): Promise<Result<R>> => {
    const { text, parameters } = statementOf(new Fragment(texts, values));
    return this.query<R>(text, parameters);
  };

  /** Runs one statement with the values of its parameters. */
  async query<R = Row>(text: string, parameters: Parameters = [], options: QueryOptions = {}): Promise<Result<R>> {
    const { signal, idempotencyKey = newKey() } = options;
    const body = bodyOf(text, parameters, options);
    return resultOf<R>(await this.transport.ask<SentResult>("POST", this.path, { body, signal, idempotencyKey }));
  }
}

function bodyOf(text: string, parameters: Parameters, { maxRows, timeoutSeconds, language }: QueryOptions): object {
  const isList = Array.isArray(parameters);
  const sent = isList
    ? parameters.map(parameterOf)
    : Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, parameterOf(value)]));
  const isEmpty = isList ? parameters.length === 0 : Object.keys(parameters).length === 0;
  return {
    sql: text,
    ...(!isEmpty && { parameters: sent }),
    ...(maxRows !== undefined && { max_rows: maxRows }),
    ...(timeoutSeconds !== undefined && { timeout_secs: timeoutSeconds }),
    ...(language !== undefined && { language }),
  };
}

interface Tail {
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };
}

type Line = readonly unknown[] | ({ readonly columns?: readonly Column[] } & Tail);

/** All rows of a query as they come, at the reader's pace. Leaving the loop ends the query. */
export function streamRows<R>(
  transport: Transport,
  link: SocketLink,
  text: string,
  parameters: Parameters,
  { over, signal, transaction, ...options }: StreamOptions,
): AsyncGenerator<R, void> {
  const isSocket = over === "websocket" || transaction !== undefined;
  if (!isSocket) return new RowIterator(lineBatches<R>(transport, streamBody(text, parameters, options), signal));
  const body = streamBody(text, parameters, { ...options, ...(transaction !== undefined && { transaction }) });
  return new RowIterator(link.batches<R>(body, signal));
}

/**
 * The same as the server's messages have it: lists, with their columns before them and the statement's facts after
 * them.
 */
export function streamParts(
  link: SocketLink,
  text: string,
  parameters: Parameters,
  { over: _over, signal, ...options }: StreamOptions,
): AsyncGenerator<ResultPart, void> {
  return link.parts(streamBody(text, parameters, options), signal);
}

function streamBody(text: string, parameters: Parameters, options: Omit<StreamOptions, "over" | "signal">): object {
  const { transaction, ...rest } = options;
  const body = bodyOf(text, parameters, { maxRows: 10_000_000, ...rest });
  return transaction === undefined ? body : { ...body, transaction };
}

/** Lines as they come: the columns, rows, and the statement's facts or its error. */
async function* lineBatches<R>(
  transport: Transport,
  body: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<Batch<R>, void> {
  const response = await transport.open("POST", "/v1/query/execute", { body, signal, accept: "application/x-ndjson" });
  const requestId = response.headers.get("x-request-id") ?? undefined;
  let make: ((row: readonly unknown[]) => R) | null = null;
  for await (const text of wholeLinesOf(response)) {
    // One parse for all of them is faster than one for each. Within JSON's texts no line ends.
    const values = JSON.parse(`[${text.replaceAll("\n", ",")}]`) as Line[];
    // Behind the facts of a whole answer there may be why its connection ended then.
    let tail: Tail | null = null;
    for (let last = values.at(-1); last !== undefined && isTail(last); last = values.at(-1))
      tail = values.pop() as Tail;
    if (make === null && values.length > 0) {
      make = rowMaker<R>((values.shift() as { readonly columns: readonly Column[] }).columns);
    }
    if (values.length > 0) yield batchOf(values as (readonly unknown[])[], make!);
    if (tail === null) continue;
    if (tail.error === undefined) return;
    throw errorOf(tail.error.message, { ...tail.error, status: 200, requestId });
  }
  throw new ConnectionError("The connection ended before the last row.");
}

const isTail = (line: Line): line is Tail => !Array.isArray(line) && !("columns" in line);

function batchOf<R>(lists: readonly (readonly unknown[])[], make: (row: readonly unknown[]) => R): Batch<R> {
  return { length: lists.length, row: (number) => make(lists[number]!) };
}
