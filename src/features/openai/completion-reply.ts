/**
 * The answers of POST /v1/chat/completions: a whole one, and chunks of a growing one. Called by the routes; holds no
 * state.
 */

import type { Request } from "../../actor/request.js";
import type { DoneReason, ToolCall } from "../../ai/providers/provider.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { type Answer, STREAMED, type TextAnswer } from "../../session/answer.js";
import type { Citation } from "../chat/chat-store.js";
import { type FrameForm, FrameStream, refuseKept } from "../chat/frame-stream.js";
import type { AnswerEvent } from "./answer-source.js";

/** What every part of an answer says of it. */
export interface CompletionFacts {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

type Completion = ResponseOf<"openai.completions">;

const REASONS: Readonly<Record<DoneReason, Completion["choices"][number]["finish_reason"]>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  refused: "content_filter",
};

export async function wholeCompletion(
  events: AsyncIterable<AnswerEvent>,
  facts: CompletionFacts,
): Promise<Answer<Completion>> {
  let text = "";
  const calls: object[] = [];
  let usage = usageOf(0, 0);
  let reason: DoneReason = "stop";
  let citations: readonly Citation[] = [];
  for await (const event of events) {
    if (event.kind === "text") text += event.text;
    else if (event.kind === "tool_call") calls.push(shownCall(event));
    else if (event.kind === "usage") usage = usageOf(event.inputTokens, event.outputTokens);
    else if (event.kind === "citations") ({ citations } = event);
    else ({ reason } = event);
  }
  const message = {
    role: "assistant" as const,
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(citations.length > 0 && { citations }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: REASONS[reason] };
  return { plain: { object: "chat.completion", ...facts, choices: [choice], usage } };
}

/** Server-sent events of both routes end an answer that fails with the error. */
export const EVENT_STREAM: FrameForm = {
  contentType: "text/event-stream; charset=utf-8",
  heartbeat: ": heartbeat\n\n",
  error: (errorJson) => `data: ${errorJson}\n\n`,
};

export async function streamCompletion(
  request: Request,
  events: AsyncIterable<AnswerEvent>,
  facts: CompletionFacts,
  includeUsage: boolean,
): Promise<TextAnswer> {
  refuseKept(request);
  const stream = new FrameStream(request, EVENT_STREAM);
  const write = (choices: readonly object[], usage: object | null = null): Promise<void> => {
    const chunk = { object: "chat.completion.chunk", ...facts, choices, ...(includeUsage && { usage }) };
    return stream.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const say = (delta: object, reason: string | null = null): Promise<void> =>
    write([{ index: 0, delta, logprobs: null, finish_reason: reason }]);
  let [begun, calls, usage] = [false, 0, usageOf(0, 0)];
  try {
    for await (const event of events) {
      if (!begun) await say({ role: "assistant", content: "", refusal: null });
      begun = true;
      if (event.kind === "text") await say({ content: event.text });
      else if (event.kind === "tool_call") await say({ tool_calls: [{ index: calls++, ...shownCall(event) }] });
      else if (event.kind === "usage") usage = usageOf(event.inputTokens, event.outputTokens);
      else if (event.kind === "citations") {
        if (event.citations.length > 0) await say({ citations: event.citations });
      } else await say({}, REASONS[event.reason]);
    }
    if (includeUsage) await write([], usage);
    // Of an agent: what its tools have written.
    await request.durable();
    await stream.write("data: [DONE]\n\n");
    await stream.end();
    return STREAMED;
  } finally {
    stream.close();
  }
}

function usageOf(input: number, output: number) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function shownCall({ id, name, arguments: args, sent }: ToolCall) {
  return { id, type: "function", function: { name, arguments: sent ?? JSON.stringify(args) } };
}
