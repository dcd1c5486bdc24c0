/** `tessera models`: the models that a running server has, and those that it can get. Exit codes: api-client.ts. */
import type { Command } from "commander";
import { type ApiClient, CommandError, EXIT } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";
import { listed } from "./listing.js";

interface Pull {
  readonly id: string;
  readonly model: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly progress: number;
  readonly bytes_done: number;
  readonly bytes_total: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly restart_required: boolean;
}

const POLL_MS = 500;
const MEMBERS = ["name", "alias", "kind", "dimensions", "size_bytes", "state"];

export function addModelCommands(program: Command): void {
  const models = program.command("models").description("list, get and remove models; talks to a running server");
  addClientCommand(models, "list", "the installed models", async (options) => {
    const data = await (await connect(options)).call("GET", "/v1/ai/models");
    return listed(data, data.models, MEMBERS, "No models are installed.");
  });
  addClientCommand(models, "available", "models that the configured hubs offer", async (options) => {
    const data = await (await connect(options)).call("GET", "/v1/ai/models");
    return listed(data, data.available, ["name", "alias", "kind", "licence"], "No source tells which models it has.");
  });
  addClientCommand(models, "pull <model>", "get a model from the first source that has it", pull).addHelpText(
    "after",
    "\nExample:\n  tessera models pull all-minilm-l6-v2\n\nCtrl-C ends the waiting; the server goes on with the pull.",
  );
  addClientCommand(models, "delete <model>", "remove an installed model", async (options, [name]) => {
    await (await connect(options)).call("DELETE", `/v1/ai/models/${encodeURIComponent(name!)}`);
    return { data: { deleted: name }, lines: [`${name} was deleted`] };
  });
}

async function pull(options: ClientOptions, [model]: readonly string[]): Promise<Told> {
  const client = await connect(options);
  const begun: Pull = await client.call("POST", "/v1/ai/models/pull", { model });
  const done = await followed(client, begun, options.json === true);
  if (done.status !== "completed") {
    throw new CommandError(
      EXIT.failed,
      done.error?.code ?? done.status,
      done.error?.message ?? `the pull was ${done.status}`,
    );
  }
  const later = done.restart_required ? ["It is there after a restart of the server."] : [];
  return { data: done, lines: [`${done.model} is installed`, ...later] };
}

/** Waits for the end, and shows the progress in a terminal. */
async function followed(client: ApiClient, begun: Pull, isForScripts: boolean): Promise<Pull> {
  const shows = process.stderr.isTTY && !isForScripts;
  let pull = begun;
  while (pull.status === "pending" || pull.status === "running") {
    if (shows) process.stderr.write(`\r${progressOf(pull)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    pull = await client.call("GET", `/v1/ai/models/pulls/${encodeURIComponent(pull.id)}`);
  }
  if (shows) process.stderr.write("\r\x1b[K");
  return pull;
}

function progressOf({ progress, bytes_done: done, bytes_total: total }: Pull): string {
  const filled = Math.round(progress * 30);
  const size = total === null ? megabytes(done) : `${megabytes(done)} of ${megabytes(total)}`;
  return `[${"#".repeat(filled)}${" ".repeat(30 - filled)}] ${Math.round(progress * 100)}% ${size}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
