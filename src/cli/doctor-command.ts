/** `tessera doctor`: whether this machine and its configuration can run a server, and what to do where not. */
import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { loadConfig } from "../config/load-config.js";
import type { Config } from "../protocol/config.js";
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
/** The binary of uWebSockets.js is made for these. */
const NODE_VERSIONS = [20, 22];

export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .description("look whether this machine and the configuration can run a server")
    .option("--config <file>", "the configuration (default: $TESSERA_CONFIG)")
    .option("--json", "answer with a JSON object");
  command.action(async () => tell(command.opts<Options>(), () => examine(command.opts<Options>())));
}

async function examine({ config: file }: Options): Promise<Told> {
  const findings: Finding[] = [node(), library(), processor(), memory()];
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

function node(): Finding {
  const { node: version } = process.versions;
  const isKnown = NODE_VERSIONS.includes(Number(version.split(".")[0]));
  const message = isKnown ? version : `${version} is not supported; install Node ${NODE_VERSIONS.join(" or ")}`;
  return { about: "Node", state: isKnown ? "good" : "bad", message };
}

function library(): Finding {
  const { glibcVersionRuntime: version } = (process.report.getReport() as { header: { glibcVersionRuntime?: string } })
    .header;
  if (process.platform !== "linux") {
    return { about: "system", state: "warning", message: `${process.platform} is not tested; Linux is` };
  }
  if (version === undefined) {
    return {
      about: "C library",
      state: "bad",
      message: "this is no glibc; the binaries need glibc 2.28 (Debian, Ubuntu, Fedora …)",
    };
  }
  return { about: "C library", state: "good", message: `glibc ${version}` };
}

function processor(): Finding {
  const about = "processor";
  const cores = `${availableParallelism()} cores`;
  const info = existsSync("/proc/cpuinfo") ? readFileSync("/proc/cpuinfo", "utf8") : "";
  if (process.arch === "x64" && info !== "" && !/\bavx2\b/.test(info)) {
    return { about, state: "warning", message: `${cores}, without AVX2: models answer slowly` };
  }
  return { about, state: "good", message: `${process.arch}, ${cores}` };
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
