/**
 * Bundles the console: dist/server/console has its page, its style and its scripts, each also as gzip and Brotli make
 * it. Pages of the console and their libraries are parts of their own, which a browser loads when they are opened. The
 * server gives these files out at /console (src/gateway/console-page.ts). Called by build.mjs.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const FOLDER = "dist/server/console";
const PAGE = "console/index.html";
/** Runs beside the page, and is a file without imports. */
const WORKER = "console/src/ui/graph-layout-worker.ts";
const TARGET = ["es2022", "chrome123", "firefox121", "safari17.5"];
/** Shorter files are not worth it. */
const BYTES_MIN = 1024;

/** Gives the parts by their names, with their sizes and what they import. */
export async function bundleConsole() {
  rmSync(FOLDER, { recursive: true, force: true });
  const worker = await bundleWorker();
  const { metafile } = await build({
    entryPoints: { main: "console/src/main.tsx", style: "console/style/style.css" },
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: TARGET,
    define: { LAYOUT_WORKER: JSON.stringify(worker) },
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const parts = Object.entries(metafile.outputs).map(([path, { imports, entryPoint }]) => ({
    name: basename(path),
    entryPoint,
    imports: imports.filter(({ kind }) => kind === "import-statement").map((part) => basename(part.path)),
  }));
  const main = parts.find(({ entryPoint }) => entryPoint?.endsWith("main.tsx"));
  const style = parts.find(({ entryPoint }) => entryPoint?.endsWith("style.css"));
  const page = readFileSync(PAGE, "utf8")
    .replace("{{main}}", main.name)
    .replace("{{style}}", style.name)
    .replace("{{preload}}", main.imports.map((name) => `<link rel="modulepreload" href="${name}">`).join("\n"));
  writeFileSync(join(FOLDER, "index.html"), page);
  writeFileSync(join(FOLDER, "icon.svg"), readFileSync("console/icon.svg"));
  for (const name of [...parts.map((part) => part.name), worker, "index.html"]) encode(join(FOLDER, name));
}

async function bundleWorker() {
  const { metafile } = await build({
    ...{ entryPoints: [WORKER], entryNames: "[name]-[hash]", outdir: FOLDER, bundle: true, minify: true },
    ...{ format: "iife", platform: "browser", target: TARGET, legalComments: "none", metafile: true },
    logLevel: "warning",
  });
  return basename(Object.keys(metafile.outputs)[0]);
}

function encode(file) {
  const content = readFileSync(file);
  if (content.length < BYTES_MIN) return;
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
}

if (process.argv[1]?.endsWith("console.mjs")) await bundleConsole();
