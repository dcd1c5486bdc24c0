/**
 * Tells which addresses are not on the public internet, and connects to public ones only. A connection to an address
 * that a client, a tenant or a redirect has named must not reach what only this machine or its network can
 * (server-side request forgery). Used by fetch-bounded.ts, by providers and by the library of models; constant.
 */
import { type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** The special-purpose ranges of IANA's registries (RFC 6890 and its successors), multicast and what is reserved. */
const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}
// Of IPv6 only global unicast is public, without the ranges for IPv4 addresses and for documentation.
const PUBLIC6 = new BlockList();
PUBLIC6.addSubnet("2000::", 3, "ipv6");
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv6");
}
/** IPv4 addresses written as IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED = new BlockList();
MAPPED.addSubnet("::ffff:0:0", 96, "ipv6");

/** Also true for text that is not an IP address. An IPv4 address within IPv6 (::ffff:…) counts as the IPv4 address. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return PRIVATE.check(address, "ipv4");
  // A zone (fe80::1%eth0) is one of this machine's own.
  if (version === 0 || address.includes("%")) return true;
  // A list of IPv4 ranges is asked about a mapped address as about the IPv4 address in it.
  if (MAPPED.check(address, "ipv6")) return PRIVATE.check(address, "ipv6");
  return !PUBLIC6.check(address, "ipv6") || PRIVATE.check(address, "ipv6");
}

/**
 * True for an address of HTTP that tells by itself that it is private; a name is looked up when the connection is made
 * (`publicLookup`), so that it cannot mean another machine by then.
 */
export function isPrivateUrl(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return /(^|\.)(localhost|local|internal)\.?$/i.test(host) || (isIP(host) !== 0 && isPrivateAddress(host));
}

/** Throws the error of `refused` if `isPrivateUrl` holds for the address. */
export function checkPublicUrl(url: URL, refused: (host: string) => Error): void {
  if (isPrivateUrl(url)) throw refused(url.hostname);
}

/** As `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void;

/** A `lookup` for sockets that fails with what `refused` makes when any of a name's addresses is private. */
export function publicLookup(refused: (host: string) => Error, resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) done(error ?? new Error(`${hostname} has no address`), []);
      else if (addresses.some(({ address }) => isPrivateAddress(address))) done(refused(hostname), []);
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}
