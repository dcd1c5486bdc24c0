/** The client: everything that one server offers, under one credential. */
import { Admin } from "./admin.js";
import { AutoMl } from "./automl.js";
import { Chat } from "./chat.js";
import { Collection, VectorCollection } from "./collections.js";
import { Files } from "./files.js";
import { type Change, type Followed, follow } from "./live.js";
import { type LiveRows, liveRows } from "./live-query.js";
import { Mcp } from "./mcp.js";
import type { CallOptions, ConnectOptions, PasswordOptions, SocketClass, WriteOptions } from "./options.js";
import { type Column, type Result, type Row, resultOf } from "./result.js";
import { type AnswerOf, type CallArguments, callRoute, type Route } from "./routes.js";
import type {
  AnySchema,
  ArgumentsOf,
  DocumentOf,
  FunctionName,
  FunctionRow,
  GraphName,
  InsertOf,
  LabelOf,
  NodeOf,
  ProcedureArguments,
  ProcedureName,
  RowOf,
  Schema,
  TableName,
  UpdateOf,
} from "./schema.js";
import type { AccessToken } from "./sign-in.js";
import { type ResultPart, SocketLink } from "./socket.js";
import { fragment, named, statementOf } from "./sql-text.js";
import { type Parameters, Statements, type StreamOptions, streamParts, streamRows } from "./statements.js";
import { joined, Table } from "./table.js";
import { runTransaction, type Transaction, type TransactionOptions } from "./transaction.js";
import { type Method, newKey, Transport } from "./transport.js";

/** Makes a client. Nothing is sent before its first call. `S`: the `Database` that `tessera types` writes. */
export function connect<S extends Schema = AnySchema>(options: ConnectOptions): Client<S> {
  return new Client<S>(options);
}

/**
 * Signs in once. Gives the token that `connect` takes as `apiKey`, for programs that keep it, such as pages in a
 * browser.
 */
export function signIn(options: PasswordOptions): Promise<AccessToken> {
  return new Transport(options).signIn.tokenOf(options);
}

function globalSocket(): SocketClass | undefined {
  return (globalThis as { readonly WebSocket?: SocketClass }).WebSocket;
}

interface Matched {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly execution_time_ms: number;
  readonly truncated?: boolean;
}

/** What `connect` gives. It may be used by many at the same time. */
export class Client<S extends Schema = AnySchema> extends Statements {
  /** Chats with a language model. */
  readonly chat: Chat;
  /** Models that are trained on the tenant's data. */
  readonly automl: AutoMl;
  /** Files of rows, and folders of the server. */
  readonly files: Files;
  /** Tools, resources and prompts for agents. */
  readonly mcp: Mcp;
  /** Tenants, users, API keys, backups. */
  readonly admin: Admin;
  private readonly link: SocketLink;

  /** @internal `connect` makes clients. */
  constructor(options: ConnectOptions) {
    const transport = new Transport(options);
    super(transport, "/v1/query/execute");
    this.chat = new Chat(transport);
    this.automl = new AutoMl(transport);
    this.files = new Files(transport);
    this.mcp = new Mcp(transport);
    this.admin = new Admin(transport);
    this.link = new SocketLink(transport, options.WebSocket ?? globalSocket());
  }

  /** All rows of a query as they come, at the reader's pace. Leaving the loop ends the query. */
  stream<R = Row>(text: string, parameters: Parameters = [], options: StreamOptions = {}): AsyncGenerator<R, void> {
    return streamRows<R>(this.transport, this.link, text, parameters, options);
  }

  /**
   * A statement's answer as it comes over the WebSocket: columns, rows as lists, and the end. Leaving the loop ends it.
   */
  parts(text: string, parameters: Parameters = [], options: StreamOptions = {}): AsyncGenerator<ResultPart, void> {
    return streamParts(this.link, text, parameters, options);
  }

  /** The rows of a query, and all of them again after each change. */
  live(
    text: string,
    parameters: Parameters = [],
    options: CallOptions & { readonly language?: "sql" | "cypher" } = {},
  ): AsyncGenerator<LiveRows, void> {
    return liveRows(this.transport, text, parameters, options);
  }

  /** The answer itself, for files. `content` is sent as it is, with the type that `contentType` says. */
  fetch(method: Method, path: string, { query, content, contentType, accept, signal }: FetchOptions = {}) {
    return this.transport.open(method, path, {
      signal,
      ...(query !== undefined && { query }),
      ...(content !== undefined && { content }),
      ...(contentType !== undefined && { headers: { "content-type": contentType } }),
      accept: accept ?? "*/*",
    });
  }

  /**
   * Does the work in a transaction and commits it. When a concurrent transaction was faster the work is done again, so
   * it should change nothing but through its argument. An error of the work rolls back.
   */
  tx<T>(work: (transaction: Transaction) => T | Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return runTransaction(this.transport, work, options);
  }

  /** A table by its name, or `schema.name`. Nothing is sent before its first call. */
  table<T extends TableName<S>>(name: T): Table<RowOf<S, T>, InsertOf<S, T>, UpdateOf<S, T>> {
    return new Table(this, name);
  }

