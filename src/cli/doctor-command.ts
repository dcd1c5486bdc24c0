/** `tessera doctor`: whether this machine and its configuration can run a server, and what to do where not. */
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { loadConfig } from "../config/load-config.js";
import type { Config } from "../protocol/config.js";
import { lacksOf, thisMachine } from "../protocol/machine.js";
import { EXIT } from "./api-client.js";
import { type Told, tell } from "./client-command.js";

interface Options {
  readonly config?: string;
  readonly json?: true;
}

interface Finding {
  readonly about: string;
  readonly state: "good" | "warning" | "bad";
  readonly message: string;
}

const MEMORY_MIN = 1024 ** 3;
const DISK_MIN = 1024 ** 3;

export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .description("look whether this machine and the configuration can run a server")
    .option("--config <file>", "the configuration (default: $TESSERA_CONFIG)")
    .option("--json", "answer with a JSON object");
  command.action(async () => tell(command.opts<Options>(), () => examine(command.opts<Options>())));
}

async function examine({ config: file }: Options): Promise<Told> {
  const findings: Finding[] = [...machine(), memory()];
  let config: Config | null = null;
  try {
    config = loadConfig({ ...(file === undefined ? {} : { file }), env: process.env });
    findings.push({ about: "configuration", state: "good", message: file ?? "defaults and TESSERA_ variables" });
  } catch (error) {
    findings.push({ about: "configuration", state: "bad", message: (error as Error).message });
  }
  if (config !== null) {
    findings.push(directory(config.data.dir), disk(config.data.dir), secret(config.data.dir));
    findings.push(await port(config));
  }
  const marks = { good: "ok     ", warning: "warning", bad: "bad    " } as const;
  const lines = findings.map(({ about, state, message }) => `${marks[state]}  ${about}: ${message}`);
  const isFit = findings.every(({ state }) => state !== "bad");
  lines.push(isFit ? "The server can run here." : "The server cannot run here as it is.");
  return { data: { fit: isFit, findings }, lines, exitCode: isFit ? EXIT.done : EXIT.failed };
}

/** What the native parts need. */
function machine(): Finding[] {
  const here = thisMachine();
  const lacks = lacksOf(here);
  const good = {
    Node: here.node,
    system: `${here.platform} on ${here.architecture}`,
    "C library": here.glibc === undefined ? "the system's" : `glibc ${here.glibc}`,
    processor: `${availableParallelism()} cores`,
  };
  return Object.entries(good).map(([about, message]): Finding => {
    const lack = lacks.find((each) => each.about === about);
    return lack === undefined ? { about, state: "good", message } : { about, state: "bad", message: lack.message };
  });
}

function memory(): Finding {
  const bytes = totalmem();
  const message = `${gigabytes(bytes)} in all`;
  if (bytes >= MEMORY_MIN) return { about: "memory", state: "good", message };
  return {
    about: "memory",
    state: "warning",
    message: `${message}; with less than 1 GB large statements end in "out of memory"`,
  };
}

/** The folder, or the nearest above it that is there. */
function existing(path: string): string {
  let at = resolve(path);
  while (!existsSync(at)) at = dirname(at);
  return at;
}

function directory(dir: string): Finding {
  const about = "data directory";
  try {
    accessSync(existing(dir), constants.W_OK);
    return {
      about,
      state: "good",
      message: existsSync(dir) ? resolve(dir) : `${resolve(dir)}, made at the first start`,
    };
  } catch {
    return {
      about,
      state: "bad",
      message: `${resolve(dir)} cannot be written; set data.dir, or give this user the folder`,
    };
  }
}

function disk(dir: string): Finding {
  const { bavail, bsize } = statfsSync(existing(dir));
  const free = bavail * bsize;
  if (free >= DISK_MIN) return { about: "disk", state: "good", message: `${gigabytes(free)} free` };
  return { about: "disk", state: "warning", message: `only ${gigabytes(free)} free where the data is` };
}

function secret(dir: string): Finding {
  const about = "secret";
  if (!existsSync(dir)) return { about, state: "good", message: "made at the first start" };
  if (existsSync(resolve(dir, "secret.key"))) return { about, state: "good", message: "there" };
  const isUsed = existsSync(resolve(dir, "INSTALLATION"));
  if (!isUsed) return { about, state: "good", message: "made at the first start" };
  return { about, state: "bad", message: "secret.key is missing; restore it, or see `tessera accept-loss secret`" };
}

function port({ server: { host, port: wanted } }: Config): Promise<Finding> {
  const about = "port";
  return new Promise((done) => {
    const server = createServer();
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === "EADDRINUSE" ? "is taken, perhaps by a server that runs; else set server.port" : message;
      done({ about, state: "warning", message: `${host}:${wanted} ${why}` });
    });
    server.listen(wanted, host, () =>
      server.close(() => done({ about, state: "good", message: `${host}:${wanted} is free` })),
    );
  });
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
