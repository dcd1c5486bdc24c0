/**
 * The command line: `tessera serve`, `check-config`, `reset-password` and others; those that ask a running server are in cli/. `serve` is
 * the only place that knows all parts: it loads the configuration, locks the data directory, starts the gateway on this
 * thread and one thread per actor.
 */
import type { Worker } from "node:worker_threads";
import { Command, Option } from "commander";
import { type Logger, pino } from "pino";
import { startActorThread } from "./actor-thread.js";
import { BUNDLED_MODELS, modelRoots } from "./ai/models-options.js";
import { findClaimBundles } from "./ai/nli/claim-models.js";
import { boltDoor } from "./bolt/server.js";
import { lockDataDirectory } from "./config/data-lock.js";
import { describeConfig } from "./config/describe-config.js";
import { loadConfig, loadConfigWithSources } from "./config/load-config.js";
import type { UpgradeOrder } from "./config/run-upgrade.js";
import { openSecret } from "./config/sealed-secret.js";
import type { ActorWatch } from "./gateway/actor-pool.js";
import { startInferenceThread } from "./inference-thread.js";
import { libraryThread } from "./library-thread.js";
import type { Config } from "./protocol/config.js";
import type { ActorSettings } from "./protocol/messages.js";
import { nearestName } from "./protocol/nearest-name.js";
import { RecentLines } from "./protocol/thread-diagnosis.js";
import { VERSION } from "./protocol/version.js";
import { DiskReserve, makeRoomToStart } from "./storage/disk-reserve.js";
import { FORMAT_VERSION } from "./storage/format.js";
import { formatOf, upgradeDataDirectory } from "./storage/format-upgrade.js";
import { addPartitions, type Installation, InstallationError } from "./storage/installation.js";

/** Brings the data directory up to date and gives it as many partitions as there will be actors, if it has not more. */
async function prepareData(config: Config, logger: Logger): Promise<Installation> {
  const { dir, upgrade } = config.data;
  const found = formatOf(dir);
  if (upgrade === "refuse" && found !== null && found.oldest < FORMAT_VERSION) {
    throw new InstallationError(
      `${dir} has format ${found.oldest} of an older release and data.upgrade is "refuse": run \`tessera upgrade\` first.`,
    );
  }
  const log = (message: string, fields: object): void => logger.info(fields, message);
  const installation = await upgradeDataDirectory(dir, { keepsCopy: upgrade === "keep_copy", log });
  return addPartitions(dir, installation, config.actors.count);
}

async function openData(config: Config, logger: Logger): Promise<Installation & { readonly secret: Uint8Array }> {
  const secret = openSecret(config.data.dir, config.secrets, (message) => logger.warn(message));
  return { secret, ...(await prepareData(config, logger)) };
}

function tellPassword(password: string): void {
  console.log(`administrator: admin\npassword: ${password}\n(shown only now; change it with POST /v1/auth/password)`);
}

/** `firstActor`: the thread of actor 0, which waits for its settings. */
async function serve(
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
  const warn = (message: string): void => logger.warn(message);
  const data = cluster === null ? await openData(config, logger) : await cluster.joinCluster(config, warn);
  const { secret, id: installation, partitions } = data;
  const node = cluster === null ? null : await cluster.startNode(config, data, logger);
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
  const library = libraryThread({ config: config.ai, bundled: BUNDLED_MODELS }, (error) =>
    logger.error({ err: error }, "the library of models threw"),
  );
  // Loaded here: the other commands do without it, and start in half the time.
  const [{ startGateway }, { postgresDoor }] = await Promise.all([
    import("./gateway/gateway.js"),
    import("./postgres/server.js"),
  ]);
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
    doors: [postgresDoor, boltDoor],
    ...(node !== null && { routes: node.routes, adminPasswordMade: tellPassword }),
  });
  await node?.begin();
  if (gateway.adminPassword !== null) tellPassword(gateway.adminPassword);
  const scheme = config.server.tls.certFile === "" ? "http" : "https";
  console.log(`listening on ${scheme}://${config.server.host}:${gateway.port}`);
  for (const { name, port } of gateway.doors) console.log(`listening on ${name}://${config.server.host}:${port}`);
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

