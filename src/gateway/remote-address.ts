/** The address at the other end of the socket. Called by exchange.ts; pure. */
import type { HttpResponse } from "uWebSockets.js";

const MAPPED_V4 = /^0000:0000:0000:0000:0000:ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/;

/** The peer's address as text; IPv4 in its own form also on a socket that serves both. */
export function remoteAddress(res: HttpResponse): string {
  const text = Buffer.from(res.getRemoteAddressAsText()).toString("latin1");
  const mapped = MAPPED_V4.exec(text);
  if (mapped === null) return text;
  return mapped
    .slice(1)
    .map((byte) => Number.parseInt(byte, 16))
    .join(".");
}
