/** What a client is made with, and what a call can say. */

/** The part of a WebSocket that the client uses; the global one, and those of `ws` and `undici`, have it. */
export interface SocketLike {
  readonly readyState: number;
  /** The client sets it to `arraybuffer`. */
  binaryType: string;
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "close", listener: (event: { readonly reason?: string }) => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

/** Makes WebSockets. One that leaves the protocol aside gets rows as JSON, which takes more time to read. */
export type SocketClass = new (url: string, protocol?: string) => SocketLike;

interface Address {
  /** The server's address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** In place of the global `WebSocket`, which Node.js has from version 22 on. */
  readonly WebSocket?: SocketClass;
  /** Attempts of a request that can be repeated; 5 unless said. */
  readonly attempts?: number;
  /**
   * Milliseconds until a request without a stream is given up, also at the server. Unless said, the client gives it up
   * after 120,000, and the server by its own limits.
   */
  readonly timeoutMs?: number;
  /** All calls are about this branch of the tenant, also over the WebSocket. Absent: about the tenant itself. */
  readonly branch?: string;
}

/** By an API key, or an access token that somebody else renews. */
export interface KeyOptions extends Address {
  readonly apiKey: string;
}

/** By a user's password. The client signs in when it first has to, and again before its token expires. */
export interface PasswordOptions extends Address {
  readonly username: string;
  readonly password: string;
  /** The code of the second factor, where the user has one; asked for with each sign-in. */
  readonly code?: () => string | Promise<string>;
}

/** How a client finds its server, and who it is. */
export type ConnectOptions = KeyOptions | PasswordOptions;

/** Of one call. */
export interface CallOptions {
  /** Cancels the call, also at the server. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Of one call that may change something. */
export interface WriteOptions extends CallOptions {
  /**
   * Repetitions with this key are answered as the first time. The client makes one up for each call. "": none, which is
   * a little faster; then the call is not repeated after a broken connection.
   */
  readonly idempotencyKey?: string | undefined;
}
