/**
 * `tessera search` and `tessera chat`: a collection's documents, and a conversation about them. Exit codes:
 * api-client.ts.
 */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { type ApiClient, CommandError, EXIT } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";

interface SearchOptions extends ClientOptions {
  readonly limit: string;
  readonly mode?: string;
  readonly filter?: string;
}

interface ChatOptions extends ClientOptions {
  readonly collection?: readonly string[];
  readonly model?: string;
  readonly session?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's fields are declared in protocol/endpoints
type Json = any;

const SHOWN_CHARACTERS = 160;

export function addAskCommands(program: Command): void {
  addClientCommand<SearchOptions>(program, "search <collection> <words...>", "search a collection's documents", search)
    .option("--limit <count>", "how many documents", "10")
    .option("--mode <mode>", "text, vector or hybrid (default: what the collection allows)")
    .option("--filter <json>", `such as '{"year": {"$gte": 2020}}'`)
    .addHelpText("after", `\nExample:\n  tessera search article 'boats in the harbour' --limit 3`);
  addClientCommand<ChatOptions>(program, "chat [message...]", "ask a question, or talk in a terminal", chat)
    .option("--collection <name>", "whose passages the answers are based on; may come several times", gathered)
    .option("--model <model>", "the model of the answers")
    .option("--session <id>", "a chat that goes on")
    .addHelpText(
      "after",
      `\nExamples:\n  tessera chat --collection handbook 'How many days of leave are there?'\n  tessera chat --collection handbook        (an empty line or Ctrl-D ends)`,
    );
}

const gathered = (name: string, before: readonly string[] = []): readonly string[] => [...before, name];

async function search({ limit, mode, filter, ...options }: SearchOptions, args: readonly string[]): Promise<Told> {
  const [collection, ...words] = args;
  const client = await connect(options);
  const data = await client.call("POST", `/v1/collections/${encodeURIComponent(collection!)}/search`, {
    query: words.join(" "),
    limit: Number(limit),
    ...(mode !== undefined && { mode }),
    ...(filter !== undefined && { filters: filterOf(filter) }),
  });
  const lines = data.documents.flatMap(({ id, score, ...rest }: Json) => [
    `${id}${score === undefined ? "" : `  ${score.toFixed(3)}`}`,
    `    ${passageOf(rest)}`,
  ]);
  const more = data.total_relation === "gte" ? "at least " : "";
  return { data, lines: [...lines, `(${data.documents.length} of ${more}${data.total}, by ${data.mode})`] };
}

function filterOf(text: string): object {
  try {
    const filter: unknown = JSON.parse(text);
    if (typeof filter === "object" && filter !== null) return filter;
  } catch {
    // Said below.
  }
  throw new CommandError(EXIT.usage, "usage", "--filter takes a JSON object");
}

/** What was found in the document, or its beginning; on one line. */
function passageOf({ highlights, ...document }: Json): string {
  const found = highlights === undefined ? [] : Object.values(highlights).flat();
  const text = found.length > 0 ? found.join(" … ") : JSON.stringify(document);
  const line = text.replaceAll(/<\/?(?:mark|em|b)>/g, "").replaceAll(/\s+/g, " ");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

async function chat(options: ChatOptions, words: readonly string[]): Promise<Told> {
  const { collection, model, session, json } = options;
  const client = await connect(options);
  const id: string =
    session ??
    (
      await client.call("POST", "/v1/ai/sessions", {
        ...(collection !== undefined && { collections: collection }),
        ...(model !== undefined && { model }),
      })
    ).id;
  if (json === true) {
    const answer = await client.call("POST", "/v1/ai/chat", { session_id: id, message: words.join(" ") });
    return { data: answer, lines: [] };
  }
  if (words.length > 0) await answerTo(client, id, words.join(" "));
  else await talk(client, id);
  return { data: null, lines: [], isSilent: true };
}

async function talk(client: ApiClient, session: string): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: process.stdin.isTTY });
  lines.setPrompt("you> ");
  if (process.stdin.isTTY) lines.prompt();
  for await (const line of lines) {
    if (line.trim() === "") break;
    await answerTo(client, session, line);
    if (process.stdin.isTTY) lines.prompt();
  }
  lines.close();
}

/** Prints the answer's words as they come, and then where they are from. */
async function answerTo(client: ApiClient, session: string, message: string): Promise<void> {
  const stream = await client.stream("POST", "/v1/ai/chat/stream", { session_id: session, message });
  let end: Json = null;
  for await (const event of eventsOf(stream)) {
    if (event.error !== undefined) throw new CommandError(EXIT.failed, event.error.code, event.error.message);
    if (event.done === true) end = event;
    else if (typeof event.delta === "string") process.stdout.write(event.delta);
  }
  if (end === null) throw new CommandError(EXIT.failed, "broken_off", "the answer broke off");
  process.stdout.write("\n");
  for (const { number, id, file, collection, text } of end.citations ?? []) {
    const passage = String(text ?? "").replaceAll(/\s+/g, " ");
    const shown = passage.length > SHOWN_CHARACTERS ? `${passage.slice(0, SHOWN_CHARACTERS)}…` : passage;
    process.stdout.write(`  [${number}] ${collection}/${file ?? id}: ${shown}\n`);
  }
}

/** The JSON of each `data:` of server-sent events, up to [DONE]. */
async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncIterable<Json> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = text.slice(0, end).replaceAll(/^data: ?/gm, "");
      text = text.slice(end + 2);
      if (data === "[DONE]") return;
      if (data.startsWith("{")) yield JSON.parse(data);
    }
  }
}
