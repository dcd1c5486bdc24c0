/** /v1/graph/import: files of nodes and relationships in Neo4j's bulk format. */
import type { Handlers } from "../../../actor/handler.js";
import type { Request } from "../../../actor/request.js";
import type { Input } from "../../../bodies/validate.js";
import { DEFAULT_GRAPH } from "../../../catalog/graph.js";
import type { ResponseOf } from "../../../protocol/endpoints.js";
import { DbError } from "../../../protocol/errors.js";
import type { Answer } from "../../../session/answer.js";
import { sessionOptions } from "../../../session/session-options.js";
import { elapsedSince } from "../../../session/sql-result.js";
import { filePieces, withoutMark } from "../body-pieces.js";
import { importAnswer } from "../import-progress.js";
import { formFiles } from "./form-files.js";
import { type GraphFile, type GraphImportOptions, importGraph } from "./graph-import.js";

export const graphImportHandlers = { "graph.import": importFiles } satisfies Handlers;

type Imported = ResponseOf<"graph.import">;

async function importFiles(request: Request, { query }: Input): Promise<Answer<Imported>> {
  const started = performance.now();
  const [, contentType = "", contentEncoding = ""] = request.head.media;
  const body = request.body!;
  const options = optionsOf(request, query);
  const files = graphFiles(filePieces(body, contentEncoding, "utf-8"), contentType);
  return importAnswer<Imported>(request, (progress, commit) =>
    importGraph(
      request,
      files,
      options,
      ({ nodes, relationships }) => progress?.tell({ nodes, relationships, bytes: body.bytes }),
      (tx, counts) => commit(tx, { plain: { ...counts, bytes: body.bytes, execution_time_ms: elapsedSince(started) } }),
    ),
  );
}

/** Separators that are hard to write in an address have names. */
const NAMED: Readonly<Record<string, string>> = { TAB: "\t" };

function optionsOf(request: Request, query: Input["query"]): GraphImportOptions {
  const separators = {
    delimiter: NAMED[query.delimiter ?? ""] ?? query.delimiter ?? ",",
    array_delimiter: NAMED[query.array_delimiter ?? ""] ?? query.array_delimiter ?? ";",
    quote: query.quote ?? '"',
  };
  for (const [field, value] of Object.entries(separators)) {
    if (value.length === 1 && value.charCodeAt(0) <= 127 && value !== "\n" && value !== "\r") continue;
    throw new DbError("invalid_request", `"${field}" must be one ASCII character, or TAB.`, { field });
  }
  if (new Set(Object.values(separators)).size < 3) {
    throw new DbError("invalid_request", "The two delimiters and the quote must differ.", { field: "delimiter" });
  }
  return {
    graph: query.graph ?? DEFAULT_GRAPH,
    delimiter: separators.delimiter,
    arrayDelimiter: separators.array_delimiter,
    quote: separators.quote,
    idType: query.id_type ?? "string",
    skipsDuplicates: query.duplicate_nodes === "skip",
    skipsUnconnected: query.unconnected_relationships === "skip",
    session: sessionOptions(request, "routes"),
  };
}

async function* graphFiles(pieces: AsyncIterable<Uint8Array>, contentType: string): AsyncIterable<GraphFile> {
  for await (const { name, fileName, pieces: ofFile } of formFiles(pieces, contentType)) {
    const [kind, ...kinds] = name.split(":");
    if (kind !== "nodes" && kind !== "relationships") {
      throw new DbError("invalid_request", `The part "${name.slice(0, 100)}" is neither nodes nor relationships.`, {
        field: name.slice(0, 100),
        hint: "Name parts nodes, nodes:Label, relationships or relationships:TYPE.",
      });
    }
    if (kinds.includes("") || (kind === "relationships" && kinds.length > 1)) {
      const what = kind === "nodes" ? "an empty label" : "more than one type, or an empty one";
      throw new DbError("invalid_request", `The part "${name.slice(0, 100)}" names ${what}.`, {
        field: name.slice(0, 100),
      });
    }
    yield { name: fileName, kind, kinds, pieces: withoutMark(ofFile) };
  }
}
