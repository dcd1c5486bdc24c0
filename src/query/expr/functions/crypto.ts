/**
 * Functions of the extensions pgcrypto and uuid-ossp. Digests and ciphers are node:crypto's. Passwords are hashed in
 * password-hash.ts.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { sqlError } from "../../../protocol/errors.js";
import { BYTEA, INT4, TEXT, UUID } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { deferredFn, fn, taking } from "./define.js";
import { crypted, newSalt } from "./password-hash.js";

const VOLATILE = { volatility: "volatile" } as const;

const DIGESTS: ReadonlySet<string> = new Set(["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]);

/** Throws 22023. */
function digestName(type: string): string {
  const name = type.toLowerCase();
  if (DIGESTS.has(name)) return name;
  throw sqlError("22023", `Cannot use "${type}": No such hash algorithm`, {
    hint: `Known are ${[...DIGESTS].join(", ")}.`,
  });
}

const digest = (data: Uint8Array | string, type: string): Uint8Array =>
  new Uint8Array(createHash(digestName(type)).update(data).digest());

const hmac = (data: Uint8Array | string, key: Uint8Array | string, type: string): Uint8Array =>
  new Uint8Array(createHmac(digestName(type), key).update(data).digest());

const RANDOM_BYTES_MAX = 1024;

function someBytes(count: number): Uint8Array {
  if (count < 1 || count > RANDOM_BYTES_MAX) throw sqlError("39000", "Length not in range");
  return new Uint8Array(randomBytes(count));
}

interface Cipher {
  /** As node:crypto names it. */
  readonly name: string;
  readonly key: Buffer;
  readonly iv: Buffer | null;
  readonly isPadded: boolean;
}

const AES_BLOCK_BYTES = 16;
const AES_KEY_BYTES = [16, 24, 32];
const AES_KEY_BYTES_MAX = 32;

/** `aes[-cbc|-ecb][/pad:pkcs|none]`; keys and initial vectors are cut or filled up with zeros. Throws 22023. */
function cipherOf(type: string, key: Uint8Array, iv: Uint8Array): Cipher {
  const match = /^(aes|rijndael)(?:-(cbc|ecb))?(?:\/pad:(pkcs|none))?$/.exec(type.toLowerCase());
  if (match === null) {
    throw sqlError("22023", `Cannot use "${type}": No such cipher algorithm`, {
      hint: "Known are aes-cbc and aes-ecb, with /pad:pkcs or /pad:none.",
    });
  }
  const bytes = AES_KEY_BYTES.find((size) => key.length <= size) ?? AES_KEY_BYTES_MAX;
  const [, , mode = "cbc", padding = "pkcs"] = match;
  return {
    name: `aes-${bytes * 8}-${mode}`,
    key: filled(key, bytes),
    iv: mode === "cbc" ? filled(iv, AES_BLOCK_BYTES) : null,
    isPadded: padding === "pkcs",
  };
}

function filled(bytes: Uint8Array, length: number): Buffer {
  const whole = Buffer.alloc(length);
  whole.set(bytes.subarray(0, length));
  return whole;
}

const NO_BYTES = new Uint8Array(0);

function encrypt(data: Uint8Array, key: Uint8Array, type: string, iv: Uint8Array = NO_BYTES): Uint8Array {
  const cipher = cipherOf(type, key, iv);
  if (!cipher.isPadded && data.length % AES_BLOCK_BYTES !== 0) {
    throw sqlError("39000", "encrypt error: Encryption failed", {
      detail: `Without padding the data must be a multiple of ${AES_BLOCK_BYTES} bytes long.`,
    });
  }
  const running = createCipheriv(cipher.name, cipher.key, cipher.iv).setAutoPadding(cipher.isPadded);
  return new Uint8Array(Buffer.concat([running.update(data), running.final()]));
}

function decrypt(data: Uint8Array, key: Uint8Array, type: string, iv: Uint8Array = NO_BYTES): Uint8Array {
  const cipher = cipherOf(type, key, iv);
  const running = createDecipheriv(cipher.name, cipher.key, cipher.iv).setAutoPadding(cipher.isPadded);
  try {
    return new Uint8Array(Buffer.concat([running.update(data), running.final()]));
  } catch {
    throw sqlError("39000", "decrypt error: Decryption failed", {
      detail: "The key, the cipher or the data is not the one that it was encrypted with.",
    });
  }
}

