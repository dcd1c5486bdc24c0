/**
 * Serves the console at /console: the files that scripts/console.mjs made when the program was built. Files with a hash
 * in their name never change, so browsers keep them; index.html is asked for each time. Each file lies there encoded,
 * too. Called by gateway.ts at boot.
 */
import { existsSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { chosenEncoding } from "./compression.js";
import { builtFolder, FILE_TYPES, SiteFile } from "./documents.js";
import type { Serve } from "./route.js";

const PREFIX = "/console/";
const PAGE = "index.html";
const ENDINGS = { br: ".br", gzip: ".gz" } as const;
/** As esbuild puts it into names. */
const HASHED = /-[0-9A-Z]{8}\.\w+$/;

/** No source but this server, nothing inline, and no text that becomes code or markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // It gives out one address: that of the worker which lays out large graphs.
  "trusted-types layout-worker",
].join("; ");

const HEADERS = [
  `Content-Security-Policy: ${POLICY}`,
  "X-Content-Type-Options: nosniff",
  "Referrer-Policy: no-referrer",
  "Cross-Origin-Opener-Policy: same-origin",
  "Permissions-Policy: camera=(), geolocation=(), microphone=()",
].join("\n");

interface ConsoleFile {
  readonly plain: SiteFile;
  readonly caching: string;
  readonly encoded: { readonly br?: SiteFile; readonly gzip?: SiteFile };
}

function filesOfConsole(): ReadonlyMap<string, ConsoleFile> {
  const folder = builtFolder("console");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = FILE_TYPES[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, name);
    const encoded = Object.fromEntries(
      Object.entries(ENDINGS)
        .filter(([, ending]) => names.includes(name + ending))
        .map(([encoding, ending]) => [encoding, new SiteFile(type, path + ending)]),
    );
    const caching = HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache";
    files.set(name === PAGE ? "" : name, { plain: new SiteFile(type, path), caching, encoded });
  }
  return files;
}

/** Serves what is below /console/. */
export function consoleFiles(): Serve {
  const files = filesOfConsole();
  return (exchange, req) => {
    const found = files.get(req.getUrl().slice(PREFIX.length));
    const missing = (): void => exchange.fail("not_found", "The console has no such file. Its page is /console/.");
    if (found === undefined) {
      missing();
      return;
    }
    const wanted = chosenEncoding(req.getHeader("accept-encoding"));
    const encoding = wanted === "br" || wanted === "gzip" ? wanted : null;
    const sent = encoding === null ? undefined : found.encoded[encoding];
    const loaded = (sent ?? found.plain).load();
    if (loaded === null) {
      missing();
      return;
    }
    const { body, etag } = loaded;
    const said = sent === undefined ? "" : `Content-Encoding: ${encoding}\n`;
    const headers = `${said}ETag: ${etag}\nCache-Control: ${found.caching}\n${HEADERS}`;
    const { type } = found.plain;
    if (req.getHeader("if-none-match") === etag) exchange.answer(304, type, headers, "");
    else exchange.answer(200, type, headers, body);
  };
}
