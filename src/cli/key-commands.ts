/**
 * `tessera keys …`: the keys that seal the installation's secret (config/key-ring.ts). Works on the files, with or
 * without a running server. Called by the command line; holds no state.
 */
import type { Command } from "commander";
import { dropKeys, type ListedKey, listKeys, type Rotation, resealKeys, rotateKeys } from "../config/key-ring.js";
import { loadConfig } from "../config/load-config.js";
import type { Config } from "../protocol/config.js";

interface Options {
  readonly config?: string;
  readonly json?: true;
  readonly unused?: true;
}

interface Told {
  readonly data: object;
  readonly lines: readonly string[];
}

export function addKeyCommands(program: Command): void {
  const keys = program
    .command("keys")
    .description("the keys of secrets.key_file, which seal the installation's secret; the server may be running");
  const add = (
    usage: string,
    description: string,
    work: (config: Config, args: string[], options: Options) => Told,
  ) => {
    const command = keys
      .command(usage)
      .description(description)
      .option("--config <file>", "a TOML file (default: $TESSERA_CONFIG)")
      .option("--json", "answer with a JSON object");
    command.action(() => tell(command.opts<Options>(), command.args, work));
    return command;
  };
  add("list", "show the keys, the newest first, and which one is in use", list);
  add("rotate", "make a new key and seal everything with it; the old keys stay in the file", rotate);
  add("reseal", "seal everything with the first key of the file, after it was changed by hand", reseal);
  add("drop [key...]", "take keys that nothing is sealed with out of the file", drop).option(
    "--unused",
    "all of those that are not in use",
  );
}

function tell(
  options: Options,
  args: string[],
  work: (config: Config, args: string[], options: Options) => Told,
): void {
  const file = options.config === undefined ? {} : { file: options.config };
  try {
    const { data, lines } = work(loadConfig({ ...file, env: process.env }), args, options);
    console.log(options.json ? JSON.stringify(data) : lines.join("\n"));
  } catch (error) {
    console.error(`tessera: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

const warn = (message: string): void => console.error(`tessera: ${message}`);

function list({ data, secrets }: Config): Told {
  const keys = listKeys(data.dir, secrets);
  return {
    data: {
      keys: keys.map(({ id, madeAt, inUse, newest }) => ({ id, made_at: madeAt, in_use: inUse, newest })),
    },
    lines: keys.map(lineOf),
  };
}

function lineOf({ id, madeAt, inUse, newest, previous }: ListedKey): string {
  const states = [
    inUse ? "in use" : "unused",
    ...(newest ? ["newest"] : []),
    ...(previous ? ["previous_key_file"] : []),
  ];
  return `${id}  ${(madeAt ?? "").padEnd(24)}  ${states.join(", ")}`;
}

function rotate({ data, secrets }: Config): Told {
  return resultOf(rotateKeys(data.dir, secrets, warn, new Date()), secrets.keyFile);
}

function reseal({ data, secrets }: Config): Told {
  return resultOf(resealKeys(data.dir, secrets, warn), secrets.keyFile);
}

function resultOf({ key, before }: Rotation, keyFile: string): Told {
  const lines = [`sealed with the key ${key}; keep a copy of ${keyFile} apart from the data`];
  if (before !== null && before !== key) {
    lines.push(
      `the key ${before} is not needed any more, but by older copies of the data directory: tessera keys drop ${before}`,
    );
  }
  return { data: { key, before }, lines };
}

function drop({ data, secrets }: Config, ids: string[], { unused }: Options): Told {
  if ((unused === true) === ids.length > 0) throw new Error("which keys? Name them, or give --unused.");
  const dropped = dropKeys(data.dir, secrets, unused ? "unused" : ids);
  return {
    data: { dropped },
    lines: dropped.length === 0 ? ["nothing to drop"] : dropped.map((id) => `dropped ${id}`),
  };
}
