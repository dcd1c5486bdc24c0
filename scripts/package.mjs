/**
 * `make package`: a self-contained tarball and, where dpkg-deb is installed, a .deb with a service. Both hold the
 * bundled program, its packages without those for development, the models and the Node that runs this. Nothing of other
 * platforms is in them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const OUT = "dist-package";
const { version, description } = JSON.parse(readFileSync("package.json", "utf8"));
const NODE_VERSION = Number.parseInt(process.versions.node, 10);
/** Of the binaries: RocksDB's needs 2.34 and GCC 12's library, that of uWebSockets.js for Node 24 2.38. */
const GLIBC = NODE_VERSION < 24 ? "2.34" : "2.38";
const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };
const architecture = ARCHITECTURES[process.arch];
const name = `tessera-${version}-linux-${process.arch}`;
/** What the program reads at run time, as package.json's `files` has it, and what belongs beside it. */
const CONTENT = [...JSON.parse(readFileSync("package.json", "utf8")).files, "LICENSE", "README.md", "package.json"];

if (process.platform !== "linux" || architecture === undefined) {
  console.error(`packages are made on Linux, for x64 and arm64; this is ${process.platform} on ${process.arch}`);
  process.exit(1);
}
rmSync(OUT, { recursive: true, force: true });
const root = join(OUT, name);
stageProgram(root);
run("tar", ["-czf", `${name}.tar.gz`, name], OUT);
report(`${name}.tar.gz`);
if (spawnSync("dpkg-deb", ["--version"]).status === 0) report(debianPackage());
else console.log("dpkg-deb is not installed: no .deb was made");

function stageProgram(to) {
  mkdirSync(to, { recursive: true });
  for (const each of CONTENT) copyMatching(each, to);
  copyFileSync("package-lock.json", join(to, "package-lock.json"));
  run("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund", "--silent"], to);
  prune(join(to, "node_modules"));
  mkdirSync(join(to, "node", "bin"), { recursive: true });
  copyFileSync(process.execPath, join(to, "node", "bin", "node"));
  chmodSync(join(to, "node", "bin", "node"), 0o755);
  // It has to start before it is packed.
  const started = execFileSync(join(to, "bin", "tessera"), ["--version"], { env: { PATH: "/usr/bin:/bin" } });
  if (started.toString().trim() !== version) throw new Error(`the packed program says ${started}`);
}

function copyMatching(path, to) {
  const star = path.indexOf("*");
  if (star < 0) {
    cpSync(path, join(to, path), { recursive: true });
    return;
  }
  const folder = path.slice(0, path.lastIndexOf("/", star));
  const ending = path.slice(star + 1);
  mkdirSync(join(to, folder), { recursive: true });
  for (const file of readdirSync(folder)) {
    if (file.endsWith(ending)) copyFileSync(join(folder, file), join(to, folder, file));
  }
}

/** Native binaries of other platforms and Node versions, and what only compilers and readers of sources need. */
function prune(modules) {
  const abi = process.versions.modules;
  for (const uws of ["uWebSockets.js/dist/bin", "@btc-vision/uwebsockets.js"]) {
    const folder = join(modules, uws);
    const files = readdirSync(folder).filter((file) => file.endsWith(".node"));
    const wanted = files.filter((file) => file === `uws_linux_${process.arch}_${abi}.node`);
    for (const file of files) if (!wanted.includes(file)) rmSync(join(folder, file));
  }
  // The program loads this one on Node 24 and later alone.
  if (NODE_VERSION < 24) rmSync(join(modules, "@btc-vision"), { recursive: true });
  const onnx = join(modules, "onnxruntime-node", "bin");
  for (const napi of existsSync(onnx) ? readdirSync(onnx) : []) {
    for (const platform of readdirSync(join(onnx, napi))) {
      if (platform !== "linux") rmSync(join(onnx, napi, platform), { recursive: true });
      else
        for (const arch of readdirSync(join(onnx, napi, platform))) {
          if (arch !== process.arch) rmSync(join(onnx, napi, platform, arch), { recursive: true });
          else removeGpu(join(onnx, napi, platform, arch));
        }
    }
  }
  const rocks = join(modules, "@nxtedition", "rocksdb");
  rmSync(join(rocks, "deps"), { recursive: true, force: true });
  rmSync(join(rocks, "prebuilds.zip"), { force: true });
  run("find", [modules, "-name", "*.map", "-delete"], ".");
}

/** The server runs models on the processor. */
function removeGpu(folder) {
  for (const file of readdirSync(folder)) if (/cuda|tensorrt/i.test(file)) rmSync(join(folder, file));
}

function debianPackage() {
  const tree = join(OUT, "deb");
  cpSync(root, join(tree, "usr/lib/tessera"), { recursive: true });
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  symlinkSync("../lib/tessera/bin/tessera", join(tree, "usr/bin/tessera"));
  mkdirSync(join(tree, "etc/tessera"), { recursive: true });
  writeFileSync(
    join(tree, "etc/tessera/tessera.toml"),
    "# Keys that differ from the defaults. /usr/lib/tessera/config/tessera.toml has all of them, with what they mean.\n",
  );
  mkdirSync(join(tree, "lib/systemd/system"), { recursive: true });
  copyFileSync("packaging/tessera.service", join(tree, "lib/systemd/system/tessera.service"));
  mkdirSync(join(tree, "usr/share/bash-completion/completions"), { recursive: true });
  writeFileSync(
    join(tree, "usr/share/bash-completion/completions/tessera"),
    execFileSync(join(root, "bin/tessera"), ["completion", "bash"]),
  );
  cpSync("packaging/debian", join(tree, "DEBIAN"), { recursive: true });
  for (const script of ["postinst", "prerm", "postrm"]) chmodSync(join(tree, "DEBIAN", script), 0o755);
  const kilobytes = Number(
    execFileSync("du", ["-sk", join(tree, "usr")])
      .toString()
      .split("\t")[0],
  );
  writeFileSync(
    join(tree, "DEBIAN/control"),
    `Package: tessera
Version: ${version}
Architecture: ${architecture}
Maintainer: The Tessera authors <tessera@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= ${GLIBC}), libstdc++6 (>= 12), adduser
Recommends: ca-certificates
Section: database
Priority: optional
Description: ${description.split(":")[0]}
 ${description}
`,
  );
  writeFileSync(join(tree, "DEBIAN/conffiles"), "/etc/tessera/tessera.toml\n");
  const file = `tessera_${version}_${architecture}.deb`;
  run("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", "deb", file], OUT);
  rmSync(tree, { recursive: true });
  return file;
}

function report(file) {
  console.log(`${join(OUT, file)}  ${(statSync(join(OUT, file)).size / 1e6).toFixed(0)} MB`);
}

function run(program, args, cwd) {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}