/** A mistake of the operator's is one line on stderr, not a stack. */
function run(action: () => void | Promise<void>): Promise<void> {
  return (async () => action())().catch((error: Error) => {
    console.error(`tessera: ${error.message}`);
    process.exit(1);
  });
}

/** Starts the thread of an actor, which waits for its settings. */
export type StartThread = (actor: number) => Worker;

/** Runs the command of `process.argv`. `firstActor`: a thread that was started for \`serve\`. */
export async function runCommandLine(firstActor: Worker | null, startThread = startActorThread): Promise<void> {
  const program = new Command("tessera").description("A multi-model AI database gateway.").version(VERSION);
  const configOption = ["--config <file>", "a TOML file (default: $TESSERA_CONFIG)"] as const;

  program
    .command("serve", { isDefault: true })
    .description("start the server")
    .option(...configOption)
    .option("--cluster <url>", "as a node of that cluster: etcd://host:port,host:port/name")
    .option("--node <name>", "of this node")
    .option("--advertise <host:port>", "where other nodes reach this one")
    // Of the servers that commands start (cli/private-server.ts).
    .addOption(new Option("--set <key=value>", "a setting").argParser(withSetting).hideHelp())
    .addOption(new Option("--until-input-ends", "stop when the standard input ends").hideHelp())
    .action((options: ServeOptions) =>
      run(() => serve(clusterConfig(options), firstActor, startThread, options.untilInputEnds === true)),
    );

  program
    .command("check-config")
    .description("print the effective configuration and where each value comes from")
    .option(...configOption)
    .action((options: { config?: string }) =>
      run(() => console.log(describeConfig(loadConfigWithSources({ ...fileOf(options), env: process.env })))),
    );

  program
    .command("reset-password")
    .description("set a new password for a user; the server must not be running")
    .argument("[username]", "the user", "admin")
    .option(...configOption)
    .option("--password <password>", "the new password (default: a random one, printed)")
    .option("--clear-mfa", "remove the second factor too")
    .action((username: string, options: { config?: string; password?: string; clearMfa?: boolean }) =>
      run(async () => {
        // Loaded when it is wanted: it brings storage and directory along.
        const { resetPassword } = await import("./config/reset-password.js");
        const config = loadConfig({ ...fileOf(options), env: process.env });
        const password = await resetPassword({
          config,
          username,
          clearMfa: options.clearMfa === true,
          ...(options.password === undefined ? {} : { password: options.password }),
        });
        console.log(`user: ${username}\npassword: ${password}`);
      }),
    );
  program
    .command("diagnostics")
    .description("fetch a diagnostic bundle from a running server; its administrator's token is in TESSERA_TOKEN")
    .option("--url <address>", "of the server", "http://127.0.0.1:8080")
    .option("--output <file>", "where to put it", "tessera-diagnostics.json.gz")
    .option("--profile-seconds <seconds>", "with a CPU profile of each thread that lasts so long", "0")
    .action((options: { url: string; output: string; profileSeconds: string }) =>
      run(async () => {
        const { fetchDiagnostics } = await import("./config/fetch-diagnostics.js");
        console.log(await fetchDiagnostics({ ...options, token: process.env.TESSERA_TOKEN ?? "" }));
      }),
    );
  program
    .command("upgrade")
    .description("bring the data directory up to date, end the way back, or go back; the server must not be running")
    .option(...configOption)
    .option("--check", "only tell which format the directory has")
    .option("--commit", "remove the copy of the older format; a rollback is not possible afterwards")
    .option("--rollback", "put the old form back; what was written since the upgrade is lost")
    .action((options: { config?: string } & UpgradeOrder) =>
      run(async () => {
        const { dir, upgrade } = loadConfig({ ...fileOf(options), env: process.env }).data;
        const { runUpgrade } = await import("./config/run-upgrade.js");
        console.log(await runUpgrade(dir, upgrade !== "in_place", options));
      }),
    );

  program
    .command("accept-loss")
    .description("go on without what was lost: an empty partition, or a new file; the server must not be running")
    .argument("<what>", 'the number of a partition, "secret" or "installation"')
    .option(...configOption)
    .action((what: string, options: { config?: string }) =>
      run(async () => {
        const { dir } = loadConfig({ ...fileOf(options), env: process.env }).data;
        const { runAcceptLoss } = await import("./config/run-upgrade.js");
        console.log(runAcceptLoss(dir, what));
      }),
    );

  addClusterCommands(program, configOption);
  if (firstActor === null) {
    const { addCommands } = await import("./cli/commands.js");
    addCommands(program);
  }
  // Without a command nothing is created: a server would put its data into the current folder.
  refuseUnknown(program, process.argv[2]);
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
}

