/**
 * The command `tessera serve`, the only place that knows all parts: it locks the data directory, starts the gateway on
 * this thread and one thread per actor. Loaded by command-line.ts when it is asked for, since loading what a server is
 * made of takes longer than most other commands.
 */
import { resolve } from "node:path";
import type { Worker } from "node:worker_threads";
import { type Logger, pino } from "pino";
import { BUNDLED_MODELS, modelRoots } from "./ai/models-options.js";
import { findClaimBundles } from "./ai/nli/claim-models.js";
import { lockDataDirectory } from "./config/data-lock.js";
import { openSecret } from "./config/sealed-secret.js";
import { upgradeAtStart } from "./config/upgrade-at-start.js";
import type { ActorWatch } from "./gateway/actor-life.js";
import type { Door } from "./gateway/door.js";
import { startInferenceThread } from "./inference-thread.js";
import { libraryThread } from "./library-thread.js";
import type { Config } from "./protocol/config.js";
import type { ActorSettings } from "./protocol/messages.js";
import { RecentLines } from "./protocol/thread-diagnosis.js";
import { VERSION } from "./protocol/version.js";
import { DiskReserve, makeRoomToStart } from "./storage/disk-reserve.js";
import { FORMAT_VERSION } from "./storage/format.js";
import { formatOf } from "./storage/format-upgrade.js";
import { addPartitions, type Installation } from "./storage/installation.js";

/** Starts the thread of an actor, which waits for its settings. */
type StartThread = (actor: number) => Worker;

/** Brings the data directory up to date and gives it as many partitions as there will be actors, if it has not more. */
async function prepareData(config: Config, logger: Logger): Promise<Installation> {
  const { dir } = config.data;
  if (formatOf(dir) === null) console.log(`data directory: ${resolve(dir)} (new)`);
  const installation = await upgradeAtStart(config.data, FORMAT_VERSION, logger);
  return addPartitions(dir, installation, config.actors.count);
}

async function openData(config: Config, logger: Logger): Promise<Installation & { readonly secret: Uint8Array }> {
  const secret = openSecret(config.data.dir, config.secrets, (message) => logger.warn(message));
  return { secret, ...(await prepareData(config, logger)) };
}

function tellPassword(password: string): void {
  console.log(`administrator: admin\npassword: ${password}\n(shown only now; change it with POST /v1/auth/password)`);
}

/** Those that are switched on: what they are made of is loaded for them only. */
async function loadDoors({ postgres, bolt }: Config): Promise<Door[]> {
  const doors: Door[] = [];
  if (postgres.port !== 0) doors.push((await import("./postgres/server.js")).postgresDoor);
  if (bolt.port !== 0) doors.push((await import("./bolt/server.js")).boltDoor);
  return doors;
}

/** `firstActor`: the thread of actor 0, which waits for its settings. */
export async function serve(
  config: Config,
  firstActor: Worker | null,
  startThread: StartThread,
  untilInputEnds: boolean,
): Promise<void> {
  const lines = new RecentLines();
  const out = pino.destination({ fd: 1, sync: true });
  const logger = pino(
    { level: config.server.logLevel },
    {
      write: (line: string) => {
        lines.add(line);
        out.write(line);
      },
    },
  );
  const hasMadeRoom = makeRoomToStart(config.data.dir, config.storage.reserveBytes);
  if (hasMadeRoom) logger.error("the disk is full: half of the reserve (storage.reserve_bytes) was given up to start");
  const unlock = lockDataDirectory(config.data.dir);
  const actors = config.actors.count;
  // Loaded in clusters only.
  const cluster = config.cluster.url === "" ? null : await import("./cluster-node.js");
  const joined = cluster === null ? null : await cluster.joinCluster(config, logger);
  const { secret, id: installation, partitions } = joined ?? (await openData(config, logger));
  const node = cluster === null || joined === null ? null : await cluster.startNode(config, joined, logger);
  const claimBundles = findClaimBundles(modelRoots(config));
  /** Threads that load, or have loaded, and wait for their settings. */
  const waiting = new Map<number, Worker>(firstActor === null ? [] : [[0, firstActor]]);
  const spawn = (actor: number, watch: ActorWatch): Worker => {
    const settings: ActorSettings = {
      actor,
      partitions: Array.from({ length: partitions }, (_, partition) => partition).filter((p) => p % actors === actor),
      partitionCount: partitions,
      dataDirectory: config.data.dir,
      installation,
      config,
      secret,
      claimBundles,
      adminPassword: config.auth.adminPassword === "" ? null : config.auth.adminPassword,
      ...(node !== null && { cluster: node.settings }),
      ...watch,
    };
    const thread = waiting.get(actor) ?? startThread(actor);
    waiting.delete(actor);
    thread.postMessage(settings);
    return thread;
  };
  const prepare = (actor: number): (() => void) => {
    const thread = startThread(actor);
    waiting.set(actor, thread);
    const forget = (): void => {
      if (waiting.get(actor) === thread) waiting.delete(actor);
    };
    thread.on("error", forget);
    thread.on("exit", forget);
    return () => {
      if (waiting.get(actor) !== thread) return;
      forget();
      void thread.terminate();
    };
  };
  const shared = node === null ? {} : { cluster: node.models };
  const library = libraryThread({ config: config.ai, bundled: BUNDLED_MODELS, ...shared }, (error) =>
    logger.error({ err: error }, "the library of models threw"),
  );
  // Loaded here: the other commands do without it, and start in half the time.
  const [{ startGateway }, doors] = await Promise.all([import("./gateway/gateway.js"), loadDoors(config)]);
  const gateway = await startGateway({
    config,
    secret,
    version: VERSION,
    logger,
    lines,
    spawn,
    prepare,
    startInference: (port) =>
      startInferenceThread(port, (error) => logger.error({ err: error }, "an inference thread threw")),
    library,
    actors,
    partitions,
    reserve: new DiskReserve(config.data.dir, config.storage.reserveBytes),
    doors,
    ...(node !== null && {
      routes: node.routes,
      refusing: (refusal) => node.diskBecame(refusal?.code === "disk_full"),
      adminPasswordMade: tellPassword,
    }),
  });
  await node?.begin();
  if (node !== null) library.keep();
  if (gateway.adminPassword !== null) tellPassword(gateway.adminPassword);
  const scheme = config.server.tls.certFile === "" ? "http" : "https";
  console.log(`listening on ${scheme}://${config.server.host}:${gateway.port}`);
  for (const { name, port, socketPath } of gateway.doors) {
    console.log(`listening on ${name}://${config.server.host}:${port}`);
    if (socketPath !== undefined) console.log(`listening on ${socketPath}`);
  }
  process.on("SIGHUP", () => {
    gateway.renewCertificate().then(
      () => logger.info("the certificate was read again"),
      (error: unknown) => logger.error({ err: error }, "the certificate could not be renewed; the old one stays"),
    );
  });

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, "shutting down");
    // Before the actors: requests that wait for a pull end with it.
    await library.close();
    await node?.leave();
    await gateway.close();
    await node?.close();
    unlock();
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  if (!untilInputEnds) return;
  const ended = () => void stop("end of input");
  process.stdin.on("end", ended).on("error", ended).resume();
}