  /**
   * The rows of a function's result; a function that gives one value has one row, whose column has the function's name.
   */
  callFunction<F extends FunctionName<S>>(name: F, ...args: ArgumentsOf<S, F>): Promise<Result<FunctionRow<S, F>>> {
    const { text, parameters } = statementOf(fragment`SELECT * FROM ${named(name)}(${joined(args, ", ")})`);
    return this.query<FunctionRow<S, F>>(text, parameters);
  }

  /** Calls a procedure. */
  callProcedure<P extends ProcedureName<S>>(name: P, ...args: ProcedureArguments<S, P>): Promise<Result> {
    const { text, parameters } = statementOf(fragment`CALL ${named(name)}(${joined(args, ", ")})`);
    return this.query(text, parameters);
  }

  /** Nodes of a label, all or those whose properties equal these. */
  async nodes<L extends LabelOf<S, G>, G extends GraphName<S> = "default" & GraphName<S>>(
    label: L,
    properties: Partial<NodeOf<S, L, G>["properties"]> = {},
    { graph, limit = 1_000, signal }: CallOptions & { readonly graph?: G; readonly limit?: number } = {},
  ): Promise<NodeOf<S, L, G>[]> {
    const names = Object.keys(properties);
    const terms = names.map((name) => `n.${quoted(name)} = $properties[${JSON.stringify(name)}]`);
    const where = terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
    const text = `MATCH (n:${quoted(label)})${where} RETURN n LIMIT $limit`;
    const rows = await this.cypher<{ n: NodeOf<S, L, G> }>(text, { properties, limit }, { graph, signal });
    return rows.map(({ n }) => n);
  }

  /** A collection of documents. Nothing is sent before its first call. */
  collection<T extends TableName<S>>(name: T): Collection<DocumentOf<S, T>>;
  collection<D extends object>(name: string): Collection<D>;
  collection<D extends object>(name: string): Collection<D> {
    return new Collection<D>(this.transport, name);
  }

  /** A collection of vectors. Nothing is sent before its first call. */
  vectors<M extends object = Record<string, unknown>>(name: string): VectorCollection<M> {
    return new VectorCollection<M>(this.transport, name);
  }

  /** Runs one statement of Cypher. `R`: the type of its rows. */
  async cypher<R = Row>(
    cypher: string,
    parameters: Readonly<Record<string, unknown>> = {},
    { graph, signal, idempotencyKey = newKey() }: CypherOptions = {},
  ): Promise<Result<R>> {
    const body = { cypher, parameters, ...(graph !== undefined && { graph }) };
    const sent = { body, signal, idempotencyKey };
    const { columns, ...rest } = await this.transport.ask<Matched>("POST", "/v1/graph/match", sent);
    const described: Column[] = columns.map((name) => ({ name, data_type: "any", nullable: true }));
    return resultOf<R>({ ...rest, columns: described });
  }

  /** Vectors of texts, by the configured model or a named one. */
  async embed(texts: readonly string[], { signal, model }: CallOptions & { readonly model?: string } = {}) {
    const body = { texts, ...(model !== undefined && { model }) };
    const sent = { body, signal, reads: true };
    const { embeddings } = await this.transport.ask<{ embeddings: number[][] }>(
      "POST",
      "/v1/ai/embeddings/batch",
      sent,
    );
    return embeddings;
  }

  /** Changes as they are committed, each once. It goes on by itself after each interruption. */
  subscribe<D = Record<string, unknown>>(followed: Followed): AsyncGenerator<Change<D>, void> {
    return follow<D>(this.transport, followed);
  }

  /**
   * Any route, typed as the server declares it: `db.call("GET /v1/collections/{name}", { params: { name } })`. Gives
   * the payload of its answer. A POST or PUT gets an Idempotency-Key.
   */
  call<R extends Route>(route: R, ...sent: CallArguments<R>): Promise<AnswerOf<R>> {
    return callRoute(this.transport, route, ...sent);
  }

  /** Any route by its address, whatever it takes and answers. A POST or PUT gets an Idempotency-Key. */
  request<T = unknown>(
    method: Method,
    path: string,
    { body, query, signal, idempotencyKey }: RequestOptions = {},
  ): Promise<T> {
    const isKept = method === "POST" || method === "PUT";
    const key = idempotencyKey ?? (isKept ? newKey() : "");
    return this.transport.ask<T>(method, path, {
      signal,
      idempotencyKey: key,
      ...(body !== undefined && { body }),
      ...(query !== undefined && { query }),
    });
  }
}

/** A name in Cypher. */
const quoted = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

/** Of a statement of Cypher. */
export interface CypherOptions extends WriteOptions {
  /** The graph's name; `default` unless said. */
  readonly graph?: string | undefined;
}

/** Of a request to any route. */
export interface RequestOptions extends WriteOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Of a request whose body and answer are files. */
export interface FetchOptions extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly content?: Blob | string;
  readonly contentType?: string;
  readonly accept?: string;
}