export const CRYPTO_FUNCTIONS: readonly ScalarFunction[] = [
  ...taking(4, [
    fn("digest", [TEXT, TEXT], BYTEA, digest),
    fn("digest", [BYTEA, TEXT], BYTEA, digest),
    fn("hmac", [TEXT, TEXT, TEXT], BYTEA, hmac),
    fn("hmac", [BYTEA, BYTEA, TEXT], BYTEA, hmac),
    fn("encrypt", [BYTEA, BYTEA, TEXT], BYTEA, encrypt),
    fn("decrypt", [BYTEA, BYTEA, TEXT], BYTEA, decrypt),
    fn("encrypt_iv", [BYTEA, BYTEA, BYTEA, TEXT], BYTEA, (data, key, iv, type) => encrypt(data, key, type, iv)),
    fn("decrypt_iv", [BYTEA, BYTEA, BYTEA, TEXT], BYTEA, (data, key, iv, type) => decrypt(data, key, type, iv)),
  ]),
  fn("gen_random_bytes", [INT4], BYTEA, someBytes, VOLATILE),
  fn("gen_salt", [TEXT], TEXT, (type: string) => newSalt(type, 0), VOLATILE),
  fn("gen_salt", [TEXT, INT4], TEXT, newSalt, VOLATILE),
  deferredFn("crypt", [TEXT, TEXT], TEXT, crypted, { volatility: "immutable", rowsMax: 4 }),
];

const NAMESPACES: readonly (readonly [name: string, uuid: string])[] = [
  ["uuid_ns_dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
  ["uuid_ns_url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"],
  ["uuid_ns_oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"],
  ["uuid_ns_x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"],
];

const bytesOfUuid = (uuid: string) => Buffer.from(uuid.replaceAll("-", ""), "hex");

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** RFC 4122, section 4.3. `version` 3: MD5; 5: SHA-1. */
function uuidOfName(version: 3 | 5, namespace: string, name: string): string {
  const hash = createHash(version === 3 ? "md5" : "sha1");
  const bytes = hash.update(bytesOfUuid(namespace)).update(name).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return uuidText(bytes);
}

/** Hundreds of nanoseconds between 1582-10-15, from which UUIDs count, and 1970-01-01. */
const GREGORIAN_TICKS = 122_192_928_000_000_000n;
const clockSequence = randomBytes(2);
let lastTick = 0n;
let ownAddress: Buffer | null = null;

function randomNode(): Buffer {
  const node = randomBytes(6);
  // A multicast address, which no network card has, and a local one.
  node[0] = node[0]! | 0x03;
  return node;
}

/** The address of a network card, or a random one where there is none. */
function ownNode(): Buffer {
  if (ownAddress === null) {
    const cards = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const card = cards.find(({ internal, mac }) => !internal && mac !== "00:00:00:00:00:00");
    ownAddress = card === undefined ? randomNode() : Buffer.from(card.mac.replaceAll(":", ""), "hex");
  }
  return ownAddress;
}

/** RFC 4122, section 4.2. */
function uuidOfTime(node: Buffer): string {
  const now = BigInt(Math.floor((performance.timeOrigin + performance.now()) * 1000)) * 10n + GREGORIAN_TICKS;
  lastTick = now > lastTick ? now : lastTick + 1n;
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(Number(lastTick & 0xffffffffn), 0);
  bytes.writeUInt16BE(Number((lastTick >> 32n) & 0xffffn), 4);
  bytes.writeUInt16BE(Number((lastTick >> 48n) & 0x0fffn) | 0x1000, 6);
  bytes[8] = (clockSequence[0]! & 0x3f) | 0x80;
  bytes[9] = clockSequence[1]!;
  bytes.set(node, 10);
  return uuidText(bytes);
}

export const UUID_FUNCTIONS: readonly ScalarFunction[] = [
  fn("uuid_generate_v1", [], UUID, () => uuidOfTime(ownNode()), VOLATILE),
  fn("uuid_generate_v1mc", [], UUID, () => uuidOfTime(randomNode()), VOLATILE),
  ...taking(4, [
    fn("uuid_generate_v3", [UUID, TEXT], UUID, (space: string, name: string) => uuidOfName(3, space, name)),
    fn("uuid_generate_v5", [UUID, TEXT], UUID, (space: string, name: string) => uuidOfName(5, space, name)),
  ]),
  fn("uuid_nil", [], UUID, () => "00000000-0000-0000-0000-000000000000"),
  ...NAMESPACES.map(([name, uuid]) => fn(name, [], UUID, () => uuid)),
];
