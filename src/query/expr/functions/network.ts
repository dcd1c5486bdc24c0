/** Functions and operators of network addresses (chapters 9.12 of the manual): inet, cidr, macaddr, macaddr8. */
import { sqlError } from "../../../protocol/errors.js";
import {
  commonBits,
  hostText,
  macFromText,
  masked,
  type Network,
  networkOf,
  networkValue,
  widthOf,
} from "../../../values/network.js";
import { BOOL, CIDR, INET, INT4, INT8, MACADDR, MACADDR8, type SqlType, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { fn, op } from "./define.js";

/** Whether the network of `a` has that of `b` within it; a smaller one only, with `strictly`. */
function contains(a: string, b: string, strictly: boolean): boolean {
  const [outer, inner] = [networkOf(a), networkOf(b)];
  if (outer.bytes.length !== inner.bytes.length) return false;
  if (strictly ? outer.bits >= inner.bits : outer.bits > inner.bits) return false;
  return commonBits(outer.bytes, inner.bytes, outer.bits) === outer.bits;
}

function overlap(a: string, b: string): boolean {
  const [x, y] = [networkOf(a), networkOf(b)];
  const bits = Math.min(x.bits, y.bits);
  return x.bytes.length === y.bytes.length && commonBits(x.bytes, y.bytes, bits) === bits;
}

function bitwise(symbol: string, word: string, combine: (a: number, b: number) => number): ScalarFunction {
  return op(symbol, [INET, INET], INET, (a: string, b: string) => {
    const [x, y] = [networkOf(a), networkOf(b)];
    if (x.bytes.length !== y.bytes.length) throw sqlError("22023", `cannot ${word} inet values of different sizes`);
    return networkValue({
      bytes: x.bytes.map((byte, i) => combine(byte, y.bytes[i]!)),
      bits: Math.max(x.bits, y.bits),
    });
  });
}

const numberOf = ({ bytes }: Network) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const outOfRange = () => sqlError("22003", "result is out of range");

/** The address plus the given number. Throws 22003. */
function moved(value: string, by: bigint): string {
  const network = networkOf(value);
  const sum = numberOf(network) + by;
  if (sum < 0n || sum >> BigInt(widthOf(network)) !== 0n) throw outOfRange();
  const hex = sum.toString(16).padStart(network.bytes.length * 2, "0");
  return networkValue({ bytes: new Uint8Array(Buffer.from(hex, "hex")), bits: network.bits });
}

/** Throws 22023, 22003. */
function distance(a: string, b: string): number | bigint {
  const [x, y] = [networkOf(a), networkOf(b)];
  if (x.bytes.length !== y.bytes.length) throw sqlError("22023", "cannot subtract inet values of different sizes");
  const difference = numberOf(x) - numberOf(y);
  if (BigInt.asIntN(64, difference) !== difference) throw outOfRange();
  return normalInt8(difference);
}

function macOperator(type: SqlType, symbol: string, combine: (a: number, b: number) => number): ScalarFunction {
  return op(symbol, [type, type], type, (a: string, b: string) => {
    const others = b.split(":");
    return macText(a.split(":").map((part, i) => combine(Number.parseInt(part, 16), Number.parseInt(others[i]!, 16))));
  });
}

const macText = (bytes: readonly number[]) =>
  bytes.map((byte) => (byte & 0xff).toString(16).padStart(2, "0")).join(":");
const macBytes = (value: string) => value.split(":").map((part) => Number.parseInt(part, 16));

const and = (a: number, b: number) => a & b;
const or = (a: number, b: number) => a | b;

export const NETWORK_OPERATORS: readonly ScalarFunction[] = [
  op("<<", [INET, INET], BOOL, (a: string, b: string) => contains(b, a, true)),
  op("<<=", [INET, INET], BOOL, (a: string, b: string) => contains(b, a, false)),
  op(">>", [INET, INET], BOOL, (a: string, b: string) => contains(a, b, true)),
  op(">>=", [INET, INET], BOOL, (a: string, b: string) => contains(a, b, false)),
  op("&&", [INET, INET], BOOL, overlap),
  op("~", [INET], INET, (a: string) => {
    const { bytes, bits } = networkOf(a);
    return networkValue({ bytes: bytes.map((byte) => ~byte), bits });
  }),
  bitwise("&", "AND", and),
  bitwise("|", "OR", or),
  op("+", [INET, INT8], INET, (a: string, by: number | bigint) => moved(a, BigInt(by))),
  op("+", [INT8, INET], INET, (by: number | bigint, a: string) => moved(a, BigInt(by))),
  op("-", [INET, INT8], INET, (a: string, by: number | bigint) => moved(a, -BigInt(by))),
  op("-", [INET, INET], INT8, distance),
  ...[MACADDR, MACADDR8].flatMap((type) => [
    op("~", [type], type, (a: string) => macText(macBytes(a).map((byte) => ~byte))),
    macOperator(type, "&", and),
    macOperator(type, "|", or),
  ]),
];

/** −1: the whole address. Throws 22023. */
function withMask(value: string, length: number): Network {
  const network = networkOf(value);
  const bits = length === -1 ? widthOf(network) : length;
  if (bits < 0 || bits > widthOf(network)) throw sqlError("22023", `invalid mask length: ${length}`);
  return { bytes: network.bytes, bits };
}

function maskOf({ bytes, bits }: Network): Network {
  const ones = { bytes: bytes.map(() => 0xff), bits };
  return { bytes: masked(ones).bytes, bits: bytes.length * 8 };
}

function hostMaskOf({ bytes, bits }: Network): Network {
  return { bytes: maskOf({ bytes, bits }).bytes.map((byte) => ~byte), bits: bytes.length * 8 };
}

/** Octets of the network alone, as far as an IPv4 netmask reaches. */
function abbreviated(value: string): string {
  const { bytes, bits } = networkOf(value);
  if (bytes.length > 4) return value;
  return `${bytes.subarray(0, Math.max(1, Math.ceil(bits / 8))).join(".")}/${bits}`;
}

/** The smallest network that has both. Throws 22023. */
function merged(a: string, b: string): string {
  const [x, y] = [networkOf(a), networkOf(b)];
  if (x.bytes.length !== y.bytes.length) {
    throw sqlError("22023", "cannot merge addresses from different families");
  }
  return networkValue(masked({ bytes: x.bytes, bits: commonBits(x.bytes, y.bytes, Math.min(x.bits, y.bits)) }));
}

const ofNetwork = (make: (network: Network) => Network) => (value: string) => networkValue(make(networkOf(value)));
const family = (value: string) => (networkOf(value).bytes.length === 4 ? 4 : 6);

export const NETWORK_FUNCTIONS: readonly ScalarFunction[] = [
  fn("abbrev", [CIDR], TEXT, abbreviated),
  fn("abbrev", [INET], TEXT, (value: string) => {
    const network = networkOf(value);
    return network.bits === widthOf(network) ? hostText(value) : value;
  }),
  fn(
    "broadcast",
    [INET],
    INET,
    ofNetwork((network) => masked(network, true)),
  ),
  fn("family", [INET], INT4, family),
  fn("host", [INET], TEXT, hostText),
  fn("hostmask", [INET], INET, ofNetwork(hostMaskOf)),
  fn("inet_merge", [INET, INET], CIDR, merged),
  fn("inet_same_family", [INET, INET], BOOL, (a: string, b: string) => family(a) === family(b)),
  fn("masklen", [INET], INT4, (value: string) => networkOf(value).bits),
  fn("netmask", [INET], INET, ofNetwork(maskOf)),
  fn(
    "network",
    [INET],
    CIDR,
    ofNetwork((network) => masked(network)),
  ),
  fn("set_masklen", [CIDR, INT4], CIDR, (value: string, length: number) =>
    networkValue(masked(withMask(value, length))),
  ),
  fn("set_masklen", [INET, INT4], INET, (value: string, length: number) => networkValue(withMask(value, length))),
  fn("text", [INET], TEXT, (value: string) => value),
  fn("trunc", [MACADDR], MACADDR, (value: string) => macText(macBytes(value).map((byte, i) => (i < 3 ? byte : 0)))),
  fn("trunc", [MACADDR8], MACADDR8, (value: string) => macText(macBytes(value).map((byte, i) => (i < 3 ? byte : 0)))),
  fn("macaddr8_set7bit", [MACADDR8], MACADDR8, (value: string) =>
    macText(macBytes(value).map((byte, i) => (i === 0 ? byte | 2 : byte))),
  ),
  fn("macaddr8", [MACADDR], MACADDR8, (value: string) => macFromText("macaddr8", value)),
];
