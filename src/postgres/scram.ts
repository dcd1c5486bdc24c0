/**
 * The server's side of an exchange of SCRAM-SHA-256 (RFC 5802, RFC 7677), as PostgreSQL has it: the user is the
 * start-up message's, whatever the exchange names. Knows no secrets: sign-in.ts asks the directory whether the proof is
 * right.
 */
import { randomBytes } from "node:crypto";
import { sqlError } from "../protocol/errors.js";
import { MessageFields, violation } from "../protocol/postgres/message-reader.js";
import { AUTHENTICATION } from "../protocol/postgres/message-types.js";

/** The other side of a sign-in. */
export interface SignInClient {
  /** Sends an Authentication message of the kind. */
  ask(kind: number, body?: Uint8Array): void;
  /** Body of the client's next message, which must be of the type of passwords. */
  answer(): Promise<Buffer>;
}

export interface Challenge {
  /** Base64. */
  readonly salt: string;
  readonly iterations: number;
}

/** What shows that the client knows the password. */
export interface Proof {
  readonly authMessage: string;
  /** Base64. */
  readonly proof: string;
}

const PLAIN = "SCRAM-SHA-256";
/** With channel binding: both sides see the same certificate. */
const BOUND = "SCRAM-SHA-256-PLUS";
const BINDING_TYPE = "tls-server-end-point";
const NONCE_BYTES = 18;

/** `certificate`: its hash, for channel binding; null: there is none. Throws 08P01, 0A000 and 28000. */
export async function takeProof(
  client: SignInClient,
  { salt, iterations }: Challenge,
  certificate: Buffer | null,
): Promise<Proof> {
  const mechanisms = certificate === null ? [PLAIN] : [BOUND, PLAIN];
  client.ask(AUTHENTICATION.sasl, Buffer.from(`${mechanisms.join("\0")}\0\0`));
  const { mechanism, initial } = readInitial(await client.answer());
  if (!mechanisms.includes(mechanism)) throw violation(`SASL mechanism "${mechanism}" was not offered`);
  if (initial === null) client.ask(AUTHENTICATION.saslContinue);
  const first = readClientFirst((initial ?? (await client.answer())).toString());
  checkBinding(first.flag, mechanism === BOUND, certificate !== null);

  const nonce = first.nonce + randomBytes(NONCE_BYTES).toString("base64");
  const serverFirst = `r=${nonce},s=${salt},i=${iterations}`;
  client.ask(AUTHENTICATION.saslContinue, Buffer.from(serverFirst));

  const final = readClientFinal((await client.answer()).toString());
  const bound = mechanism === BOUND ? certificate! : Buffer.alloc(0);
  const channel = Buffer.concat([Buffer.from(first.header), bound]).toString("base64");
  if (final.channel !== channel) throw sqlError("28000", "SCRAM channel binding check failed");
  if (final.nonce !== nonce) throw violation("the SCRAM nonce is not the server's");
  return { authMessage: `${first.bare},${serverFirst},${final.withoutProof}`, proof: final.proof };
}

/** SASLInitialResponse. */
function readInitial(body: Buffer): { readonly mechanism: string; readonly initial: Buffer | null } {
  const fields = new MessageFields(body);
  const mechanism = fields.cstring();
  const length = fields.int32();
  const initial = length < 0 ? null : Buffer.from(fields.view(length));
  fields.end();
  return { mechanism, initial };
}

interface ClientFirst {
  /**
   * Whether the client binds to the channel: "n" cannot, "y" would but does not believe that the server can, "p" does.
   */
  readonly flag: string;
  readonly header: string;
  readonly bare: string;
  readonly nonce: string;
}

const CLIENT_FIRST = /^((n|y|p=[A-Za-z0-9.-]+),(a=[^,]*)?,)((m=[^,]*,)?n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/s;

export function readClientFirst(text: string): ClientFirst {
  const match = CLIENT_FIRST.exec(text);
  if (match === null) throw violation("the first SCRAM message is malformed");
  const [, header, flag, authorization, bare, extension, nonce] = match;
  if (authorization !== undefined) throw sqlError("0A000", "an authorization identity in SCRAM is not supported");
  if (extension !== undefined) throw sqlError("0A000", "the client requires an unsupported SCRAM extension");
  return { flag: flag!, header: header!, bare: bare!, nonce: nonce! };
}

function checkBinding(flag: string, isBound: boolean, canBind: boolean): void {
  if (isBound) {
    if (flag !== `p=${BINDING_TYPE}`) {
      throw violation(`${BOUND} was selected without a channel binding of the type ${BINDING_TYPE}`);
    }
  } else if (flag.startsWith("p")) {
    throw violation(`${PLAIN} was selected, but the message includes channel binding data`);
  } else if (flag === "y" && canBind) {
    // Somebody in between may have taken the mechanism out of the offer.
    throw sqlError("28000", "the client believes that the server does not support channel binding, but it does");
  }
}

interface ClientFinal {
  /** Base64. */
  readonly channel: string;
  readonly nonce: string;
  readonly proof: string;
  readonly withoutProof: string;
}

const CLIENT_FINAL = /^(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+)(?:,[A-Za-z]=[^,]*)*?),p=([A-Za-z0-9+/]{43}=)$/s;

export function readClientFinal(text: string): ClientFinal {
  const match = CLIENT_FINAL.exec(text);
  if (match === null) throw violation("the last SCRAM message is malformed");
  const [, withoutProof, channel, nonce, proof] = match;
  return { channel: channel!, nonce: nonce!, proof: proof!, withoutProof: withoutProof! };
}
