/**
 * A response as it grows: its items, and the events that a client of a stream is told of them. Made by the routes, one
 * per response.
 */
import type { DoneReason, ToolCall } from "../../ai/providers/provider.js";
import type { Citation } from "../chat/chat-store.js";
import { sourceName } from "../tools/search-tools.js";
import type { AnswerEvent } from "./answer-source.js";
import type { ResponseBody } from "./response-request.js";
import { itemId, responseId, type StoredResponse } from "./response-store.js";

/** Told of each event in its order; waited for. */
export type Tell = (type: string, fields: object) => void | Promise<void>;

interface MessageItem {
  readonly id: string;
  readonly place: number;
  text: string;
  annotations: readonly object[];
}

const INCOMPLETE: Readonly<Partial<Record<DoneReason, string>>> = {
  length: "max_output_tokens",
  refused: "content_filter",
};

export class ResponseReply {
  private readonly output: object[] = [];
  private readonly createdAt = Math.floor(Date.now() / 1000);
  private message: MessageItem | null = null;
  private usage: object | null = null;
  private reason: DoneReason = "stop";

  constructor(
    private readonly body: ResponseBody,
    private readonly stamp: string,
    /** Whether it is kept. */
    private readonly store: boolean,
    private readonly tell: Tell,
  ) {}

  async begin(): Promise<void> {
    await this.tell("response.created", { response: this.shown("in_progress") });
    await this.tell("response.in_progress", { response: this.shown("in_progress") });
  }

  async add(event: AnswerEvent): Promise<void> {
    if (event.kind === "text") await this.addText(event.text);
    else if (event.kind === "tool_call") await this.addCall(event);
    else if (event.kind === "citations") await this.addCitations(event.citations);
    else if (event.kind === "usage") this.usage = usageOf(event.inputTokens, event.outputTokens);
    else this.reason = event.reason;
  }

  /** The whole response, once its answer has ended; `completed` tells of it. */
  async end(): Promise<StoredResponse> {
    await this.endMessage();
    return this.shown(INCOMPLETE[this.reason] === undefined ? "completed" : "incomplete");
  }

  async completed(response: StoredResponse): Promise<void> {
    await this.tell(`response.${String(response.status)}`, { response });
  }

  private async addText(text: string): Promise<void> {
    const message = this.message ?? (await this.beginMessage());
    message.text += text;
    await this.tell("response.output_text.delta", { ...placeOf(message), delta: text, logprobs: [] });
  }

  private async beginMessage(): Promise<MessageItem> {
    const place = this.output.length;
    const message: MessageItem = { id: itemId("msg", this.stamp, place), place, text: "", annotations: [] };
    this.message = message;
    const item = { id: message.id, type: "message", status: "in_progress", role: "assistant", content: [] };
    await this.tell("response.output_item.added", { output_index: place, item });
    await this.tell("response.content_part.added", { ...placeOf(message), part: partOf(message) });
    return message;
  }

  private async endMessage(): Promise<void> {
    const { message } = this;
    if (message === null) return;
    this.message = null;
    const part = partOf(message);
    await this.tell("response.output_text.done", { ...placeOf(message), text: message.text, logprobs: [] });
    await this.tell("response.content_part.done", { ...placeOf(message), part });
    const item = { id: message.id, type: "message", status: "completed", role: "assistant", content: [part] };
    this.output.push(item);
    await this.tell("response.output_item.done", { output_index: message.place, item });
  }

  private async addCall({ id: call_id, name, arguments: args, sent }: ToolCall): Promise<void> {
    await this.endMessage();
    const output_index = this.output.length;
    const id = itemId("fc", this.stamp, output_index);
    const json = sent ?? JSON.stringify(args);
    const item = { id, type: "function_call", status: "completed", call_id, name, arguments: json };
    const begun = { ...item, status: "in_progress", arguments: "" };
    await this.tell("response.output_item.added", { output_index, item: begun });
    const at = { item_id: id, output_index };
    await this.tell("response.function_call_arguments.delta", { ...at, delta: json });
    await this.tell("response.function_call_arguments.done", { ...at, name, arguments: json });
    this.output.push(item);
    await this.tell("response.output_item.done", { output_index, item });
  }

  /** A passage that the answer cites is an annotation of its text. */
  private async addCitations(citations: readonly Citation[]): Promise<void> {
    const { message } = this;
    if (message === null) return;
    message.annotations = citations
      .filter(({ cited }) => cited)
      .map((citation) => annotationOf(citation, message.text));
    for (const [annotation_index, annotation] of message.annotations.entries()) {
      const event = { ...placeOf(message), annotation_index, annotation };
      await this.tell("response.output_text.annotation.added", event);
    }
  }

  private shown(status: StoredResponse["status"]): StoredResponse {
    const { body, output, usage, reason, store } = this;
    const incomplete = status === "incomplete" ? { reason: INCOMPLETE[reason] } : null;
    return {
      id: responseId(this.stamp),
      object: "response",
      created_at: this.createdAt,
      status,
      error: null,
      incomplete_details: incomplete,
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      metadata: body.metadata ?? {},
      model: body.model,
      output: output as StoredResponse["output"],
      parallel_tool_calls: body.parallel_tool_calls ?? true,
      previous_response_id: body.previous_response_id ?? null,
      reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
      store,
      temperature: body.temperature ?? null,
      text: { format: body.text?.format ?? { type: "text" } },
      tool_choice: body.tool_choice ?? "auto",
      tools: body.tools ?? [],
      top_p: body.top_p ?? null,
      truncation: "disabled",
      usage,
    };
  }
}

function placeOf({ id, place }: MessageItem) {
  return { item_id: id, output_index: place, content_index: 0 };
}

function partOf({ text, annotations }: MessageItem) {
  return { type: "output_text", text, annotations, logprobs: [] };
}

/** `index`: where in the text the citation stands. */
function annotationOf(citation: Citation, text: string): object {
  const { number, collection, id } = citation;
  const filename = sourceName(citation) || `${collection}/${id}`;
  return { type: "file_citation", file_id: `${collection}/${id}`, filename, index: text.indexOf(`[${number}]`) };
}

function usageOf(input: number, output: number) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
