/**
 * The command line: `tessera serve`, which is serve.ts, `check-config`, `reset-password` and others; those that ask a
 * running server are in cli/.
 */
import type { Worker } from "node:worker_threads";
import { Command, Option } from "commander";
import { startActorThread } from "./actor-thread.js";
import { ConfigError } from "./config/config-error.js";
import { configAsJson, describeConfig } from "./config/describe-config.js";
import { loadConfig, loadConfigWithSources } from "./config/load-config.js";
import type { UpgradeOrder } from "./config/run-upgrade.js";
import type { Config } from "./protocol/config.js";
import { nearestName } from "./protocol/nearest-name.js";
import { VERSION } from "./protocol/version.js";

/** A mistake of the operator's is one line on stderr, not a stack. */
function run(action: () => void | Promise<void>, { json }: JsonOption = {}): Promise<void> {
  return (async () => action())().catch((error: Error) => {
    const { code = "failed" } = error as { readonly code?: unknown };
    console.error(json ? JSON.stringify({ error: { code, message: error.message } }) : `tessera: ${error.message}`);
    process.exit(FAILED);
  });
}

/** Exit codes; cli/api-client.ts has those of commands that ask a server. */
const FAILED = 1;
const WRONG_USAGE = 2;

const SERVE_EXAMPLES = `
Examples:
  tessera serve
  TESSERA_PORT=9000 TESSERA_DATA_DIR=/srv/tessera tessera serve --config /etc/tessera.toml`;

interface JsonOption {
  readonly json?: true;
}

/** One JSON object for programs, or the text for people. */
function tell({ json }: JsonOption, data: object, text: string): void {
  console.log(json ? JSON.stringify(data) : text);
}

/** Runs the command of `process.argv`. `firstActor`: a thread that was started for `serve`. */
export async function runCommandLine(firstActor: Worker | null, startThread = startActorThread): Promise<void> {
  const program = new Command("tessera").description("A multi-model AI database gateway.").version(VERSION);
  const configOption = ["--config <file>", "a TOML file (default: $TESSERA_CONFIG)"] as const;
  const jsonOption = ["--json", "answer with a JSON object"] as const;
  // Commands that are made below have it, too. Help ends with 0.
  program.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));

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
    // Here, because the other commands are not loaded for it.
    .addHelpText("after", SERVE_EXAMPLES)
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
    .option(...jsonOption)
    .action((options: { config?: string } & JsonOption) =>
      run(() => {
        const loaded = loadConfigWithSources({ ...fileOf(options), env: process.env });
        tell(options, configAsJson(loaded), describeConfig(loaded));
      }, options),
    );

  program
    .command("reset-password")
    .description("set a new password for a user; the server must not be running")
    .argument("[username]", "the user", "admin")
    .option(...configOption)
    .option("--password <password>", "the new password (default: a random one, printed)")
    .option("--clear-mfa", "remove the second factor too")
    .option(...jsonOption)
    .action((username: string, options: { config?: string; password?: string; clearMfa?: boolean } & JsonOption) =>
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
        tell(options, { username, password }, `user: ${username}\npassword: ${password}`);
      }, options),
    );
  program
    .command("diagnostics")
    .description("fetch a diagnostic bundle from a running server; its administrator's token is in TESSERA_TOKEN")
    .option("--url <address>", "of the server", "http://127.0.0.1:8080")
    .option("--output <file>", "where to put it", "tessera-diagnostics.json.gz")
    .option("--profile-seconds <seconds>", "with a CPU profile of each thread that lasts so long", "0")
    .option(...jsonOption)
    .action((options: { url: string; output: string; profileSeconds: string } & JsonOption) =>
      run(async () => {
        const { fetchDiagnostics } = await import("./config/fetch-diagnostics.js");
        const fetched = await fetchDiagnostics({ ...options, token: process.env.TESSERA_TOKEN ?? "" });
        tell(options, fetched, `${fetched.file}: ${fetched.bytes} bytes`);
      }, options),
    );
  program
    .command("upgrade")
    .description("bring the data directory up to date, end the way back, or go back; the server must not be running")
    .option(...configOption)
    .option("--check", "only tell which format the directory has")
    .option("--commit", "remove the copy of the older format; a rollback is not possible afterwards")
    .option("--rollback", "put the old form back; what was written since the upgrade is lost")
    .option(...jsonOption)
    .action((options: { config?: string } & UpgradeOrder & JsonOption) =>
      run(async () => {
        const { data, cluster } = loadConfig({ ...fileOf(options), env: process.env });
        const { dir, upgrade } = data;
        if (cluster.url !== "" && !options.check && !options.commit)
          throw new ConfigError([
            "a node of a cluster upgrades its data directory when it starts, after `tessera cluster finalize`: start the server",
          ]);
        const { runUpgrade } = await import("./config/run-upgrade.js");
        const outcome = await runUpgrade(dir, upgrade !== "in_place", options);
        tell(options, outcome, outcome.message);
      }, options),
    );

  program
    .command("accept-loss")
    .description("go on without what was lost: an empty partition, or a new file; the server must not be running")
    .argument("<what>", 'the number of a partition, "secret" or "installation"')
    .option(...configOption)
    .option(...jsonOption)
    .action((what: string, options: { config?: string } & JsonOption) =>
      run(async () => {
        const { dir } = loadConfig({ ...fileOf(options), env: process.env }).data;
        const { runAcceptLoss } = await import("./config/run-upgrade.js");
        const message = runAcceptLoss(dir, what);
        tell(options, { what, message }, message);
      }, options),
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
  add("finalize", "end an upgrade of all nodes: from now on they may write what older releases cannot read").action(
    (options: ClusterOptions) => tell(({ finalizeUpgrade }) => finalizeUpgrade(clusterConfig(options))),
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
