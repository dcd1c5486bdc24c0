/**
 * The command line: `tessera serve`, which is serve.ts, `check-config`, `reset-password` and others; those that ask a running server are
 * in cli/.
 */
import type { Worker } from "node:worker_threads";
import { Command, Option } from "commander";
import { startActorThread } from "./actor-thread.js";
import { describeConfig } from "./config/describe-config.js";
import { loadConfig, loadConfigWithSources } from "./config/load-config.js";
import type { UpgradeOrder } from "./config/run-upgrade.js";
import type { Config } from "./protocol/config.js";
import { nearestName } from "./protocol/nearest-name.js";
import { VERSION } from "./protocol/version.js";

/** A mistake of the operator's is one line on stderr, not a stack. */
function run(action: () => void | Promise<void>): Promise<void> {
  return (async () => action())().catch((error: Error) => {
    console.error(`tessera: ${error.message}`);
    process.exit(1);
  });
}

/** Runs the command of `process.argv`. `firstActor`: a thread that was started for `serve`. */
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
      run(async () => {
        const config = clusterConfig(options);
        const { serve } = await import("./serve.js");
        await serve(config, firstActor, startThread, options.untilInputEnds === true);
      }),
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
  add("check", "compare logs, copies and owners with etcd; ends with 1 when something is wrong")
    .option("--node <name>", "this machine's, whose copies on disk are compared, too (default: cluster.node)")
    .action((options: ClusterOptions) =>
      run(async () => {
        const { checkCopies } = await import("./cluster-commands.js");
        const { text, isSound } = await checkCopies(clusterConfig(options));
        console.log(text);
        if (!isSound) process.exitCode = 1;
      }),
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
