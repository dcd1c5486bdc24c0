/**
 * The contract of one HTTP endpoint: its route, who may call it, and the schemas of its input and output. The gateway
 * routes and documents by it, the actor validates and dispatches by it; neither knows a route that is not declared
 * here.
 */
import type { TObject, TSchema } from "typebox";
import type { ErrorCode } from "./errors.js";

/**
 * `MESSAGE`: no route, but a kind of message on the WebSocket; its path is the WebSocket's. `WIRE`: no route either,
 * but what the server of another protocol asks of actors, with bodies and answers of bytes.
 */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "MESSAGE" | "WIRE";

/**
 * - `public`: no credential.
 * - `member`: any signed-in identity; a ReadOnly key may call it.
 * - `writer`: a signed-in identity whose permission is not ReadOnly.
 * - `admin`: a super_admin, by a credential that may write; a handler holds it to its own tenant.
 * - `system`: such a super_admin of the tenant that owns the installation.
 */
export type Access = "public" | "member" | "writer" | "admin" | "system";

/**
 * How a request reaches the tenant's tables, and what keeps it from showing what its caller may not see.
 *
 * - `statements`: by statements of a session, which knows who it acts for: the binder checks them.
 * - `parts`: it does many things, each of which checks: a tool by its own door, a subscription by what it follows.
 * - `whole`: in ways of its own, too. Callers who may not see or change all of the tenant are refused (table-doors.ts).
 *   Memories of others do not count: such ways read them by statements of the caller alone, or leave them out.
 * - `all`: as `whole`, and what it does takes all tables, memories of others among them.
 * - `none`: it reaches none of them.
 */
export type Door = "statements" | "parts" | "whole" | "all" | "none";

/** A request as a newcomer might send it. */
export interface RequestExample {
  /** Of path variables. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Text is sent as it is, in the first media type of the endpoint's `streamedBody`. Absent: there is nothing to send.
   */
  readonly body?: object | string;
}

/** What the Link header of a list's page is made of. */
export interface PagesSpec {
  /** The answer's member that holds the items; null: the answer is their list. */
  readonly items: string | null;
  /** The member that counts those of all pages; absent: nobody has counted them. */
  readonly total?: string;
  /** Items of a page whose size is not asked for; LIST_PAGE_DEFAULT unless said. */
  readonly usual?: number;
  /** The largest page, which larger ones become; absent: a page is as large as asked, or refused. */
  readonly most?: number;
  /** The query parameter that takes what the member of the page before says, instead of an offset. */
  readonly after?: { readonly parameter: string; readonly member: string };
}

export interface EndpointSpec {
  /** Unique, dotted: "query.execute". Also the OpenAPI operationId. */
  readonly name: string;
  readonly door: Door;
  readonly method: Method;
  /** With `{name}` for path variables; paths under /v1 are served under /v2 too. */
  readonly path: string;
  /** An address of earlier releases, which goes on working. */
  readonly earlierPath?: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /**
   * Who answers: the actor of the caller's tenant, that of the tenant which the path's first variable names, the
   * directory (partition 0's actor), or the gateway itself.
   */
  readonly home: "tenant" | "named" | "directory" | "gateway";
  /** Path variables and query parameters; all arrive as strings. */
  readonly params?: TObject;
  readonly query?: TObject;
  /** It lists, page by page. */
  readonly pages?: PagesSpec;
  readonly body?: TObject;
  /** The body may be left out entirely (an empty object is then assumed). */
  readonly bodyOptional?: true;
  /** A body that is a bare list stands for an object with this member. */
  readonly listIs?: string;
  /** The body's schema is for the documentation: its handler checks it, with errors of its own. */
  readonly checksBody?: true;
  /** Codes of its own in place of general ones, of the same status. */
  readonly codes?: Readonly<Partial<Record<ErrorCode, ErrorCode>>>;
  /** Its `as_of`, in the body or the query string, says of which moment of the past it reads. */
  readonly asOf?: "body" | "query";
  /** Of the body the members "vector" and "values" are vectors, also in the items of "vectors". */
  readonly hasVectors?: true;
  /** Whole numbers of the body that a double cannot hold are BigInts: values for columns and properties. */
  readonly keepsIntegers?: true;
  /** The body is bytes, which the handler gets as they are. */
  readonly bytesBody?: true;
  /** The body is not JSON but a stream of one of these media types; of any length, and not held in memory. */
  readonly streamedBody?: readonly string[];
  /** Beside JSON the body may be text of one of these media types: it stands for an object with this member. */
  readonly textBody?: { readonly types: readonly string[]; readonly is: string };
  /** The answer, or one of its forms, is a stream of one of these media types, without the envelope. */
  readonly streamedReply?: readonly string[];
  /** Of a MESSAGE: the values of its field `type`. */
  readonly messages?: readonly string[];
  /**
   * The body is JSON-RPC, of that schema, which the handler reads by itself; so are the answers and errors, which have
   * no envelope.
   */
  readonly jsonRpc?: TSchema;
  /** Answers and errors are those of OpenAI's interface: JSON without the envelope (openai-error.ts). */
  readonly form?: "openai";
  /**
   * Names of request headers that the handler reads: RequestHead.media has them after the three that it is named for.
   */
  readonly headers?: readonly string[];
  /** It may become a subscription, which lives until the client leaves. */
  readonly live?: true;
  /**
   * For the OpenAPI document and the page of the API; every endpoint with a body has one.
   * test/e2e/endpoint-examples.test.ts sends all of them, one after the other, to a new tenant.
   */
  readonly example?: RequestExample;
  /** Of `data` in the envelope; absent for 204 and for replies that are not enveloped. */
  readonly response?: TSchema;
  /** Of success; 200 unless said. */
  readonly status?: 101 | 200 | 201 | 202 | 204;
  /** Statuses of errors that are its own, beside those that endpoints like it answer with. */
  readonly failures?: readonly number[];
  /** The payload's fields also stand at top level beside `data` and `meta`. */
  readonly flat?: true;
  /**
   * Where an answer is kept by Idempotency-Key: beside the write (the usual case), or in memory only, for answers that
   * hold a secret or name something that lives in memory.
   */
  readonly keeps?: "memory";
  /** The audit trail keeps who asked; so it does of all that changes something under `admin` and `system`. */
  readonly audited?: true;
  /** It ends what its caller has begun, so it is refused to nobody who may call it: locks would stay. */
  readonly ends?: true;
  /** Gets the long request timeout (training, import). */
  readonly slow?: true;
}

export interface Endpoint extends EndpointSpec {
  /** Position in the table of endpoints: how frames name it. */
  readonly code: number;
  readonly isAudited: boolean;
}
