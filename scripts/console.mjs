/**
 * Bundles the console: dist/server/console has its page, its style and its scripts, each also as gzip and Brotli make
 * it. Pages of the console and their libraries are parts of their own, which a browser loads when they are opened. The
 * server gives these files out at /console (src/gateway/console-page.ts). Called by build.mjs.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const FOLDER = "dist/server/console";
const PAGE = "console/index.html";
const MAIN = "console/src/main.tsx";
/** Runs beside the page, and is a file without imports. */
const WORKER = "console/src/ui/graph-layout-worker.ts";
const TARGET = ["es2022", "chrome123", "firefox121", "safari17.5"];
/** Shorter files are not worth it. */
const BYTES_MIN = 1024;

/** Gives the parts by their names, with their sizes and what they import. */
export async function bundleConsole() {
  rmSync(FOLDER, { recursive: true, force: true });
  const worker = await bundleWorker();
  const options = {
    entryPoints: { main: MAIN, style: "console/style/style.css" },
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
  };
  const { metafile: found } = await build({ ...options, write: false });
  const { metafile } = await build({ ...options, plugins: [onePart(found.inputs)] });
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

/**
 * Makes what the first page needs one part. esbuild puts modules into one part that the same entry points reach, and
 * left alone it makes 16 parts of those that only some of the later pages need, too. A browser gets six files at a time
 * over HTTP/1.1, so they were most of the time to the sign-in. So each later page says that it needs all of them: it is
 * loaded after the first page anyway.
 */
function onePart(inputs) {
  const first = new Set();
  const visit = (path) => {
    if (first.has(path)) return;
    first.add(path);
    for (const { path: next, kind } of inputs[path].imports) if (kind === "import-statement") visit(next);
  };
  visit(MAIN);
  first.delete(MAIN);
  const later = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ kind }) => kind === "dynamic-import"));
  const pages = new Set(later.map(({ path }) => resolve(path)));
  // What these import, such as the client, comes with them.
  const own = [...first].filter((path) => path.startsWith("console/"));
  const needs = own.map((path) => `import ${JSON.stringify(resolve(path))};`).join("\n");
  return {
    name: "one-part",
    setup(bundle) {
      bundle.onLoad({ filter: /\.(?:tsx?|js)$/ }, ({ path }) => {
        if (!pages.has(path)) return null;
        return { contents: `${readFileSync(path, "utf8")}\n${needs}`, loader: extname(path).slice(1) };
      });
    },
  };
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
