/** The body of POST /v1/chat/completions as a request for an answer. Called by the routes; pure. */
import type { ChatRequest, JsonSchemaFormat, ToolChoice, ToolSpec } from "../../ai/providers/provider.js";
import type { BodyOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Asked } from "./answer-source.js";
import { completionMessages } from "./sent-messages.js";

type Body = BodyOf<"openai.completions">;

export function completionAsked(body: Body): Asked {
  const { n, logprobs } = body;
  if (n !== undefined && n !== 1) throw only("n", "1", "Send the request as often as you want answers.");
  if (logprobs === true) throw only("logprobs", "false", "Models here tell no log probabilities.");
  return {
    model: body.model,
    messages: completionMessages(body.messages),
    options: optionsOf(body),
    field: "messages",
  };
}

function only(field: string, value: string, hint: string): DbError {
  return new DbError("invalid_request", `The field "${field}" must be ${value}.`, { field, hint });
}

function optionsOf(body: Body): Asked["options"] {
  const { temperature, top_p: topP, seed, stop, reasoning_effort: reasoningEffort } = body;
  const { frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty, logit_bias: logitBias } = body;
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(seed !== undefined && { seed }),
    ...(stop !== undefined && { stop: typeof stop === "string" ? [stop] : stop }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(logitBias !== undefined && { logitBias }),
    ...toolsOf(body),
    ...formatOf(body.response_format),
  };
}

function toolsOf({ tools = [], tool_choice: choice, parallel_tool_calls: parallel }: Body) {
  return toolOptions(
    tools.map((tool) => tool.function),
    typeof choice === "object" ? choice.function : choice,
    parallel,
  );
}

interface SentTool {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: object | null;
  readonly strict?: boolean | null;
}

/** Of both routes. Throws invalid_request for a choice among tools that are not there. */
export function toolOptions(
  sent: readonly SentTool[],
  choice: "none" | "auto" | "required" | { readonly name: string } | undefined,
  parallelToolCalls: boolean | undefined,
): Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls"> {
  if (typeof choice === "object" && !sent.some(({ name }) => name === choice.name)) {
    throw new DbError("invalid_request", `"tool_choice" names "${choice.name}", which is not among the tools.`, {
      field: "tool_choice",
    });
  }
  if (choice === "required" && sent.length === 0) {
    throw new DbError("invalid_request", `"tool_choice" is "required", but there are no tools.`, {
      field: "tool_choice",
    });
  }
  if (sent.length === 0) return {};
  const toolChoice: ToolChoice | undefined = choice === "auto" ? undefined : choice;
  return {
    tools: sent.map(specOf),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
  };
}

const NO_PARAMETERS = { type: "object", properties: {} };

function specOf({ name, description, parameters }: SentTool): ToolSpec {
  return { name, description: description ?? "", parameters: { ...(parameters ?? NO_PARAMETERS) } };
}

function formatOf(format: Body["response_format"]): Pick<ChatRequest, "format" | "schema"> {
  if (format === undefined || format.type === "text") return {};
  if (format.type === "json_object") return { format: "json" };
  return schemaFormat(format.json_schema, "response_format.json_schema");
}

interface SentFormat {
  readonly name?: string;
  readonly schema?: object;
  readonly description?: string;
  readonly strict?: boolean | null;
}

/** JSON by a schema, of both routes. */
export function schemaFormat(sent: SentFormat | undefined, field: string): Pick<ChatRequest, "format" | "schema"> {
  const { name, schema, description, strict } = sent ?? {};
  if (name === undefined || schema === undefined) {
    const message = `The field "${field}" needs "name" and "schema" where the type is json_schema.`;
    throw new DbError("invalid_request", message, { field });
  }
  const wanted: JsonSchemaFormat = {
    name,
    schema: { ...schema },
    ...(description !== undefined && { description }),
    ...(typeof strict === "boolean" && { strict }),
  };
  return { format: "json", schema: wanted };
}
