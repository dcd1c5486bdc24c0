/**
 * The body of POST /v1/responses as a request for an answer, with what earlier responses said. Called by the routes; no
 * state.
 */
import type { Request } from "../../actor/request.js";
import type { BodyOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Asked } from "./answer-source.js";
import { schemaFormat, toolOptions } from "./completion-request.js";
import { type Item, messagesOf } from "./response-items.js";
import { conversationUpTo, withReferences } from "./response-store.js";

export type ResponseBody = BodyOf<"openai.responses.create">;

export interface ResponseAsked extends Asked {
  /** The items of this request, which are kept with its response. */
  readonly items: readonly Item[];
}

export async function responseAsked(request: Request, body: ResponseBody): Promise<ResponseAsked> {
  const { input, instructions, previous_response_id: previous, background } = body;
  if (background === true) {
    const message = 'The field "background" must be false: a response is there when it is answered.';
    throw new DbError("invalid_request", message, { field: "background" });
  }
  const sent: readonly Item[] = typeof input === "string" ? [{ role: "user", content: input }] : (input as Item[]);
  const items = await withReferences(request, sent);
  const earlier = previous === undefined ? [] : messagesOf(await conversationUpTo(request, previous));
  const system = instructions === undefined ? [] : [{ role: "system" as const, content: instructions }];
  const said = messagesOf(items);
  // System messages stay first, those of the instructions before all others.
  const ofSystem = [...earlier, ...said].filter(({ role }) => role === "system");
  const others = [...earlier, ...said].filter(({ role }) => role !== "system");
  const messages = [...system, ...ofSystem, ...others];
  return { model: body.model, messages, options: optionsOf(body), field: "input", items };
}

function optionsOf(body: ResponseBody): Asked["options"] {
  const { temperature, top_p: topP, max_output_tokens: maxTokens, reasoning, text } = body;
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel } = body;
  const format = text?.format;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(typeof reasoning?.effort === "string" && { reasoningEffort: reasoning.effort }),
    ...toolOptions(tools, choice, parallel),
    ...(format?.type === "json_object" && { format: "json" as const }),
    ...(format?.type === "json_schema" && schemaFormat(format, "text.format")),
  };
}
