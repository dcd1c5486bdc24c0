/**
 * Bundles the program for its start: dist/server has a script per thread, and a file that runs it
 * (workers/load-program.ts). As modules it is some 1,700 files, and finding and linking them takes a thread longer than
 * running them. Packages stay where npm put them, but for those that `require` cannot load. The client for programs is
 * bundled apart. The site of the documents goes to dist/server/docs. Called by scripts/build.mjs.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { basename, dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { buildSite } from "./documents-site.mjs";
import { TEST_BUNDLE } from "./test-plan.mjs";

const FOLDER = "dist/server";
const SITE = "docs";
/** Folders that other builders fill. */
const OTHERS = [SITE, "console"];
const TEST_PROGRAMS = "dist/test-programs";
/** It says where the entries of threads lie. */
const PLACES = "src/protocol/places.ts";

/**
 * Packages in CommonJS that are loaded at every start. Where one is imported, node reads its text for the names that it
 * exports, all of its files, in each thread: a tenth of a start. Here the names are found by the build, and `require`
 * loads the package.
 */
const REQUIRED = new Set([
  ...["commander", "fast-jwt", "jsonc-parser", "libpg-query", "pino", "piscina", "prom-client", "semver"],
  ...["sorted-btree", "ws"],
]);
const require = createRequire(import.meta.url);

const packagesStay = {
  name: "packages-stay",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, namespace }) => {
      if (kind === "import-statement" && REQUIRED.has(path)) {
        return { path, namespace: "required", sideEffects: false };
      }
      const isBundled = kind === "entry-point" || (path.split("/")[0] === "typebox" && namespace === "file");
      return isBundled ? undefined : { path, external: true };
    });
    onLoad({ filter: /./, namespace: "required" }, async ({ path }) => ({ contents: await requiring(path) }));
  },
};

/**
 * Packages that every start loads become part of the scripts, so that their code is compiled when the program is built,
 * and no thread looks for their files. What they import comes along, but for the last two, which load a native library.
 */
const JOINED = new Set([
  ...["@fastify/busboy", "@huggingface/tokenizers", "@mongodb-js/saslprep", "commander", "fast-jwt", "jsonc-parser"],
  ...["msgpackr", "otpauth", "pino", "prom-client", "semver", "smol-toml", "snowball-stemmers", "sorted-btree", "ws"],
  "yaml",
]);
/** Parts of them that nothing uses, and that load much: node's clients of HTTP, its clusters. */
const UNUSED = /prom-client\/lib\/(pushgateway|cluster)[.]js$/;
const NATIVE = new Set(["msgpackr-extract", "bufferutil", "utf-8-validate"]);

/** So do packages that are modules only, since a script has no `import`. The others stay where npm put them. */
const packagesStayOrJoin = {
  name: "packages-stay-or-join",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: UNUSED }, () => ({ contents: "" }));
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (kind === "entry-point") return undefined;
      const stays = { path, external: true };
      if (kind === "dynamic-import" || NATIVE.has(path) || isBuiltin(path)) return stays;
      const isOfPackage = importer.includes("/node_modules/");
      return isOfPackage || JOINED.has(path) || isModulesOnly(path, importer) ? undefined : stays;
    });
  },
};

/** Whether `require` finds a module of ECMAScript by that name. */
function isModulesOnly(name, importer) {
  const file = createRequire(importer).resolve(name);
  if (!file.endsWith(".js")) return file.endsWith(".mjs");
  let folder = dirname(file);
  while (!existsSync(`${folder}/package.json`)) folder = dirname(folder);
  return JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).type === "module";
}

/** A module that exports what the package does. */
async function requiring(name) {
  const [imported, loaded] = [await import(name), require(name)];
  const names = Object.keys(imported).filter(
    (key) => /^\w+$/.test(key) && key !== "default" && loaded[key] === imported[key],
  );
  return `import { createRequire } from "node:module";
    const loaded = createRequire(import.meta.url)("${name}");
    export default loaded;
    export const { ${names.join(", ")} } = loaded;`;
}

const OPTIONS = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  plugins: [packagesStay],
  logLevel: "warning",
};

/** `threadEntry` in src/protocol/places.ts names them. */
const ENTRIES = {
  main: "src/main.ts",
  actor: "workers/actor.ts",
  "compute-process": "workers/compute-process.ts",
  "engine-writer": "workers/engine-writer.ts",
  inference: "workers/inference.ts",
  checkpoints: "workers/checkpoints.ts",
  folder: "workers/folder.ts",
  lease: "workers/lease.ts",
  library: "workers/library.ts",
  task: "workers/task.ts",
  watch: "workers/watch.ts",
};

/**
 * What is around a script: it is a function, so that its variables are not global. The brackets make V8 compile it at
 * once rather than look at it first. workers/load-program.ts calls it.
 */
const SCRIPT_HEAD = `globalThis[Symbol.for("tessera.program")] = (function (exports, require, module, __filename, __dirname, __url, __load) {`;

