/** Addresses that a server on the internet has no business to send anybody to. Called by http-client.ts; constant. */
import { BlockList, isIP } from "node:net";

const ranges = new BlockList();
/** RFC 6890 and the registries of special-purpose addresses that it names; multicast; what is reserved. */
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  ranges.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  ranges.addSubnet(net, prefix, "ipv6");
}

/** `address` is an IP address; one of IPv4 within IPv6 (::ffff:…) counts as what it is. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return true;
  return ranges.check(address, version === 4 ? "ipv4" : "ipv6");
}
