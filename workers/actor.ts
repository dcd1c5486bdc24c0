/**
 * Entry of an actor's thread. The first message is its settings; then it opens that actor, connects it to the port, and
 * ends when it has closed. Started and restarted by the gateway's supervisor. Whatever is thrown here ends the thread,
 * on purpose: the actor's memory cannot be trusted after a broken invariant, its log can.
 */
import { availableParallelism } from "node:os";
import { type MessagePort, parentPort } from "node:worker_threads";
import { type Logger, pino } from "pino";
import { Actor, type ActorSurroundings } from "../src/actor/actor.js";
import type { ActorTenures } from "../src/actor/actor-tenures.js";
import { deriveSmallKey } from "../src/directory/derive-small-key.js";
import { actorFeatures } from "../src/features/actor-features.js";
import { takeFreed } from "../src/protocol/free-buffer.js";
import type { ActorSettings, FromActor, ToActor } from "../src/protocol/messages.js";
import { SPARE_FRAME_BYTES } from "../src/protocol/piece-frame.js";
import { diagnoseThread, RecentLines } from "../src/protocol/thread-diagnosis.js";
import { loadParser } from "../src/sql/parse/parse.js";
import { LINK_THREADS_MAX, type LinkJob } from "../src/vector/link-graph.js";
import { computeProcesses } from "./compute-processes.js";
import { connectInference } from "./connect-inference.js";
import { fileTasks, rowReader } from "./file-tasks.js";
import { longTasks } from "./long-tasks.js";
import { mapTasks } from "./map-tasks.js";
import { modelTasks } from "./model-tasks.js";
import { readPool } from "./read-pool.js";
import { type TaskPool, taskPool } from "./task-pool.js";
import { watchThread } from "./watch-thread.js";

/** Threads that link vectors. */
const LINK_THREADS = Math.min(availableParallelism(), LINK_THREADS_MAX);
/** Threads that link vectors and make columns hold hundreds of megabytes after it. */
const BUILDS_IDLE_MS = 2_000;

const port = parentPort!;
const parser = loadParser();

async function start(settings: ActorSettings): Promise<void> {
  const lines = new RecentLines();
  const out = pino.destination({ fd: 1, sync: true });
  const logger = pino(
    { level: settings.config.server.logLevel, base: { pid: process.pid, actor: settings.actor } },
    {
      write: (line: string) => {
        lines.add(line);
        out.write(line);
      },
    },
  );
  const { threads, waitingMax } = settings.config.tasks;
  const tasks = taskPool({ name: "tasks", threads, waitingMax });
  // By themselves, so that nobody waits behind one to sign in.
  const cores = availableParallelism();
  const builds = taskPool({
    ...{ name: "graph links", threads: LINK_THREADS },
    ...{ waitingMax: LINK_THREADS, idleMs: BUILDS_IDLE_MS },
  });
  // Of low priority: long scans may wait for columns, nobody else.
  const columns = taskPool({
    ...{ name: "columns", threads: 1, waitingMax: settings.partitions.length },
    ...{ niceIncrement: 4, idleMs: BUILDS_IDLE_MS },
  });
  const reads = readPool(Math.max(1, Math.floor(cores / settings.config.actors.count)), cores);
  const computing = computeProcesses();
  const files = fileTasks(settings.config.files.threads);
  const rows = rowReader(threads, settings.config.files.fileTimeoutSeconds * 1000);
  const maps = mapTasks();
  const trained = modelTasks(settings.config.automl.threads);
  const say = (message: FromActor, transfer: readonly (ArrayBuffer | MessagePort)[] = []): void => {
    port.postMessage(message, transfer);
    if (message.kind === "closed")
      void Promise.all([
        tasks.close(),
        builds.end(),
        columns.close(),
        reads.end(),
        computing.end(),
        files.end(),
        rows.end(),
        maps.end(),
        trained.end(),
      ]).then(() => port.close());
  };
  const failed = (error: Error): void => {
    say({ kind: "failed", message: error.message, fatal: false });
    // Nothing of this thread's memory may be used again, so it ends at once; within a worker this ends only the thread.
    process.exit(1);
  };
  const diagnose = async (id: number, profileSeconds: number): Promise<void> => {
    const diagnosis = await diagnoseThread(`actor ${settings.actor}`, lines, profileSeconds);
    say({ kind: "diagnosis", id, diagnosis });
  };
  try {
    takeFreed(SPARE_FRAME_BYTES, (memory) => say({ kind: "spare-frame", memory }, [memory]));
    // What is sent before the actor is open waits.
    const early: (ArrayBuffer | ToActor)[] = [];
    const keep = (message: ArrayBuffer | ToActor): void => void early.push(message);
    port.on("message", keep);
    await parser;
    const tenures = settings.cluster === undefined ? undefined : await clusterTenures(settings, failed, logger);
    const actor = await Actor.open(
      settings,
      {
        frames: (buffer) => port.postMessage(buffer, [buffer]),
        control: say,
        startInference: () => connectInference((port) => say({ kind: "start-inference", port }, [port])),
        deriveKey: (job) => deriveSmallKey(job) ?? tasks.run("deriveKey", job),
        tasks: {
          ...longTasks(tasks, computing, files, trained.models, rows.run),
          mapVectors: maps.mapVectors,
          buildColumns: (job) => columns.run("buildColumns", job),
          // On one core threads would only take the actor's time.
          ...(cores > 1 && { readThreads: reads.threads, indexThreads: reads.indexes }),
        },
        linkThreads: linkThreads(builds),
        failed,
        ...(tenures !== undefined && { tenures }),
        log: (level, message, fields) => logger[level](fields, message),
        threadMetrics: watchThread(),
        setLogLevel: (level) => {
          logger.level = level;
        },
      },
      actorFeatures,
    );
    port.off("message", keep);
    port.on("message", (message: ArrayBuffer | ToActor) => {
      if (message instanceof ArrayBuffer || message.kind !== "diagnose") actor.receive(message);
      else void diagnose(message.id, message.profileSeconds);
    });
    for (const message of early) actor.receive(message);
  } catch (error) {
    const { message, fatal } = error as Error & { fatal?: boolean };
    say({ kind: "failed", message, fatal: fatal === true });
    logger.error({ err: error }, "the actor cannot start");
    port.close();
    process.exitCode = 1;
  }
}

/** The pool's threads, and how many of them have no work. */
function linkThreads(pool: TaskPool): NonNullable<ActorSurroundings["linkThreads"]> {
  let free = LINK_THREADS;
  return {
    get free() {
      return free;
    },
    run: async (job) => {
      free--;
      try {
        await pool.run("linkGraph", job as LinkJob);
      } finally {
        free++;
      }
    },
  };
}

/** Loaded in clusters only. */
async function clusterTenures(
  settings: ActorSettings,
  failed: (error: Error) => void,
  logger: Logger,
): Promise<ActorTenures> {
  const { openTenures } = await import("../src/cluster/open-tenures.js");
  return openTenures(settings, {
    failed,
    log: (level, message, fields) => logger[level](fields, message),
  });
}

port.once("message", (settings: ActorSettings) => void start(settings));
