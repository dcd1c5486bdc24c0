/**
 * Items of POST /v1/responses as messages for a provider. Each kind has fields of its own, and clients send back items
 * as they got them, with fields that only answers have; so the items are read one by one. Called by
 * response-request.ts; pure.
 */
import type { ChatImage, ChatMessage } from "../../ai/providers/provider.js";
import { DbError } from "../../protocol/errors.js";
import { CHAT_CHARACTERS_MAX } from "../../protocol/limits.js";
import { imageOf, systemFirst, toolCallOf } from "./sent-messages.js";

export type Item = Readonly<Record<string, unknown>>;

const KINDS = "message, function_call, function_call_output, reasoning and item_reference";
const ROLES: Readonly<Record<string, ChatMessage["role"]>> = {
  ...{ system: "system", developer: "system", user: "user", assistant: "assistant" },
};

/** `at`: the field of the first item's place, for errors. Items that a reference names have been put in its place. */
export function messagesOf(items: readonly Item[], at = "input"): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const [i, item] of items.entries()) add(messages, item, `${at}.${i}`);
  return systemFirst(messages);
}

function add(messages: ChatMessage[], item: Item, field: string): void {
  const type = item.type ?? "message";
  if (type === "message") messages.push(messageOf(item, field));
  else if (type === "function_call") addCall(messages, item, field);
  else if (type === "function_call_output") {
    const { text } = contentOf(item.output, `${field}.output`);
    messages.push({ role: "tool", content: text, toolCallId: textAt(item, "call_id", field) });
  } else if (type !== "reasoning") throw wrong(`${field}.type`, `must be one of ${KINDS}`);
}

function messageOf(item: Item, field: string): ChatMessage {
  const role = Object.hasOwn(ROLES, String(item.role)) ? ROLES[String(item.role)] : undefined;
  if (role === undefined) throw wrong(`${field}.role`, `must be one of ${Object.keys(ROLES).join(", ")}`);
  const { text, images } = contentOf(item.content, `${field}.content`);
  return { role, content: text, ...(role === "user" && images.length > 0 && { images }) };
}

/** Calls that follow one another, or a message of the model, are one message of it. */
function addCall(messages: ChatMessage[], item: Item, field: string): void {
  const id = textAt(item, "call_id", field);
  const json = item.arguments === "" ? "" : textAt(item, "arguments", field);
  const call = toolCallOf(id, textAt(item, "name", field), json, `${field}.arguments`);
  const last = messages.at(-1);
  if (last?.role !== "assistant") messages.push({ role: "assistant", content: "", toolCalls: [call] });
  else messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
}

function contentOf(content: unknown, field: string): { readonly text: string; readonly images: readonly ChatImage[] } {
  if (typeof content === "string") return { text: bounded(content, field), images: [] };
  if (!Array.isArray(content)) throw wrong(field, "must be a string or a list of parts");
  const texts: string[] = [];
  const images: ChatImage[] = [];
  for (const [i, part] of (content as readonly (Item | null)[]).entries()) {
    const at = `${field}.${i}`;
    if (part === null || typeof part !== "object") throw wrong(at, "must be an object");
    const type = part.type;
    if (type === "input_image") images.push(imageOf(part.image_url as string | undefined, `${at}.image_url`));
    else if (type === "refusal") texts.push(textAt(part, "refusal", at));
    else if (type === "input_text" || type === "output_text" || type === "text") texts.push(partText(part, at));
    else throw wrong(`${at}.type`, "must be one of input_text, output_text, input_image and refusal");
  }
  return { text: texts.join("\n"), images };
}

function partText(part: Item, field: string): string {
  if (typeof part.text !== "string") throw wrong(`${field}.text`, "must be a string");
  return bounded(part.text, `${field}.text`);
}

function bounded(text: string, field: string): string {
  if (text.length <= CHAT_CHARACTERS_MAX) return text;
  throw wrong(field, `must have at most ${CHAT_CHARACTERS_MAX} characters`);
}

function textAt(item: Item, name: string, field: string): string {
  const value = item[name];
  if (typeof value === "string" && value !== "") return bounded(value, `${field}.${name}`);
  throw wrong(`${field}.${name}`, "must be a string that is not empty");
}

function wrong(field: string, says: string): DbError {
  return new DbError("invalid_request", `The field "${field}" ${says}.`, { field });
}
