/** Messages of chat completions as providers take them. Called by completion-request.ts and response-items.ts; pure. */
import { readArguments } from "../../ai/providers/dialect.js";
import type { ChatImage, ChatMessage, ToolCall } from "../../ai/providers/provider.js";
import type { BodyOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";

type Sent = BodyOf<"openai.completions">["messages"][number];

const IMAGE = /^data:(image\/(?:png|jpeg|webp|gif));base64,/;

export function completionMessages(sent: readonly Sent[]): readonly ChatMessage[] {
  return systemFirst(sent.map((message, i) => messageOf(message, `messages.${i}`)));
}

/** Providers take system messages first. */
export function systemFirst(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const isSystem = ({ role }: ChatMessage): boolean => role === "system";
  return [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))];
}

function messageOf({ role, content, tool_calls: calls, tool_call_id: callId }: Sent, field: string): ChatMessage {
  const { text, images } = contentOf(content ?? "", `${field}.content`);
  if (role === "system" || role === "developer") return { role: "system", content: text };
  if (role === "user") return { role, content: text, ...(images.length > 0 && { images }) };
  if (role === "tool") {
    if (callId !== undefined) return { role, content: text, toolCallId: callId };
    const message = `The message of a tool needs "tool_call_id", the id of the call that it answers.`;
    throw new DbError("invalid_request", message, { field: `${field}.tool_call_id` });
  }
  const toolCalls = (calls ?? []).map(({ id, function: { name, arguments: json } }, i) =>
    toolCallOf(id, name, json, `${field}.tool_calls.${i}.function.arguments`),
  );
  return { role: "assistant", content: text, ...(toolCalls.length > 0 && { toolCalls }) };
}

/** A call that the client sends back. */
export function toolCallOf(id: string, name: string, json: string, field: string): ToolCall {
  const { arguments: args, problem } = readArguments(json);
  if (problem !== undefined) throw new DbError("invalid_request", `The field "${field}": ${problem}.`, { field });
  return { id, name, arguments: args };
}

function contentOf(
  content: NonNullable<Sent["content"]>,
  field: string,
): { readonly text: string; readonly images: readonly ChatImage[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const texts: string[] = [];
  const images: ChatImage[] = [];
  for (const [i, { type, text, refusal, image_url: image }] of content.entries()) {
    if (type === "image_url") images.push(imageOf(image?.url, `${field}.${i}.image_url`));
    else texts.push((type === "refusal" ? refusal : text) ?? "");
  }
  return { text: texts.join("\n"), images };
}

/** Addresses are not fetched: they could lead into the server's own network. */
export function imageOf(url: string | undefined, field: string): ChatImage {
  const mediaType = IMAGE.exec(url ?? "")?.[1] as ChatImage["mediaType"] | undefined;
  if (mediaType !== undefined) return { mediaType, base64: url!.slice(url!.indexOf(",") + 1) };
  const message = `The field "${field}" must be a data: URL with base64 of a PNG, JPEG, WebP or GIF.`;
  throw new DbError("invalid_request", message, { field });
}