export async function bundle() {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: ENTRIES,
    outdir: FOLDER,
    metafile: true,
    write: false,
    splitting: false,
    format: "cjs",
    plugins: [packagesStayOrJoin],
    sourcemap: "external",
    charset: "ascii",
    mainFields: ["module", "main"],
    define: { "import.meta.url": "__url", "import.meta.dirname": "__dirname" },
    banner: { js: SCRIPT_HEAD },
    footer: { js: "});" },
  });
  mkdirSync(FOLDER, { recursive: true });
  const textOf = new Map(outputFiles.map((file) => [basename(file.path), file.text]));
  const made = new Set(OTHERS);
  for (const [entry, source] of Object.entries(ENTRIES)) {
    const { imports } = metafile.outputs[`${FOLDER}/${entry}.js`];
    const text = inAscii(withoutImports(textOf.get(`${entry}.js`), imports, source));
    const script = `${entry}-${createHash("sha256").update(text).digest("hex").slice(0, 10)}.cjs`;
    writeFileSync(`${FOLDER}/${script}`, `${text}//# sourceMappingURL=${script}.map\n`);
    writeFileSync(`${FOLDER}/${script}.map`, textOf.get(`${entry}.js.map`));
    await bundleFirstFile(entry, script);
    for (const file of [`${entry}.cjs`, script, `${script}.map`]) made.add(file);
  }
  // Scripts are named by their content: those of earlier builds stay behind, and so does code that V8 compiled of them.
  for (const file of readdirSync(FOLDER)) if (!made.has(file)) rmSync(`${FOLDER}/${file}`);
  bundleSite();
}

/** The file that runs the script. */
async function bundleFirstFile(entry, script) {
  await build({
    ...OPTIONS,
    entryPoints: { [entry]: "workers/load-program.ts" },
    outdir: FOLDER,
    outExtension: { ".js": ".cjs" },
    splitting: false,
    sourcemap: false,
    format: "cjs",
    define: { SCRIPT: JSON.stringify(script) },
    footer: { js: "module.exports = program;" },
  });
}

/**
 * Code that V8 reads from a cache cannot use `import()`: what runs the script does it for it. As long as before, for
 * the source map.
 */
function withoutImports(text, imports, source) {
  const names = imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path);
  for (const name of new Set(names)) {
    const changed = text.replaceAll(`import("${name}")`, `__load("${name}")`);
    if (changed === text) throw new Error(`${source}: import("${name}") was not found in the bundle`);
    text = changed;
  }
  const left = /[^.\w"'`]import\([^"']/.exec(text);
  if (left !== null)
    throw new Error(`${source}: ${text.slice(left.index, left.index + 80)} would not run in the bundle`);
  return text;
}

/**
 * V8 keeps a text of one byte a character in half the room, and workers/load-program.ts reads it as such. What esbuild
 * leaves as it is stands in regular expressions, in raw templates that become some, and in comments: an escape means
 * the same there.
 */
function inAscii(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is not ASCII
  return text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The client for Node.js and browsers as one file each, with its types: clients/typescript/dist. */
export async function bundleClient() {
  const folder = "clients/typescript";
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  const options = { entryPoints: [`${folder}/src/index.ts`], bundle: true, format: "esm", target: "es2022" };
  const types = promisify(execFile)("node_modules/.bin/tsc", ["-p", folder]);
  await Promise.all([
    build({ ...options, platform: "neutral", outfile: `${folder}/dist/index.js` }),
    build({ ...options, platform: "browser", minify: true, outfile: `${folder}/dist/browser.js` }),
    types,
  ]);
}

/**
 * Servers that tests start with threads of their own: dist/test-programs. As modules such a server takes five times as
 * long to start.
 */
export async function bundleTestPrograms() {
  rmSync(TEST_PROGRAMS, { recursive: true, force: true });
  await build({
    entryPoints: ["test/e2e/looping-server.ts", "test/e2e/looping-actor.ts"],
    outdir: TEST_PROGRAMS,
    ...OPTIONS,
  });
}

/**
 * The test files with what they import: dist/test-bundle. Modules there say that they lie where they are without it, in
 * dist/test, dist/src …; the threads that they start are the server's. A process that loads 1,500 modules one by one
 * takes a CPU second more.
 */
export async function bundleTests(files) {
  rmSync(TEST_BUNDLE, { recursive: true, force: true });
  await build({
    ...OPTIONS,
    entryPoints: files,
    outbase: ".",
    outdir: TEST_BUNDLE,
    sourcesContent: false,
    plugins: [packagesStay, modulesKeepTheirPlace],
  });
}

const modulesKeepTheirPlace = {
  name: "modules-keep-their-place",
  setup({ onLoad }) {
    onLoad({ filter: /[.]ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.")) return undefined;
      const source = relative(".", path);
      const place = resolve(source === PLACES ? FOLDER : "dist", source.replace(/[.]ts$/, ".js"));
      const contents = text
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(place).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(place)));
      return { contents, loader: "ts" };
    });
  },
};

/** The site of the documents alone. */
export function bundleSite() {
  buildSite(`${FOLDER}/${SITE}`);
}

if (process.argv[1]?.endsWith("bundle.mjs")) await bundle();
