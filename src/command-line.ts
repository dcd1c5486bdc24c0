/**
 * The command line: `tessera serve`, `check-config`, `reset-password`. `serve` is the only place that knows all parts:
 * it loads the configuration, locks the data directory, starts the gateway on this thread and one thread per actor.
 */
import { readdirSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { Command } from "commander";
import { pino } from "pino";
import { BUNDLED_MODELS, modelRoots } from "./actor/models-options.js";
import { startActorThread } from "./actor-thread.js";
import { findClaimBundles } from "./ai/nli/claim-models.js";
import { loadSecret, lockDataDirectory } from "./config/data-lock.js";
import { describeConfig } from "./config/describe-config.js";
import { loadConfig, loadConfigWithSources } from "./config/load-config.js";
import { startGateway } from "./gateway/gateway.js";
import { startInferenceThread } from "./inference-thread.js";
import { libraryThread } from "./library-thread.js";
import type { Config } from "./protocol/config.js";
import type { ActorSettings } from "./protocol/messages.js";
import { VERSION } from "./protocol/version.js";

/** Partitions that exist on disk, or as many as there will be actors: a partition is never left without an owner. */
function countPartitions(dataDirectory: string, actors: number): number {
  const numbers = readdirSync(dataDirectory)
    .map((name) => /^partition-(\d+)$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number);
  return Math.max(actors, ...numbers.map((number) => number + 1));
}

/** `firstActor`: the thread of actor 0, which waits for its settings. */
async function serve(config: Config, firstActor: Worker | null): Promise<void> {
  const logger = pino({ level: config.server.logLevel });
  const unlock = lockDataDirectory(config.data.dir);
  const secret = loadSecret(config.data.dir, (message) => logger.warn(message));
  const actors = config.actors.count;
  const partitions = countPartitions(config.data.dir, actors);
  const claimBundles = findClaimBundles(modelRoots(config));
  let waiting = firstActor;
  const spawn = (actor: number): Worker => {
    const settings: ActorSettings = {
      actor,
      partitions: Array.from({ length: partitions }, (_, partition) => partition).filter((p) => p % actors === actor),
      partitionCount: partitions,
      dataDirectory: config.data.dir,
      config,
      secret,
      claimBundles,
      adminPassword: config.auth.adminPassword === "" ? null : config.auth.adminPassword,
    };
    const thread = actor === 0 && waiting !== null ? waiting : startActorThread(actor);
    if (actor === 0) waiting = null;
    thread.postMessage(settings);
    return thread;
  };
  const library = libraryThread({ config: config.ai, bundled: BUNDLED_MODELS }, (error) =>
    logger.error({ err: error }, "the library of models threw"),
  );
  const gateway = await startGateway({
    config,
    secret,
    version: VERSION,
    logger,
    spawn,
    startInference: (port) =>
      startInferenceThread(port, (error) => logger.error({ err: error }, "an inference thread threw")),
    library,
    actors,
    partitions,
  });
  if (gateway.adminPassword !== null) {
    console.log(
      `administrator: admin\npassword: ${gateway.adminPassword}\n(shown only now; change it with POST /v1/auth/password)`,
    );
  }
  const scheme = config.server.tls.certFile === "" ? "http" : "https";
  console.log(`listening on ${scheme}://${config.server.host}:${gateway.port}`);
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
    await gateway.close();
    unlock();
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
}

/** A mistake of the operator's is one line on stderr, not a stack. */
function run(action: () => void | Promise<void>): Promise<void> {
  return (async () => action())().catch((error: Error) => {
    console.error(`tessera: ${error.message}`);
    process.exit(1);
  });
}

/** Runs the command of `process.argv`. `firstActor`: a thread that was started for \`serve\`. */
export async function runCommandLine(firstActor: Worker | null): Promise<void> {
  const program = new Command("tessera").description("A multi-model AI database gateway.").version(VERSION);
  const configOption = ["--config <file>", "a TOML file (default: $TESSERA_CONFIG)"] as const;

  program
    .command("serve", { isDefault: true })
    .description("start the server")
    .option(...configOption)
    .action((options: { config?: string }) =>
      run(() => serve(loadConfig({ ...fileOf(options), env: process.env }), firstActor)),
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
  await program.parseAsync();
}

function fileOf(options: { config?: string }): { file?: string } {
  return options.config === undefined ? {} : { file: options.config };
}
