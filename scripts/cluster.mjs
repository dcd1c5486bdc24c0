/**
 * `make cluster`: an etcd member and three nodes on this machine, on loopback and free ports, until Ctrl-C. Their data
 * lie in a temporary folder (CLUSTER_DIR names another one, which is kept) and are gone with it.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const NODES = 3;
const PARTITIONS = "6";
const password = process.env.TESSERA_ADMIN_PASSWORD || "correct-horse";
const folder = process.env.CLUSTER_DIR || mkdtempSync(join(tmpdir(), "tessera-cluster-"));
const children = [];

if (spawnSync("etcd", ["--version"]).status !== 0) {
  console.error("etcd is not on the path (Debian: apt-get install etcd-server).");
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const keyFile = join(folder, "key");
if (!existsSync(keyFile)) writeFileSync(keyFile, randomBytes(32).toString("hex"), { mode: 0o600 });

const [client, peer] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
start("etcd", "etcd", [
  ...["--data-dir", join(folder, "etcd"), "--log-level", "error"],
  ...["--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`],
  ...["--listen-peer-urls", `http://${peer}`, "--initial-advertise-peer-urls", `http://${peer}`],
  ...["--initial-cluster", `default=http://${peer}`],
]);
await answers(client);
const url = `etcd://${client}/prod`;

function environment(node, port) {
  return {
    ...process.env,
    ...{ TESSERA_SECRETS_KEY_FILE: keyFile, TESSERA_ADMIN_PASSWORD: password },
    ...{ TESSERA_DATA_DIR: join(folder, node), TESSERA_PORT: String(port), TESSERA_POSTGRES_PORT: "0" },
  };
}

if (!existsSync(join(folder, "n1"))) {
  const args = ["cluster", "init", "--cluster", url, "--node", "n1", "--partitions", PARTITIONS];
  const made = spawnSync("bin/tessera", args, { env: environment("n1", 0), encoding: "utf8" });
  if (made.status !== 0) {
    console.error(made.stderr);
    await end(1);
  }
}
const nodes = [];
for (let number = 1; number <= NODES; number++) {
  const node = { name: `n${number}`, port: await freePort(), advertise: `127.0.0.1:${await freePort()}` };
  const args = ["serve", "--cluster", url, "--node", node.name, "--advertise", node.advertise];
  nodes.push({ ...node, pid: start(node.name, "bin/tessera", args, environment(node.name, node.port)).pid });
}
for (const node of nodes) await answers(`127.0.0.1:${node.port}`);

console.log(`etcd       ${client}`);
for (const { name, port, pid } of nodes) console.log(`${name}         http://127.0.0.1:${port}   process ${pid}`);
console.log(`user       admin, password ${password}`);
console.log(`logs       ${folder}/*.log`);
console.log(`status     bin/tessera cluster status --cluster ${url}`);
const exports = nodes.flatMap(({ port, pid }, index) => [
  `N${index + 1}=http://127.0.0.1:${port}`,
  `P${index + 1}=${pid}`,
]);
console.log(`export ${exports.join(" ")} CLUSTER=${url}`);
console.log("Ctrl-C ends all of them.");
process.on("SIGINT", () => void end(0));
process.on("SIGTERM", () => void end(0));

function start(name, program, args, env = process.env) {
  const log = openSync(join(folder, `${name}.log`), "a");
  // In a group of its own: Ctrl-C is for this program, which ends them in order.
  const child = spawn(program, args, { env, detached: true, stdio: ["ignore", log, log] });
  children.unshift(child);
  return child;
}

/** Nodes first, then etcd. */
async function end(status) {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(timer);
  }
  if (!process.env.CLUSTER_DIR) rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function answers(address) {
  const [host, port] = address.split(":");
  for (let tries = 0; tries < 600; tries++) {
    const socket = connect({ host, port: Number(port) });
    const isThere = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    await sleep(100);
  }
  console.error(`${address} does not answer; see ${folder}/*.log`);
  await end(1);
}
