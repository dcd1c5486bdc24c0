/**
 * Serves the documents at /docs: the pages that scripts/documents-site.mjs made of the Markdown when the program was
 * built. Only files that were there at the start are given out, each by its own address, so no path can lead elsewhere.
 * A file is read by the first request for it. Called by gateway.ts at boot.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { FILE_SECONDS, SECURITY_HEADERS } from "./docs.js";
import type { Serve } from "./route.js";

const PREFIX = "/docs/";
const NOT_FOUND = "404";
export const FILE_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

interface Loaded {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** A file that is given out as it is. */
export class SiteFile {
  private loaded: Loaded | null = null;

  constructor(
    readonly type: string,
    private readonly path: string,
  ) {}

  /** Null: it has gone since the server started, as an upgrade in place takes it away. */
  load(): Loaded | null {
    if (this.loaded === null) {
      if (!existsSync(this.path)) return null;
      const body = readFileSync(this.path);
      this.loaded = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
    }
    return this.loaded;
  }
}

/** dist/server/<name> of the package that this module belongs to, whether it runs from the bundle or beside it. */
export function builtFolder(name: string): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, "package.json"))) directory = dirname(directory);
  return join(directory, "dist", "server", name);
}

/** By the part of the address after /docs/: pages without their ending, `index` pages as their folder. */
function siteFiles(): ReadonlyMap<string, SiteFile> {
  const folder = builtFolder("docs");
  const files = new Map<string, SiteFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const type = FILE_TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const address = relative(folder, path)
      .replace(/\.html$/, "")
      .replace(/(^|\/)index$/, "$1");
    files.set(address, new SiteFile(type, path));
  }
  return files;
}

/** Serves /docs and what is below it. */
export function documents(): Serve {
  const files = siteFiles();
  const notFound = files.get(NOT_FOUND)!;
  return (exchange, req) => {
    const path = req.getUrl();
    const address = path.slice(PREFIX.length);
    const file = address === NOT_FOUND ? undefined : files.get(address);
    if (file === undefined && files.has(`${address}/`)) {
      exchange.answer(302, "text/plain", `Location: ${path}/`, "");
      return;
    }
    const found = file?.load() ?? null;
    if (file === undefined || found === null) {
      const page = notFound.load();
      if (page === null) exchange.fail("not_found", "The documents are there no more. Start the server again.");
      else exchange.answer(404, notFound.type, SECURITY_HEADERS, page.body);
      return;
    }
    const { body, etag } = found;
    const headers = `ETag: ${etag}\nCache-Control: public, max-age=${FILE_SECONDS}\n${SECURITY_HEADERS}`;
    if (req.getHeader("if-none-match") === etag) exchange.answer(304, file.type, headers, "");
    else exchange.answer(200, file.type, headers, body);
  };
}
