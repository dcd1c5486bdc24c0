/** A bare client of Bolt: sends what tests want, chunk by chunk, and reads what comes. */
import { ASK, TELL } from "../../src/protocol/bolt/message-tags.js";
import { type Hydrate, PackReader } from "../../src/protocol/bolt/pack-reader.js";
import { type PackValue, PackWriter } from "../../src/protocol/bolt/pack-writer.js";
import type { TestServer } from "./server.js";
import { connected, SocketReader } from "./socket-reader.js";

/** Switches the server's protocol on, at any free port. */
export const WITH_BOLT = { TESSERA_BOLT_PORT: "7687", TESSERA_BOLT_ANY_PORT: "true" } as const;

export function boltPort({ lines }: TestServer): number {
  const line = lines.findLast((each) => each.includes("bolt://"));
  if (line === undefined) throw new Error("the server does not say where it listens for Bolt");
  return Number(/:(\d+)$/.exec(line)![1]);
}

/** A structure of any kind. */
export interface Struct {
  readonly tag: number;
  readonly fields: readonly unknown[];
}

const RAW: Hydrate = {
  float: (float) => ({ float }),
  bytes: (bytes) => Buffer.from(bytes),
  structure: (tag, fields): Struct => ({ tag, fields }),
};

/** Maps as objects, for comparing. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [key, plain(each)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

export interface Told {
  readonly kind: keyof typeof TELL;
  // Tests read what they expect; a wrong shape fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly data: any;
}

const KINDS = new Map<number, keyof typeof TELL>(
  Object.entries(TELL).map(([kind, tag]) => [tag, kind as keyof typeof TELL]),
);

export function told(message: Buffer): Told {
  const reader = new PackReader(message, RAW);
  const { tag, fields } = reader.message();
  const values = Array.from({ length: fields }, () => plain(reader.value()));
  reader.end();
  const kind = KINDS.get(tag);
  if (kind === undefined) throw new Error(`the server sent a message with the tag ${tag}`);
  return { kind, data: values[0] };
}

export function message(name: keyof typeof ASK, ...fields: readonly PackValue[]): Buffer {
  const writer = new PackWriter();
  writer.begin(ASK[name], fields.length);
  for (const field of fields) writer.value(field);
  writer.end();
  return writer.take();
}

export const run = (text: string, parameters: PackValue = {}, extra: PackValue = {}): Buffer =>
  message("run", text, parameters, extra);
export const pull = (n = -1, qid = -1): Buffer => message("pull", { n, qid });
export const discard = (n = -1, qid = -1): Buffer => message("discard", { n, qid });
export const begin = (extra: PackValue = {}): Buffer => message("begin", extra);
export const commit = message("commit");
export const rollback = message("rollback");
export const reset = message("reset");

/** Of a user. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

const MAGIC = [0x60, 0x60, 0xb0, 0x17];

export class BoltClient extends SocketReader {
  /** Empty chunks between messages. */
  noops = 0;

  static async connect(port: number): Promise<BoltClient> {
    return new BoltClient(await connected(port));
  }

  /** Connects and signs in; answers once the server is ready. */
  static async open(server: TestServer, version: readonly [number, number] = [5, 8]): Promise<BoltClient> {
    const client = await BoltClient.connect(boltPort(server));
    await client.start(version, { user: server.username, password: server.password });
    return client;
  }

  /** Answers with what was told at the sign-in. */
  async start([major, minor]: readonly [number, number], { user, password }: Credentials): Promise<Told> {
    await this.shake([0, 0, minor, major]);
    const token = { scheme: "basic", principal: user, credentials: password };
    if (major === 4 || (major === 5 && minor === 0))
      return this.ask(message("hello", { user_agent: "test/1", ...token }));
    const hello = await this.ask(message("hello", { user_agent: "test/1" }));
    const logon = await this.ask(message("logon", token));
    return logon.kind === "failure" ? logon : hello;
  }

  /** Four proposals; those that are left out are none. */
  async shake(...proposals: readonly (readonly number[])[]): Promise<Buffer> {
    const all = [...proposals, ...Array.from({ length: 4 - proposals.length }, () => [0, 0, 0, 0])];
    this.send(Buffer.from([...MAGIC, ...all.flat()]));
    return this.take(4);
  }

  /** The next message; null: the server has closed the connection. */
  async receive(): Promise<Told | null> {
    const chunks: Buffer[] = [];
    for (;;) {
      const head = await this.take(2);
      if (head.length < 2) return null;
      const length = head.readUInt16BE(0);
      if (length > 0) chunks.push(await this.take(length));
      else if (chunks.length > 0) return told(Buffer.concat(chunks));
      else this.noops++;
    }
  }

  /** The answer of a message that has one. */
  async ask(...bytes: readonly Buffer[]): Promise<Told> {
    this.send(...bytes);
    return (await this.receive())!;
  }

  /** Messages up to `count` that are no rows. */
  async until(count: number): Promise<Told[]> {
    const all: Told[] = [];
    for (let left = count; left > 0; ) {
      const next = await this.receive();
      if (next === null) break;
      all.push(next);
      if (next.kind !== "record") left--;
    }
    return all;
  }

  /** Runs a statement and pulls all its rows; an error's code in their place. */
  async rows(text: string, parameters: PackValue = {}, extra: PackValue = {}): Promise<unknown> {
    this.send(run(text, parameters, extra), pull());
    const all = await this.until(2);
    const failure = all.find(({ kind }) => kind === "failure");
    if (failure === undefined) return all.filter(({ kind }) => kind === "record").map(({ data }) => data);
    await this.ask(reset);
    return codeOf(failure);
  }
}

export const codeOf = ({ data }: Told): string => data.neo4j_code ?? data.code;
