/**
 * Builds into dist/ what changed since the last build: the modules, the WebAssembly and the server's bundle. `npm run
 * build` runs it. It checks no types; `npm run check` does.
 *
 * dist/build.json says from which state of the sources dist/ was made. Outputs whose source is gone are removed, so
 * that a test that was deleted or moved does not run again.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundle, bundleClient, bundleSite, bundleTestPrograms } from "./bundle.mjs";
import { makeCodeCache } from "./code-cache.mjs";
import { bundleConsole } from "./console.mjs";
import { discover } from "./discover.mjs";

const FOLDERS = ["src", "workers", "test", "bench", "clients", "console"];
const WASM = "src/vector/wasm";
const WASM_CONFIGS = ["asconfig.json", "numbers.asconfig.json", "products.asconfig.json", "perceptron.asconfig.json"];
const RECORD = "dist/build.json";
/** What decides how a source is compiled, besides the source. */
const TOOLS = [
  ...["package-lock.json", "scripts/build.mjs", "scripts/bundle.mjs", "scripts/console.mjs"],
  ...["scripts/code-cache.mjs", "scripts/code-cache-reports.mjs", "scripts/code-cache-hook.cjs"],
];
/** What the console is made of; it uses the client for programs. */
const CONSOLE_FOLDERS = ["console", "clients/typescript/src"];
/** What the site of the documents is made of. */
const SITE_FOLDERS = ["docs", "scripts/site"];
const SITE_FILES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md", "scripts/documents-site.mjs"];

/** Gives the paths of the sources that were compiled. `keepsCode`: V8's compiled code is made part of the build. */
export async function buildChanged({ keepsCode = true } = {}) {
  mkdirSync("dist", { recursive: true });
  discover();
  const before = readRecord();
  const now = {
    tools: [process.version, ...TOOLS.map(stateOf)].join(" "),
    sources: {},
    wasm: hashOfFolder(WASM),
    site: stateOfSite(),
    console: stateOfFolders(CONSOLE_FOLDERS),
  };
  for (const file of sourceFiles()) now.sources[file] = stateOf(file);
  const isFirst = before.tools !== now.tools;
  const changed = Object.keys(now.sources).filter(
    (file) => isFirst || before.sources[file] !== now.sources[file] || stateOf(outputOf(file)) === null,
  );
  const removed = removeOrphans(now.sources);
  // Until the end of the build the record is gone: a build that fails is made again.
  const isSame = before.wasm === now.wasm && before.site === now.site && before.console === now.console;
  if (changed.length > 0 || removed.length > 0 || !isSame) rmSync(RECORD, { force: true });
  const isServerChanged = isFirst || [...changed, ...removed].some(isOfServer);
  await Promise.all([
    compile(changed),
    isFirst || before.wasm !== now.wasm ? assemble() : undefined,
    isServerChanged ? bundle() : undefined,
    isServerChanged || changed.some(isOfTestPrograms) ? bundleTestPrograms() : undefined,
    isFirst || [...changed, ...removed].some(isOfClient) ? bundleClient() : undefined,
    isFirst || before.console !== now.console ? bundleConsole() : undefined,
  ]);
  if (!isServerChanged && before.site !== now.site) bundleSite();
  const hasCode = before.hasCode === true && !isServerChanged;
  now.hasCode = hasCode || (keepsCode && (await hasMadeCode()));
  writeFileSync(RECORD, JSON.stringify(now));
  return changed;
}

/** Where the server cannot run, it is built all the same; the next build tries again. */
async function hasMadeCode() {
  try {
    await makeCodeCache();
    return true;
  } catch (error) {
    console.warn(`V8's compiled code is not part of the build, and starts take longer: ${error.message}`);
    return false;
  }
}

export function outputOf(source) {
  return join("dist", source.replace(/\.ts$/, ".js"));
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(RECORD, "utf8"));
  } catch {
    return { tools: "", sources: {}, wasm: "" };
  }
}

/** Size and time of change; null if there is no such file. */
function stateOf(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.size}:${stat.mtimeMs}`;
}

export function sourceFiles() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts") && !file.includes("node_modules"))
      .map((file) => join(folder, file))
      .filter((file) => !file.startsWith(WASM)),
  );
}

const isOfServer = (file) => file.startsWith("src") || file.startsWith("workers") || file.startsWith("dist/src");

const isOfClient = (file) => file.startsWith("clients") || file.startsWith("dist/clients");

const isOfTestPrograms = (file) => file.startsWith("test/e2e/looping-");

/** Removes outputs without a source, and gives their paths. */
function removeOrphans(sources) {
  const outputs = FOLDERS.flatMap((folder) => {
    const place = join("dist", folder);
    if (stateOf(place) === null) return [];
    const files = readdirSync(place, { recursive: true, encoding: "utf8" });
    return files.filter((file) => file.endsWith(".js")).map((file) => join(place, file));
  });
  const wanted = new Set(Object.keys(sources).map(outputOf));
  const orphans = outputs.filter((file) => !wanted.has(file));
  for (const file of orphans) {
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
  return orphans;
}

async function compile(files) {
  if (files.length === 0) return;
  await build({
    entryPoints: files,
    outbase: ".",
    outdir: "dist",
    format: "esm",
    platform: "node",
    target: "es2023",
    sourcemap: true,
    logLevel: "warning",
  });
}

function stateOfSite() {
  return [stateOfFolders(SITE_FOLDERS), ...SITE_FILES.map((file) => `${file} ${stateOf(file)}`)].join("\n");
}

function stateOfFolders(folders) {
  return folders
    .filter((folder) => stateOf(folder) !== null)
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    .map((file) => `${file} ${stateOf(file)}`)
    .join("\n");
}

function hashOfFolder(folder) {
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest("hex");
}

/** One process for the four modules: loading the compiler takes longer than compiling one. */
async function assemble() {
  const { main } = await import("assemblyscript/asc");
  for (const config of WASM_CONFIGS) {
    const { error, stderr } = await main(["--config", join(WASM, config)]);
    if (error) throw new Error(`${config}: ${stderr.toString()}`, { cause: error });
  }
}

if (process.argv[1]?.endsWith("build.mjs")) await buildChanged();
