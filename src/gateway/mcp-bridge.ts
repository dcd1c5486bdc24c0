/**
 * GET /v1/mcp/bridge: serves the stdio bridge (src/bridge), a program that clients download; read once at start.
 */
import { readFileSync } from "node:fs";
import { PROJECT } from "../protocol/places.js";
import type { ServeCaller } from "./route.js";

const HEADERS = [
  'Content-Disposition: attachment; filename="tessera-mcp-bridge.mjs"',
  "X-Content-Type-Options: nosniff",
  "Cache-Control: max-age=3600",
].join("\n");

export function serveBridge(): ServeCaller {
  const file = new URL("dist/src/bridge/mcp-bridge.js", PROJECT);
  const script = readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
  return (exchange) => exchange.answer(200, "text/javascript; charset=utf-8", HEADERS, script);
}
