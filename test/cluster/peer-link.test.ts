import { randomBytes } from "node:crypto";
import { once } from "node:events";
import t from "tap";
import {
  connectPeer,
  listenToPeers,
  PeerConnection,
  type PeerMessages,
  peerKey,
  remotePort,
} from "../../src/cluster/peer-link.js";
import { type RequestFrame, RequestWriter, readRequests, shiftDeadlines } from "../../src/protocol/frames.js";
import { freePort } from "../free-port.js";

const NOTHING: PeerMessages = { frames: () => undefined, control: () => undefined, closed: () => undefined };

function requestOf(deadlineMs: number, body: Uint8Array): ArrayBuffer {
  const writer = new RequestWriter();
  writer.request(7, 1, 0, 3, 9, deadlineMs, "r-1", "head", body);
  return writer.take();
}

t.test("frames and control messages cross the link as they are, deadlines as what is left", async (t) => {
  const key = peerKey(randomBytes(32));
  const address = `127.0.0.1:${await freePort()}`;
  const frames: [number, RequestFrame][] = [];
  let accepted: PeerConnection | null = null;
  let heard: (message: unknown) => void = () => undefined;
  const control = new Promise((resolve) => {
    heard = resolve;
  });
  const server = await listenToPeers(address, key, (socket) => {
    accepted = new PeerConnection(socket, {
      ...NOTHING,
      frames: (partition, data) => {
        shiftDeadlines(data, 1_000_000);
        readRequests(data, (frame) => frames.push([partition, frame]));
      },
      control: (partition, message) => heard([partition, message]),
    });
  });
  const connection = await connectPeer(address, "n1", key, NOTHING);
  const port = remotePort(connection, 3);
  // Longer than what a socket reads at once.
  const body = randomBytes(300_000);
  const now = Date.now();
  port.postMessage(requestOf(now + 5000, body));
  port.postMessage(requestOf(now + 5000, Buffer.from("second")));
  port.postMessage({ kind: "find-identity", id: 1, by: "user", value: "u" });
  // It would be of no use there.
  port.postMessage({ kind: "close" });
  t.same(await control, [3, { kind: "find-identity", id: 1, by: "user", value: "u" }]);
  t.equal(frames.length, 2);
  const [[partition, first], [, second]] = frames as [[number, RequestFrame], [number, RequestFrame]];
  t.equal(partition, 3);
  t.ok(first.bodyBytes.equals(body));
  t.equal(second.bodyText, "second");
  t.equal(first.headText, "head");
  t.ok(first.deadlineMs > 1_000_000 && first.deadlineMs <= 1_005_000, `what is left: ${first.deadlineMs - 1_000_000}`);
  connection.close();
  accepted!.close();
  server.close();
  await once(server, "close");
});

t.test("who does not know the secret is not let in", async (t) => {
  const address = `127.0.0.1:${await freePort()}`;
  let connected = 0;
  const server = await listenToPeers(address, peerKey(randomBytes(32)), () => connected++);
  await t.rejects(connectPeer(address, "n1", peerKey(randomBytes(32)), NOTHING), { code: "partition_unavailable" });
  t.equal(connected, 0);
  server.close();
  await once(server, "close");
});
