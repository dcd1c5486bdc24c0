/** The client's side of a sign-in to PostgreSQL's protocol, written from RFC 5802 apart from the server's. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { int32, message, type Received, type WireClient } from "./wire-client.js";

/** Kinds of Authentication messages. */
export const ASKS = { ok: 0, password: 3, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

export const kindOf = ({ body }: Received): number => body.readInt32BE();
const textOf = ({ body }: Received): string => body.toString("utf8", 4);

export interface Proving {
  readonly mechanism?: string;
  /** Before the user's name. */
  readonly header?: string;
  /** What `header` is about, for channel binding. */
  readonly binding?: Buffer;
  /** Changes the last message before it is sent. */
  readonly spoil?: (final: string) => string;
}

export interface Challenged {
  readonly salt: string;
  readonly iterations: number;
}

const hmac = (key: Uint8Array, text: string) => createHmac("sha256", key).update(text).digest();

export function initial(mechanism: string, first: string): Buffer {
  return message("p", mechanism, int32(Buffer.byteLength(first)), Buffer.from(first));
}

/**
 * Proves the password after the server's offer was received; throws where the server does not prove that it knows it,
 * too.
 */
export async function prove(client: WireClient, password: string, how: Proving = {}): Promise<Challenged | Received> {
  const { mechanism = "SCRAM-SHA-256", header = "n,,", binding = Buffer.alloc(0), spoil = (final) => final } = how;
  const nonce = randomBytes(12).toString("base64");
  const bare = `n=,r=${nonce}`;
  client.send(initial(mechanism, header + bare));
  const challenged = (await client.receive())!;
  if (challenged.type !== "R") return challenged;
  const first = textOf(challenged);
  const [, both, salt, iterations] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(first)!;
  if (!both!.startsWith(nonce)) throw new Error("the server's nonce does not begin with the client's");
  const salted = pbkdf2Sync(password, Buffer.from(salt!, "base64"), Number(iterations), 32, "sha256");
  const clientKey = hmac(salted, "Client Key");
  const channel = Buffer.concat([Buffer.from(header), binding]).toString("base64");
  const unproven = `c=${channel},r=${both}`;
  const said = `${bare},${first},${unproven}`;
  const signature = hmac(createHash("sha256").update(clientKey).digest(), said);
  const proof = Buffer.from(clientKey.map((byte, i) => byte ^ signature[i]!)).toString("base64");
  client.send(message("p", Buffer.from(spoil(`${unproven},p=${proof}`))));
  const final = (await client.receive())!;
  if (final.type !== "R") return final;
  const expected = `v=${hmac(hmac(salted, "Server Key"), said).toString("base64")}`;
  if (kindOf(final) !== ASKS.saslFinal || textOf(final) !== expected)
    throw new Error("the server did not prove itself");
  return { salt: salt!, iterations: Number(iterations) };
}

/** Answers whatever the server asks for; null: it let the client in, or what it said instead. */
export async function signIn(client: WireClient, password: string): Promise<Received | null> {
  const asked = (await client.receive())!;
  if (asked.type !== "R") return asked;
  if (kindOf(asked) === ASKS.sasl) {
    const proven = await prove(client, password);
    if ("type" in proven) return proven;
  } else client.send(message("p", password));
  const ended = await client.receive();
  return ended?.type === "R" && kindOf(ended) === ASKS.ok ? null : ended;
}