interface ClusterOptions {
  readonly config?: string;
  readonly cluster?: string;
  readonly node?: string;
  readonly advertise?: string;
  readonly set?: readonly string[];
}

interface ServeOptions extends ClusterOptions {
  readonly untilInputEnds?: true;
}

const withSetting = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

function clusterConfig({ config, cluster, node, advertise, set = [] }: ClusterOptions): Config {
  const given = Object.entries({ url: cluster, node, advertise }).filter(([, value]) => value !== undefined);
  const overrides = Object.fromEntries([
    ...given.map(([key, value]) => [`cluster.${key}`, value!]),
    ...set.map((text) => [text.split("=", 1)[0]!, text.slice(text.indexOf("=") + 1)]),
  ]);
  return loadConfig({ ...fileOf(config === undefined ? {} : { config }), env: process.env, overrides });
}

function addClusterCommands(program: Command, configOption: readonly [string, string]): void {
  const cluster = program.command("cluster").description("make a cluster of several machines, and look after it");
  const add = (usage: string, description: string): Command =>
    cluster
      .command(usage)
      .description(description)
      .option(...configOption)
      .option("--cluster <url>", "etcd://host:port,host:port/name (default: cluster.url)");
  const tell = (work: (commands: typeof import("./cluster-commands.js")) => Promise<string>): Promise<void> =>
    run(async () => console.log(await work(await import("./cluster-commands.js"))));
  add("init", "make the cluster, of this data directory; the server must not be running")
    .option("--node <name>", "of the first node (default: cluster.node)")
    .option("--partitions <count>", "at least; they cannot become more later", "16")
    .action((options: ClusterOptions & { partitions: string }) =>
      tell(({ initCluster }) => initCluster(clusterConfig(options), options.partitions)),
    );
  add("status", "show the nodes, and who owns which partition").action((options: ClusterOptions) =>
    tell(({ clusterStatus }) => clusterStatus(clusterConfig(options))),
  );
  add("drain <node>", "have the node give its partitions to others, before it is stopped")
    .option("--over", "it may own partitions again")
    .action((node: string, options: ClusterOptions & { over?: boolean }) =>
      tell(({ drainNode }) => drainNode(clusterConfig(options), node, options.over === true)),
    );
  add("hand-over <partition> [node]", "have that node own the partition while it lives")
    .option("--over", "its owner is found as before")
    .action((partition: string, node: string | undefined, options: ClusterOptions & { over?: boolean }) =>
      tell(({ handOver }) => handOver(clusterConfig(options), partition, node ?? null, options.over === true)),
    );
  add("remove <node>", "forget a node that is down and does not come back").action(
    (node: string, options: ClusterOptions) => tell(({ removeNode }) => removeNode(clusterConfig(options), node)),
  );
}

/** Else it would be an argument of `serve`, which is meant where no command is named. */
function refuseUnknown(program: Command, word: string | undefined): void {
  if (word === undefined || word.startsWith("-") || word === "help") return;
  const names = program.commands.map((command) => command.name());
  if (names.includes(word)) return;
  const near = nearestName(word, names);
  program.error(`error: unknown command '${word}'${near === null ? "" : `. Did you mean ${near}?`}`);
}

function fileOf(options: { config?: string }): { file?: string } {
  return options.config === undefined ? {} : { file: options.config };
}
