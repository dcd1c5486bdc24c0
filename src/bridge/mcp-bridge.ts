#!/usr/bin/env node
/**
 * Model Context Protocol on stdin and stdout for clients that only start programs: each line is a JSON-RPC message and
 * goes to POST {SVC_URL}/v1/mcp; its answer is a line. Needs Node 18 and nothing else; GET /v1/mcp/bridge serves this
 * very file.
 *
 *   SVC_URL                     where the server is; http://127.0.0.1:8080 unless set
 *   SVC_TOKEN                   a token or API key, used as it is; it wins over
 *   SVC_USERNAME, SVC_PASSWORD  with which the bridge signs in, and again when the token has expired
 */
import { createInterface } from "node:readline";

const url = (process.env.SVC_URL ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
const fixedToken = process.env.SVC_TOKEN ?? "";
const username = process.env.SVC_USERNAME ?? "";
const password = process.env.SVC_PASSWORD ?? "";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly uri?: string;
    readonly requestId?: string | number;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly result?: { readonly protocolVersion?: string };
}

/** Where a named thing stands among the parameters, for the headers of stateless revisions. */
const NAMED: Readonly<Record<string, "name" | "uri">> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

let token = fixedToken;
let signingIn: Promise<void> | null = null;
/** What `initialize` agreed on. */
let revision = "";
const running = new Map<string | number, AbortController>();
let open = 0;
let ended = false;

function complain(text: string): void {
  process.stderr.write(`tessera-mcp-bridge: ${text}\n`);
}

async function signIn(): Promise<void> {
  const response = await fetch(`${url}/v1/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  const body = (await response.json()) as { access_token?: string; error?: { message?: string } };
  if (body.access_token === undefined) {
    throw new Error(body.error?.message ?? "the account needs a second factor: use SVC_TOKEN with an API key");
  }
  token = body.access_token;
}

/** One sign-in for all messages that wait for it. */
function signedIn(): Promise<void> {
  signingIn ??= signIn().finally(() => {
    signingIn = null;
  });
  return signingIn;
}

function headersFor({ method = "", params }: Message): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
  };
  const claimed = params?._meta?.[VERSION_KEY];
  if (typeof claimed === "string") {
    headers["mcp-protocol-version"] = claimed;
    headers["mcp-method"] = method;
    const member = NAMED[method];
    const name = member === undefined ? undefined : params?.[member];
    if (name !== undefined) headers["mcp-name"] = headerName(name);
  } else if (revision !== "" && method !== "initialize") headers["mcp-protocol-version"] = revision;
  return headers;
}

/** Names that a header cannot hold are encoded. */
function headerName(name: string): string {
  if (/^[\x21-\x7e]+$/.test(name) && !name.startsWith("=?")) return name;
  return `=?base64?${Buffer.from(name, "utf8").toString("base64")}?=`;
}

function ask(line: string, message: Message, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/mcp`, { method: "POST", headers: headersFor(message), body: line, signal });
}

async function forward(line: string, message: Message): Promise<void> {
  const stop = new AbortController();
  if (message.id !== undefined) running.set(message.id, stop);
  try {
    if (token === "" && username !== "") await signedIn();
    let response = await ask(line, message, stop.signal);
    if (response.status === 401 && fixedToken === "" && username !== "") {
      await response.arrayBuffer();
      await signedIn();
      response = await ask(line, message, stop.signal);
    }
    await passOn(response, message);
  } catch (error) {
    // Nothing is answered to a request that the client has cancelled.
    if (!stop.signal.aborted) fail(message, `${url} cannot be reached: ${(error as Error).message}`);
  } finally {
    if (message.id !== undefined) running.delete(message.id);
  }
}

async function passOn(response: Response, message: Message): Promise<void> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await passOnEvents(response);
    return;
  }
  const text = await response.text();
  if (text === "") return;
  const answer = JSON.parse(text) as Message & { jsonrpc?: string; error?: { message?: string } };
  if (answer.jsonrpc !== "2.0") {
    fail(message, `HTTP ${response.status}: ${answer.error?.message ?? text}`);
    return;
  }
  if (message.method === "initialize") revision = answer.result?.protocolVersion ?? "";
  if (message.id !== undefined) process.stdout.write(`${text}\n`);
}

/** Server-sent events: the data of each is a message. */
async function passOnEvents(response: Response): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(piece, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart());
      if (data.length > 0) process.stdout.write(`${data.join("")}\n`);
    }
  }
}

/** Requests are answered; what goes wrong with a notification can only be complained about. */
function fail({ id }: Message, text: string): void {
  if (id === undefined) {
    complain(text);
    return;
  }
  const error = { code: -32000, message: text };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
}

function read(line: string): void {
  if (line.trim() === "") return;
  let message: Message;
  try {
    message = JSON.parse(line) as Message;
  } catch {
    process.stdout.write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n');
    return;
  }
  if (message.method === "notifications/cancelled") {
    const { requestId } = message.params ?? {};
    if (requestId !== undefined) running.get(requestId)?.abort();
    return;
  }
  open++;
  void forward(line, message).finally(() => {
    open--;
    endWhenDone();
  });
}

/** The client has closed its side, and everything is answered. */
function endWhenDone(): void {
  if (ended && open === 0) process.exitCode = 0;
}

if (fixedToken === "" && username === "") complain("set SVC_TOKEN, or SVC_USERNAME and SVC_PASSWORD");
createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  .on("line", read)
  .on("close", () => {
    ended = true;
    endWhenDone();
  });
