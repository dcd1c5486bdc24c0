/**
 * `tessera import-graph`: files of nodes and relationships in Neo4j's bulk format into a graph of a running server. The
 * options are those of `neo4j-admin database import`. Exit codes: api-client.ts.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Command } from "commander";
import { CommandError, EXIT } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";

interface GraphOptions extends ClientOptions {
  readonly nodes: readonly string[];
  readonly relationships: readonly string[];
  readonly graph?: string;
  readonly delimiter?: string;
  readonly arrayDelimiter?: string;
  readonly quote?: string;
  readonly idType?: string;
  readonly skipDuplicateNodes?: true;
  readonly skipBadRelationships?: true;
}

/** A part of the form: files that belong together, of which the first has the header. */
interface Part {
  readonly name: string;
  readonly files: readonly string[];
}

export function addImportGraphCommand(program: Command): void {
  addClientCommand<GraphOptions>(
    program,
    "import-graph",
    "load nodes and relationships from files in Neo4j's bulk format: all or nothing",
    importGraphFiles,
  )
    .option("--nodes <[labels=]files>", "files of nodes, separated by commas; the first line is the header", also, [])
    .option("--relationships <[type=]files>", "the same of relationships", also, [])
    .option("--graph <name>", "the graph (default: default)")
    .option("--delimiter <character>", "between fields, or TAB", ",")
    .option("--array-delimiter <character>", "between the items of a field, or TAB", ";")
    .option("--quote <character>", "around fields", '"')
    .option("--id-type <type>", "of ids that are properties: string or integer", "string")
    .option("--skip-duplicate-nodes", "leave nodes out whose id another has")
    .option("--skip-bad-relationships", "leave relationships out whose nodes are not in the files")
    .addHelpText(
      "after",
      `
Examples:
  tessera import-graph --nodes Person=people.csv --relationships KNOWS=knows.csv
  tessera import-graph --nodes films-header.csv,films-1.csv.gz,films-2.csv.gz --relationships roles.csv`,
    );
}

function also(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}

function partOf(kind: "nodes" | "relationships", value: string): Part {
  const [, kinds, list = ""] = /^(?:([^=]*)=)?(.*)$/s.exec(value) ?? [];
  const files = list.split(",").map((file) => file.trim());
  for (const file of files) {
    if (!existsSync(file)) throw new CommandError(EXIT.usage, "no_such_file", `${file || value} does not exist`);
  }
  return { name: kinds === undefined || kinds === "" ? kind : `${kind}:${kinds}`, files };
}

async function importGraphFiles(options: GraphOptions): Promise<Told> {
  const { graph, delimiter, arrayDelimiter, quote, idType, skipDuplicateNodes, skipBadRelationships } = options;
  const parts = [
    ...options.nodes.map((value) => partOf("nodes", value)),
    ...options.relationships.map((value) => partOf("relationships", value)),
  ];
  if (parts.length === 0) throw new CommandError(EXIT.usage, "usage", "name the files: --nodes and --relationships");
  const query = new URLSearchParams({
    delimiter: delimiter!,
    array_delimiter: arrayDelimiter!,
    quote: quote!,
    id_type: idType!,
    ...(graph !== undefined && { graph }),
    ...(skipDuplicateNodes === true && { duplicate_nodes: "skip" }),
    ...(skipBadRelationships === true && { unconnected_relationships: "skip" }),
  });
  const client = await connect(options);
  const boundary = `tessera-${randomUUID()}`;
  const body = Readable.from(formOf(parts, boundary), { objectMode: false });
  const answer = await client.upload(`/v1/graph/import?${query}`, body, {
    "content-type": `multipart/form-data; boundary=${boundary}`,
  });
  const { nodes, relationships, nodes_skipped: twice, relationships_skipped: bad, execution_time_ms: ms } = answer;
  const left = twice + bad > 0 ? `, ${twice} and ${bad} skipped` : "";
  const line = `${nodes} nodes and ${relationships} relationships${left} (${(ms / 1000).toFixed(1)} s)`;
  return { data: answer, lines: [line] };
}

const quoted = (name: string): string => `"${name.replaceAll('"', "%22").replaceAll(/[\r\n]/g, " ")}"`;

async function* formOf(parts: readonly Part[], boundary: string): AsyncIterable<Buffer> {
  for (const { name, files } of parts) {
    const head = `Content-Disposition: form-data; name=${quoted(name)}; filename=${quoted(basename(files[0]!))}`;
    yield Buffer.from(`--${boundary}\r\n${head}\r\nContent-Type: text/csv\r\n\r\n`);
    for (const file of files) yield* linesOf(file);
    yield Buffer.from("\r\n");
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

const LF = 10;

/** The file's bytes, with a line break at the end: the next file may follow. */
async function* linesOf(file: string): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const gunzip = file.endsWith(".gz") ? createGunzip() : null;
  if (gunzip !== null) source.on("error", (error) => gunzip.destroy(error)).pipe(gunzip);
  let last = LF;
  for await (const piece of gunzip ?? source) {
    const bytes = piece as Buffer;
    last = bytes.at(-1) ?? last;
    yield bytes;
  }
  if (last !== LF) yield Buffer.from("\n");
}
