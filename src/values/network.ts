/**
 * Network addresses: inet and cidr are held as `address/bits` with the address in its canonical text form, macaddr and
 * macaddr8 as lower-case hexadecimal with colons. Called by the formats, the codecs and the functions of expressions.
 *
 * Reading and printing follow PostgreSQL's inet_net_pton.c, inet_net_ntop.c and mac.c; the order is network_cmp's.
 */
import { sqlError } from "../protocol/errors.js";

export interface Network {
  /** 4 or 16, in network order. */
  readonly bytes: Uint8Array;
  /** Length of the netmask. */
  readonly bits: number;
}

export const widthOf = ({ bytes }: Network): number => bytes.length * 8;

/** Addresses parsed last: comparisons read the same ones again and again. */
const parsed = new Map<string, Network>();
const PARSED_MAX = 4096;

/** A value of inet or cidr taken apart. */
export function networkOf(value: string): Network {
  let network = parsed.get(value);
  if (network === undefined) {
    const slash = value.indexOf("/");
    network = { bytes: addressBytes(value.slice(0, slash))!, bits: Number(value.slice(slash + 1)) };
    if (parsed.size >= PARSED_MAX) parsed.clear();
    parsed.set(value, network);
  }
  return network;
}

/** The value of an address and a netmask's length. */
export function networkValue({ bytes, bits }: Network): string {
  return `${addressText(bytes)}/${bits}`;
}

/** inet is printed without the netmask when that is the whole address. */
export function inetText(value: string): string {
  const { bytes, bits } = networkOf(value);
  return bits === bytes.length * 8 ? value.slice(0, value.indexOf("/")) : value;
}

/** The address alone. */
export function hostText(value: string): string {
  return value.slice(0, value.indexOf("/"));
}

/** Throws 22P02, for cidr also where bits are set to the right of the mask. */
export function networkFromText(type: "inet" | "cidr", text: string): string {
  const source = text.trim();
  const network = source.includes(":") ? parseIpv6(source) : type === "cidr" ? parseCidr4(source) : parseInet4(source);
  if (network === null) throw sqlError("22P02", `invalid input syntax for type ${type}: "${text}"`);
  if (type === "cidr" && masked(network).bytes.some((byte, i) => byte !== network.bytes[i])) {
    throw sqlError("22P02", `invalid cidr value: "${text}"`, { detail: "Value has bits set to right of mask." });
  }
  return networkValue(network);
}

/** With the bits right of the mask cleared, or set. */
export function masked({ bytes, bits }: Network, set = false): Network {
  const out = bytes.map((byte, i) => {
    const kept = Math.min(Math.max(bits - i * 8, 0), 8);
    const host = 0xff >>> kept;
    return set ? byte | host : byte & ~host;
  });
  return { bytes: out, bits };
}

function addressBytes(text: string): Uint8Array | null {
  return text.includes(":") ? ipv6Bytes(text) : ipv4Bytes(text.split("."));
}

