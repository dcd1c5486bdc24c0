/**
 * `make npm-package`: the program and the client for programs as packages that npm installs, in dist-npm. The program
 * brings two packages along without their scripts for installing. That of ONNX Runtime downloads libraries for graphics
 * cards, and fails without a network; that of Swagger UI tells its makers who installs it.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OUT = "dist-npm";
const RUNTIME = "node_modules/onnxruntime-node";
/** What the script for installing is made of, and where its binaries lie. */
const LEFT_OUT = ["script", "README.md", "bin"];
const BINARIES = "bin/napi-v6/linux/x64";

rmSync(OUT, { recursive: true, force: true });
const stage = join(OUT, "stage");
mkdirSync(stage, { recursive: true });
const manifest = readJson("package.json");
for (const pattern of [...manifest.files, "LICENSE", "README.md"]) copyMatching(pattern);
bundleRuntime();
bundlePages();
delete manifest.devDependencies;
delete manifest.scripts;
delete manifest.overrides;
delete manifest.allowScripts;
delete manifest.private;
Object.assign(manifest, { os: ["linux"], cpu: ["x64"], bundleDependencies: ["onnxruntime-node", "swagger-ui-dist"] });
writeJson(join(stage, "package.json"), manifest);
for (const folder of [stage, "clients/typescript"]) pack(folder);
rmSync(stage, { recursive: true });

function bundleRuntime() {
  const to = join(stage, RUNTIME);
  cpSync(RUNTIME, to, {
    recursive: true,
    filter: (path) => !LEFT_OUT.some((name) => path === join(RUNTIME, name)),
  });
  cpSync(join(RUNTIME, BINARIES), join(to, BINARIES), { recursive: true });
  const own = readJson(join(to, "package.json"));
  delete own.scripts;
  own.dependencies = { "onnxruntime-common": own.dependencies["onnxruntime-common"] };
  writeJson(join(to, "package.json"), own);
  cpSync("node_modules/onnxruntime-common", join(stage, "node_modules/onnxruntime-common"), { recursive: true });
}

function bundlePages() {
  const pages = "node_modules/swagger-ui-dist";
  cpSync(pages, join(stage, pages), { recursive: true, filter: (path) => !path.endsWith(".map") });
  const own = readJson(join(stage, pages, "package.json"));
  delete own.dependencies;
  writeJson(join(stage, pages, "package.json"), own);
}

function copyMatching(pattern) {
  const star = pattern.indexOf("*");
  if (star < 0) {
    cpSync(pattern, join(stage, pattern), { recursive: true, filter: (path) => !path.endsWith(".map") });
    return;
  }
  const folder = pattern.slice(0, pattern.lastIndexOf("/", star));
  mkdirSync(join(stage, folder), { recursive: true });
  for (const file of readdirSync(folder)) {
    if (file.endsWith(pattern.slice(star + 1))) copyFileSync(join(folder, file), join(stage, folder, file));
  }
}

function pack(folder) {
  const file = execFileSync("npm", ["pack", "--silent", "--pack-destination", `${process.cwd()}/${OUT}`], {
    cwd: folder,
  });
  console.log(join(OUT, file.toString().trim()));
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
