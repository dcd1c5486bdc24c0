/** What tests of /v1/multimodal share. */
import sharp from "sharp";
import type { Test } from "tap";
import { type Reply, TestServer } from "./server.js";

/** A plain colour with a dark bar at its left, so that it has edges; a PNG in base64. */
export async function picture(colour: string, words = ""): Promise<string> {
  const text = `<text x="60" y="90" font-family="DejaVu Sans, sans-serif" font-size="42" fill="#000">${words}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="160"><rect width="100%" height="100%" fill="${colour}"/><rect width="20" height="100%" fill="#111"/>${text}</svg>`;
  return (await sharp(Buffer.from(svg)).png().toBuffer()).toString("base64");
}

export async function started(t: Test, environment: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await TestServer.start(environment);
  t.teardown(() => server.stop());
  return server;
}

export function post(server: TestServer, what: string, body: object): Promise<Reply> {
  return server.call("POST", `/v1/multimodal/${what}`, body);
}