function ipv4Bytes(parts: readonly string[]): Uint8Array | null {
  if (parts.length > 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return null;
  const bytes = new Uint8Array(4);
  bytes.set(parts.map(Number));
  return bytes;
}

function prefixLength(text: string | undefined, max: number): number | null {
  if (text === undefined) return -1;
  if (!/^\d{1,3}$/.test(text) || (text.length > 1 && text.startsWith("0"))) return null;
  return Number(text) <= max ? Number(text) : null;
}

/** Octets may be left out where the netmask does not reach. */
function parseInet4(text: string): Network | null {
  const [address, mask, ...more] = text.split("/");
  const parts = address!.split(".");
  const bytes = ipv4Bytes(parts);
  const given = prefixLength(mask, 32);
  if (bytes === null || given === null || more.length > 0) return null;
  if (given < 0) return parts.length === 4 ? { bytes, bits: 32 } : null;
  return Math.floor(given / 8) > parts.length ? null : { bytes, bits: given };
}

/** Without a netmask it is that of the address's class, or of as many octets as are given. */
function parseCidr4(text: string): Network | null {
  const [address, mask, ...more] = text.split("/");
  const hex = /^0x([0-9a-f]{1,8})$/i.exec(address!)?.[1];
  const parts =
    hex === undefined
      ? address!.split(".")
      : (hex.match(/.{1,2}/g) ?? []).map((digits) => String(Number.parseInt(digits.padEnd(2, "0"), 16)));
  const bytes = ipv4Bytes(parts);
  const given = prefixLength(mask, 32);
  if (bytes === null || given === null || more.length > 0) return null;
  if (given >= 0) return { bytes, bits: given };
  const first = bytes[0]!;
  const byClass = first >= 240 ? 32 : first >= 224 ? 8 : first >= 192 ? 24 : first >= 128 ? 16 : 8;
  const bits = Math.max(byClass, parts.length * 8);
  return { bytes, bits: bits === 8 && first === 224 ? 4 : bits };
}

function parseIpv6(text: string): Network | null {
  const [address, mask, ...more] = text.split("/");
  const bytes = ipv6Bytes(address!);
  const given = prefixLength(mask, 128);
  if (bytes === null || given === null || more.length > 0) return null;
  return { bytes, bits: given < 0 ? 128 : given };
}

function ipv6Bytes(text: string): Uint8Array | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let source = text;
  if (dotted !== null) {
    const tail = ipv4Bytes(dotted[2]!.split("."));
    if (tail === null) return null;
    const word = (i: number) => ((tail[i]! << 8) | tail[i + 1]!).toString(16);
    source = `${dotted[1]}${word(0)}:${word(2)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":"))) as [string[], string[] | undefined];
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const words = [...head, ...new Array<string>(missing).fill("0"), ...(tail ?? [])];
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return null;
  return Uint8Array.from(words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]));
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const words = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  const { start, length } = longestZeros(words);
  const embeds =
    start === 0 && (length === 6 || (length === 7 && words[7] !== 1) || (length === 5 && words[5] === 0xffff));
  let text = "";
  for (let i = 0; i < 8; i++) {
    if (length > 0 && i >= start && i < start + length) {
      if (i === start) text += ":";
      continue;
    }
    if (i > 0) text += ":";
    if (i === 6 && embeds) return text + bytes.subarray(12).join(".");
    text += words[i]!.toString(16);
  }
  return length > 0 && start + length === 8 ? `${text}:` : text;
}

/** The first longest run of two zero words or more. */
function longestZeros(words: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: -1, length: 0 };
  for (let i = 0; i < words.length; i++) {
    let length = 0;
    while (words[i + length] === 0) length++;
    if (length >= 2 && length > best.length) best = { start: i, length };
    i += length;
  }
  return best;
}

/** How many leading bits are the same, at most `max`. */
export function commonBits(a: Uint8Array, b: Uint8Array, max: number): number {
  for (let i = 0; i * 8 < max; i++) {
    const difference = a[i]! ^ b[i]!;
    if (difference !== 0) return Math.min(max, i * 8 + Math.clz32(difference) - 24);
  }
  return max;
}

/** By family, the bits that both netmasks cover, the netmasks, and the whole addresses. */
export function compareNetworks(x: string, y: string): number {
  if (x === y) return 0;
  const [a, b] = [networkOf(x), networkOf(y)];
  if (a.bytes.length !== b.bytes.length) return a.bytes.length - b.bytes.length;
  const covered = Math.min(a.bits, b.bits);
  const whole = Buffer.compare(a.bytes, b.bytes);
  if (commonBits(a.bytes, b.bytes, covered) < covered) return whole;
  return a.bits - b.bits || whole;
}

/** Bytes whose order is that of compareNetworks, from which networkFromKey makes the value again. */
export function networkKey(value: string): Uint8Array {
  const { bytes, bits } = networkOf(value);
  const symbols = Math.ceil((bits + 1) / 4);
  const key = new Uint8Array(1 + symbols + bytes.length);
  key[0] = bytes.length;
  // Two bits for each one under the mask: 01 and 10; 00 ends them, before all that goes on.
  for (let i = 0; i < bits; i++) {
    const bit = (bytes[i >>> 3]! >>> (7 - (i & 7))) & 1;
    key[1 + (i >>> 2)]! |= (bit + 1) << (6 - 2 * (i & 3));
  }
  key.set(bytes, 1 + symbols);
  return key;
}

export function networkFromKey(key: Uint8Array): string {
  let bits = 0;
  while (((key[1 + (bits >>> 2)] ?? 0) >>> (6 - 2 * (bits & 3))) & 3) bits++;
  return networkValue({ bytes: key.subarray(key.length - (key[0] ?? 0)), bits });
}

/** Six bytes, or eight for macaddr8, which also takes six (ff:fe in the middle). Throws 22P02. */
export function macFromText(type: "macaddr" | "macaddr8", text: string): string {
  const source = text.trim().toLowerCase();
  const bytes = type === "macaddr" ? sixBytes(source) : bytesBetween(source);
  if (bytes.length === 6 && type === "macaddr8") bytes.splice(3, 0, "ff", "fe");
  if (bytes.length === (type === "macaddr" ? 6 : 8)) return bytes.join(":");
  throw sqlError("22P02", `invalid input syntax for type ${type}: "${text}"`);
}

/** Of six bytes as eight, or the other way round. Throws 22003. */
export function macOfLength(type: string, mac: string): string {
  if (type === "macaddr8") return macFromText(type, mac);
  if (mac.slice(9, 14) === "ff:fe") return mac.slice(0, 9) + mac.slice(15);
  throw sqlError("22003", "macaddr8 data out of range to convert to macaddr", {
    hint: "Only addresses whose fourth and fifth bytes are FF and FE, as in xx:xx:xx:ff:fe:xx:xx:xx, have six bytes.",
  });
}

/** Of two digits each, with one separator that may follow any of them. */
function bytesBetween(source: string): string[] {
  const [separator] = /[:.-]/.exec(source) ?? [];
  const bytes = source.match(/[0-9a-f]{2}[:.-]?/g) ?? [];
  const isWhole = bytes.join("") === source && bytes.every((byte) => byte.length === 2 || byte[2] === separator);
  return isWhole ? bytes.map((byte) => byte.slice(0, 2)) : [];
}

/** As PostgreSQL has it: its separators lie behind each byte, behind the third, or behind every second one. */
function sixBytes(source: string): string[] {
  const separated = /^[0-9a-f]{1,2}(?:([:-])[0-9a-f]{1,2}(?:\1[0-9a-f]{1,2})*)$/.test(source);
  const grouped =
    /^(?:[0-9a-f]{6}[:-][0-9a-f]{6}(?:[0-9a-f]{4})?|[0-9a-f]{4}([.-])[0-9a-f]{4}(?:\1[0-9a-f]{4}){1,2}|[0-9a-f]+)$/.test(
      source,
    );
  if (separated) return source.split(/[:-]/).map((part) => part.padStart(2, "0"));
  const digits = grouped ? source.replace(/[:.-]/g, "") : "";
  return digits.length % 2 === 0 ? (digits.match(/../g) ?? []) : [];
}
