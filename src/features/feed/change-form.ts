/**
 * How messages of subscriptions are written: JSON, MessagePack, or events of SSE. What all members of a channel get is
 * the same but for the client's id, which the gateway puts in front (protocol/live-message.ts).
 */
import { Packr } from "msgpackr";
import { type LiveFormat, wholeMessage } from "../../protocol/live-message.js";

const packr = new Packr({ useRecords: false, variableMapSize: true });

export interface ChangeForm {
  readonly name: LiveFormat;
  readonly contentType: string;
  /** A message without the client's id. `json` is an object's text, `sequence` what the client may come back with. */
  shared(type: string, json: string, sequence: number): Uint8Array;
  /** The same with it; `id` is JSON. */
  whole(id: string, shared: Uint8Array): Uint8Array;
}

/** `,"a":1}` of `{"a":1}`. */
function fieldsOf(json: string): string {
  return json === "{}" ? "}" : `,${json.slice(1)}`;
}

export const CHANGE_FORMS: Readonly<Record<LiveFormat, ChangeForm>> = {
  json: {
    name: "json",
    contentType: "application/json",
    shared: (type, json) => Buffer.from(`"type":"${type}"${fieldsOf(json)}`),
    whole: (id, shared) => wholeMessage("json", id, shared),
  },
  msgpack: {
    name: "msgpack",
    contentType: "application/msgpack",
    shared: (type, json) => {
      const fields = Object.entries({ type, ...(JSON.parse(json) as object) });
      const packed = fields.flatMap(([name, value]) => [copyOf(packr.pack(name)), copyOf(packr.pack(value))]);
      return Buffer.concat([Buffer.of(fields.length), ...packed]);
    },
    whole: (id, shared) => wholeMessage("msgpack", id, shared),
  },
  sse: {
    name: "sse",
    contentType: "text/event-stream; charset=utf-8",
    shared: (type, json, sequence) =>
      Buffer.from(`id: ${sequence}\nevent: ${type}\ndata: {"type":"${type}"${fieldsOf(json)}\n\n`),
    whole: (_id, shared) => shared,
  },
};

function copyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}
