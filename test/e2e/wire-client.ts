/** A bare client of PostgreSQL's protocol: sends messages byte by byte as tests want them, and reads what comes. */
import { MessageFields } from "../../src/protocol/postgres/message-reader.js";
import type { TestServer } from "./server.js";
import { connected, SocketReader } from "./socket-reader.js";
import { signIn } from "./wire-sign-in.js";

/** Switches the server's protocol on, at any free port. */
export const WITH_POSTGRES = { TESSERA_POSTGRES_PORT: "5432", TESSERA_POSTGRES_ANY_PORT: "true" } as const;

export function postgresPort({ lines }: TestServer): number {
  const line = lines.findLast((each) => each.includes("postgresql://"));
  if (line === undefined) throw new Error("the server does not say where it listens for PostgreSQL's protocol");
  return Number(/:(\d+)$/.exec(line)![1]);
}

export interface Received {
  readonly type: string;
  readonly body: Buffer;
}

const cstring = (text: string): Buffer => Buffer.from(`${text}\0`);

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function message(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? cstring(part) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

export const query = (sql: string): Buffer => message("Q", sql);
export const sync = message("S");
export const parse = (name: string, sql: string, oids: readonly number[] = []): Buffer =>
  message("P", name, sql, int16(oids.length), ...oids.map(int32));
/** Values as text; null: NULL. */
export const bind = (portal: string, statement: string, values: readonly (string | null)[] = []): Buffer =>
  message(
    "B",
    portal,
    statement,
    int16(0),
    int16(values.length),
    ...values.map((value) =>
      value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]),
    ),
    int16(0),
  );
export const describe = (kind: "S" | "P", name: string): Buffer => message("D", Buffer.from(kind), name);
export const execute = (portal: string, rowsMax = 0): Buffer => message("E", portal, int32(rowsMax));

/** The first packet of a connection that cancels another's statement has this, and the other's key. */
export const CANCEL_REQUEST = 80_877_102;

/** An error's or notice's fields by their letters. */
export function fieldsOf({ body }: Received): Record<string, string> {
  const fields = new MessageFields(body);
  const found: Record<string, string> = {};
  for (let letter = fields.byte(); letter !== 0; letter = fields.byte()) {
    found[String.fromCharCode(letter)] = fields.cstring();
  }
  return found;
}

/** The texts of a DataRow. */
export function valuesOf({ body }: Received): (string | null)[] {
  const fields = new MessageFields(body);
  return Array.from({ length: fields.int16() }, () => {
    const length = fields.int32();
    return length < 0 ? null : fields.view(length).toString();
  });
}

export class WireClient extends SocketReader {
  static async connect(to: number | string): Promise<WireClient> {
    return new WireClient(await connected(to));
  }

  /** Connects and signs in; answers once the server is ready. */
  static async open(
    server: TestServer,
    parameters: Readonly<Record<string, string>> = {},
    to: number | string = postgresPort(server),
  ): Promise<WireClient> {
    const client = await WireClient.connect(to);
    client.start({ user: server.username, ...parameters });
    await signIn(client, server.password);
    await client.until("Z");
    return client;
  }

  start(parameters: Readonly<Record<string, string>>, version = 0x30000): void {
    const names = Object.entries(parameters).flatMap(([name, value]) => [cstring(name), cstring(value)]);
    const body = Buffer.concat([int32(version), ...names, Buffer.alloc(1)]);
    this.send(int32(body.length + 4), body);
  }

  /** So many bytes without a message around them; fewer where the connection ends. */
  raw(length: number): Promise<Buffer> {
    return this.take(length);
  }

  /** The next message; null: the connection has ended. */
  async receive(): Promise<Received | null> {
    const head = await this.take(5);
    if (head.length < 5) return null;
    return { type: String.fromCharCode(head[0]!), body: await this.take(head.readInt32BE(1) - 4) };
  }

  /** All messages up to one of the type, or to the end of the connection. */
  async until(type: string): Promise<Received[]> {
    const all: Received[] = [];
    for (let next = await this.receive(); next !== null; next = await this.receive()) {
      all.push(next);
      if (next.type === type) break;
    }
    return all;
  }

  /** Runs a query of the simple protocol and answers with all messages for it. */
  ask(sql: string): Promise<Received[]> {
    this.send(query(sql));
    return this.until("Z");
  }
}

/** The letters of messages, in order. */
export const lettersOf = (messages: readonly Received[]): string => messages.map(({ type }) => type).join("");

/** The fields of the error that is among the messages. */
export const errorIn = (messages: readonly Received[]) => fieldsOf(messages.find(({ type }) => type === "E")!);

/** Works with a client that is closed at the end. */
export async function withWire(server: TestServer, work: (client: WireClient) => Promise<void>): Promise<void> {
  const client = await WireClient.open(server);
  try {
    await work(client);
  } finally {
    client.close();
  }
}
