/**
 * Which addresses are not on the public internet. A tenant that names its own provider must not reach what only this
 * machine or its network can (server-side request forgery). Called by guarded-fetch.ts and by the route that stores a
 * tenant's provider; holds no state.
 */
import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP } from "node:net";
import { DbError } from "../../protocol/errors.js";

/** The special-purpose ranges of IANA's registries (RFC 6890 and its successors), multicast included. */
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
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}
// Of IPv6 only global unicast is public; of that not the ranges that stand for IPv4 addresses, and documentation.
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

export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return PRIVATE.check(address, "ipv4");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return isPrivateAddress(mapped[1]!);
  return !PUBLIC6.check(address, "ipv6") || PRIVATE.check(address, "ipv6");
}

export function privateAddressError(): DbError {
  return new DbError("invalid_request", "base_url: the address is private or loopback, which tenants may not name", {
    field: "base_url",
    hint: "An administrator can allow it with query.ai_service.tenant_private_addresses.",
  });
}

/**
 * Throws for an address that tells by itself that it is private; a name is looked up when the connection is made
 * (`publicLookup`), so that it cannot mean another machine by then.
 */
export function checkPublicUrl(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isLocalName = /(^|\.)(localhost|local|internal)\.?$/i.test(host);
  if (isLocalName || (isIP(host) !== 0 && isPrivateAddress(host))) throw privateAddressError();
}

type LookedUp = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** `dns.lookup` for sockets: fails when any of a name's addresses is private. */
export function publicLookup(hostname: string, options: { readonly all?: boolean }, done: LookedUp): void {
  lookup(hostname, { all: true }, (error, addresses) => {
    if (error !== null) done(error, []);
    else if (addresses.some(({ address }) => isPrivateAddress(address))) done(privateAddressError(), []);
    else if (options.all === true) done(null, addresses);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  });
}
