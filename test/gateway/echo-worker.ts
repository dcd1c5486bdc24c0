/** A real actor's thread for tests: answers with the request's body, and crashes when that says so. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { ReplyWriter, readRequests } from "../../src/protocol/frames.js";
import type { ToActor } from "../../src/protocol/messages.js";
import { ALICE } from "./test-gateway.js";

const port = parentPort as MessagePort;

port.on("message", (message: ArrayBuffer | ToActor) => {
  if (message instanceof ArrayBuffer) answer(message);
  else if (message.kind === "find-identity") port.postMessage({ kind: "identity", id: message.id, identity: ALICE });
  else if (message.kind === "close") port.close();
});
port.postMessage({ kind: "ready", adminPassword: "made up" });

function answer(requests: ArrayBuffer): void {
  const writer = new ReplyWriter();
  readRequests(requests, ({ id, bodyText }) => {
    if (bodyText === "crash") throw new Error("as asked");
    writer.text(id, 200, 0, "", bodyText);
  });
  const frames = writer.take();
  port.postMessage(frames, [frames]);
}
