/** Bodies that are read as they come: lines, and server-sent events. Who stops reading ends the request. */
import { ConnectionError } from "./errors.js";

/** The lines of a body, without their ends, as many at a time as have come; an unfinished last line is left out. */
export async function* linesOf(response: Response): AsyncGenerator<readonly string[], void> {
  for await (const text of wholeLinesOf(response)) yield text.split("\n");
}

/** The same as texts of some lines, with line ends between them. */
export async function* wholeLinesOf(response: Response): AsyncGenerator<string, void> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await readFrom(reader);
      if (done) break;
      const text = decoder.decode(value, { stream: true });
      const end = text.lastIndexOf("\n");
      if (end < 0) rest += text;
      else {
        const whole = rest + text.slice(0, end);
        rest = text.slice(end + 1);
        yield whole;
      }
    }
    ended = true;
  } finally {
    // The server stops when nobody reads any more.
    if (!ended) reader.cancel().catch(() => undefined);
  }
}

async function readFrom(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new ConnectionError("The connection ended within an answer.", error);
  }
}

/** A server-sent event. */
export interface ServerEvent {
  readonly type: string;
  readonly data: string;
}

export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent, void> {
  let type = "message";
  let data: string[] = [];
  for await (const lines of linesOf(response)) {
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { type, data: data.join("\n") };
        type = "message";
        data = [];
      } else if (line.startsWith("event:")) type = line.slice(6).trimStart();
      else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    }
  }
}
