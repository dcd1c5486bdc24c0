/**
 * `ROUNDS=30 [PLACE=folder] [FAILURES=4] node --enable-source-maps dist/test/torture/cluster/run-lost-nodes.js`: the
 * only node of a cluster is killed and its data deleted. An empty one joins, and must have all that was acknowledged:
 * from the checkpoint in S3 (or a folder), and from etcd. S3 refuses as many of its requests. Prints how long each
 * round took; ends with 1 when a row was lost.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ClusterMap, readClusterUrl } from "../../../src/cluster/cluster-map.js";
import { NO_ETCD } from "../../cluster/etcd.js";
import { S3Server } from "../../cluster/s3-server.js";
import { ClusterProcesses, type NodeProcess } from "./cluster-processes.js";

const ROWS_MAX = 200;
const WAIT_MS = 90_000;
/** A round that takes longer is shown with the log of its node. */
const SLOW_MS = 15_000;

if (NO_ETCD !== false) {
  console.log(`skipped: ${NO_ETCD}`);
  process.exit(0);
}
const rounds = Number(process.env.ROUNDS || 30);
const problems: string[] = [];
for (let round = 1; round <= rounds; round++) await loseAll(round);
console.log(`${rounds} rounds, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

async function loseAll(round: number): Promise<void> {
  const s3 = await S3Server.start();
  const folder = mkdtempSync(join(tmpdir(), "tessera-kept-"));
  const isS3 = process.env.PLACE !== "folder";
  process.env.TESSERA_CLUSTER_CHECKPOINTS = isS3 ? "s3://backups/kept" : folder;
  process.env.TESSERA_CLUSTER_CHECKPOINTS_ENDPOINT = s3.access.endpoint;
  process.env.TESSERA_CLUSTER_CHECKPOINTS_REGION = s3.access.region;
  process.env.TESSERA_CLUSTER_CHECKPOINT_SECONDS = "3";
  process.env.AWS_ACCESS_KEY_ID = s3.access.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.access.secretAccessKey;
  const cluster = await ClusterProcesses.start(1, { etcdMembers: 1 });
  try {
    await inCluster(cluster, s3, round);
  } finally {
    await cluster.close();
    await s3.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inCluster(cluster: ClusterProcesses, s3: S3Server, round: number): Promise<void> {
  const [first] = cluster.nodes as [NodeProcess];
  await answered(cluster, first, "CREATE TABLE item (id integer PRIMARY KEY)");
  let rows = 0;
  const add = async (): Promise<void> => {
    await answered(cluster, first, `INSERT INTO item (id) VALUES (${++rows})`);
  };
  // The node dies at any moment of its work on checkpoints.
  const target = 20 + Math.floor(Math.random() * (ROWS_MAX - 20));
  while (rows < target) await add();
  await untilKept(cluster);
  for (const until = Date.now() + Math.random() * 8000; Date.now() < until; await sleep(50)) await add();
  await cluster.end(first, "SIGKILL");
  cluster.loseData(first);
  s3.failures.push(...Array.from({ length: Number(process.env.FAILURES || 0) }, () => 503));
  const began = Date.now();
  const isSame = round % 2 === 0;
  const next = isSame ? first : await cluster.join("n2");
  if (isSame) cluster.run(first);
  const found = await answered(cluster, next, "SELECT count(*) FROM item");
  const ms = Date.now() - began;
  if (found !== rows) problems.push(`round ${round}: ${found} rows of ${rows}`);
  console.log(`${round} ${isSame ? "the same name" : "another name"}: ${found} rows of ${rows} after ${ms} ms`);
  if (ms > SLOW_MS || found !== rows) console.log(cluster.log(next));
}

/** Each partition that has commits has a checkpoint. */
async function untilKept(cluster: ClusterProcesses): Promise<void> {
  const { endpoints, name } = readClusterUrl(cluster.url);
  const map = new ClusterMap(endpoints, name);
  for (const began = Date.now(); ; await sleep(200)) {
    const { durable, checkpoints } = await map.view();
    const written = [...durable].filter(([, of]) => Math.max(...of.values()) > 0);
    if (written.length > 0 && written.every(([partition]) => checkpoints.has(partition))) break;
    if (Date.now() - began > WAIT_MS) throw new Error(`no checkpoints: ${cluster.log(cluster.nodes[0]!)}`);
  }
  map.close();
}

/** What the statement says, or null; asks until there is an answer. */
async function answered(cluster: ClusterProcesses, node: NodeProcess, sql: string): Promise<unknown> {
  let why = "";
  for (const began = Date.now(); Date.now() - began < WAIT_MS; await sleep(100)) {
    try {
      const answer = await cluster.execute(node, sql, [], WAIT_MS);
      if (answer.status === 200) return answer.data.rows[0]?.[0] ?? null;
      why = `${answer.status} ${answer.code}`;
      // An insert of unknown outcome may have been done.
      if (answer.code === "unique_violation") return null;
    } catch (error) {
      why = String(error);
    }
  }
  throw new Error(`${sql} of ${node.name} was not answered: ${why}\n${cluster.log(node)}`);
}
