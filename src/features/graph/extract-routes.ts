/**
 * POST /v1/graph/extract: names and relations of a text as nodes and edges, by rules or by a language model's provider;
 * with `store` they are merged into the graph, by name and type. What a model answers is data: it is bound or quoted,
 * and has no say in what is done with it.
 */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { type Provider, wholeReply } from "../../ai/providers/provider.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import { extractByModel, type ModelReply, NoGraphError } from "../../graph/extract/extract-by-model.js";
import type { PromptMessage } from "../../graph/extract/extraction-prompt.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { runAlone } from "../statements/run-alone.js";

export const graphExtractHandlers = {
  "graph.extract": extract,
} satisfies Handlers;

/**
 * One statement, so all of it is stored or nothing. Labels and types are part of the text, grouped; everything else is
 * a parameter.
 */
const quote = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

type Extraction = ResponseOf<"graph.extract">;

/** Fields of the answer besides the stored graph. */
type Extracted = Omit<Extraction, "graph" | "stored" | "stats">;

async function extract(request: Request, { body }: InputOf<"graph.extract">): Promise<Answer<Extraction>> {
  request.limitTime(body.timeout_secs);
  const provider = providerOf(request, body);
  const extracted = provider === null ? await byRules(request, body) : await byProvider(request, provider, body);
  request.checkpoint();
  const { nodes, edges } = extracted;
  const found = { ...extracted, graph: body.graph ?? "default" };
  if (body.store !== true || nodes.length === 0) return { plain: { ...found, stored: false } };
  const types = new Map(nodes.map(({ name, type }) => [name, type]));
  const clauses: string[] = [];
  const params: Record<string, unknown> = {};
  for (const [type, rows] of grouped(nodes, ({ type }) => type)) {
    const name = `nodes${clauses.length}`;
    params[name] = rows.map(({ name, confidence }) => ({ name, confidence }));
    clauses.push(
      `UNWIND $${name} AS row MERGE (n:${quote(type)} {name: row.name}) ON CREATE SET n.confidence = row.confidence`,
      "WITH count(*) AS done",
    );
  }
  for (const [key, rows] of grouped(edges, ({ from, to, type }) =>
    JSON.stringify([types.get(from), type, types.get(to)]),
  )) {
    const [source, type, target] = JSON.parse(key) as string[];
    const name = `edges${clauses.length}`;
    params[name] = rows.map(({ from, to, confidence }) => ({ from, to, confidence }));
    clauses.push(
      `UNWIND $${name} AS row
       MATCH (a:${quote(source!)} {name: row.from}), (b:${quote(target!)} {name: row.to})
       MERGE (a)-[r:${quote(type!)}]->(b) ON CREATE SET r.confidence = row.confidence`,
      "WITH count(*) AS done",
    );
  }
  const sql = `${clauses.join("\n")} RETURN done`;
  const text = { sql, params, language: "cypher", ...(body.graph !== undefined && { graph: body.graph }) } as const;
  return runAlone(request, text, ({ stats }) => ({
    plain: { ...found, stored: true, ...(stats !== null && { stats }) },
  }));
}

/** Null: rules do it. Throws `invalid_request` for what is asked for and is not there. */
function providerOf(request: Request, { method = "auto", options = {} }: Input["body"]): Provider | null {
  const { providers } = request.partition;
  if (method === "rules") {
    for (const name of Object.keys(options)) throw wrong(`options.${name}`, "Rules take no options.");
    return null;
  }
  if (options.provider === "native") return providers.native(request.modelUser);
  const configured = providers.forTenant(request.tenant, request.budget);
  const wanted = options.provider ?? configured?.name;
  if (configured !== null && configured.name === wanted) return configured;
  const hint = 'Configure [query.ai_service], or send the method "rules" or options.provider "native".';
  if (options.provider !== undefined) {
    const there = configured === null ? "no provider is" : `${configured.name} is`;
    throw wrong("options.provider", `The provider ${wanted} is not configured; ${there}.`, hint);
  }
  if (method !== "auto") throw wrong("method", "No AI provider is configured.", hint);
  for (const name of Object.keys(options))
    throw wrong(`options.${name}`, "Without a provider, rules are used, and they take no options.", hint);
  return null;
}

function wrong(field: string, message: string, hint?: string): DbError {
  return new DbError("invalid_request", message, { field, ...(hint !== undefined && { hint }) });
}

async function byRules(request: Request, { text }: Input["body"]): Promise<Extracted> {
  const { tasks } = request.tenant.partition;
  if (tasks === null)
    throw new DbError("not_supported", "Graphs cannot be extracted here: the server has no task threads.");
  return { ...(await tasks.extractGraph(text)), extractor: "rules" };
}

async function byProvider(request: Request, provider: Provider, body: Input["body"]): Promise<Extracted> {
  const { model, node_types: nodeTypes = null, edge_types: edgeTypes = null } = body.options ?? {};
  let [input, output] = [0, 0];
  const ask = async (messages: readonly PromptMessage[]): Promise<ModelReply> => {
    const asked = { messages, temperature: 0, format: "json", ...(model !== undefined && { model }) } as const;
    const { text, reason, inputTokens, outputTokens } = await wholeReply(provider.chat(asked, request.signal()));
    input += inputTokens;
    output += outputTokens;
    return { text, isCut: reason === "length" };
  };
  const turn = () => {
    request.checkpoint();
    return request.shouldYield() ? request.yieldTurn() : undefined;
  };
  try {
    const { nodes, edges, warnings } = await extractByModel(body.text, { nodeTypes, edgeTypes }, ask, turn);
    request.checkpoint();
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    const asked = { extractor: "provider", provider: provider.name, model: model ?? provider.model } as const;
    return { nodes, edges, ...asked, usage, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    if (!(error instanceof NoGraphError)) throw error;
    throw new DbError(
      "provider_error",
      `The provider ${provider.name} did not answer with a graph: ${error.message}.`,
      {
        provider: provider.name,
        model: model ?? provider.model,
        hint: 'Try another model. The method "rules" needs none.',
      },
    );
  }
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
