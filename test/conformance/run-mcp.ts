/**
 * `make conformance-mcp`: the Model Context Protocol's own conformance tests against a server that is started for them.
 * What each revision requires is run; known/mcp-….yaml list what is expected to fail: scenarios whose tools, resources
 * and prompts of fixed names only a server made for the tests has, and what this server does not offer.
 */
import { spawn } from "node:child_process";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { TestServer } from "../e2e/server.js";

const PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The package needs Node 22; on Linux the registry has one. */
const NODE = process.versions.node.startsWith("20.") ? ["-p", `node-${process.platform}-${process.arch}@22`] : [];
const REVISIONS = process.argv.length > 2 ? process.argv.slice(2) : ["2025-11-25", "2026-07-28"];
const KNOWN = new URL("../../../test/conformance/known/", import.meta.url).pathname;

const server = await TestServer.start();

/** The tests cannot sign in. */
const proxy = createServer((incoming, reply) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${server.token}` };
  const outgoing = request(new URL("/v1/mcp", server.url), { method: incoming.method!, headers }, (answer) => {
    reply.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(reply);
  });
  outgoing.on("error", () => reply.destroy());
  incoming.pipe(outgoing);
});
await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;

function run(revision: string): Promise<number> {
  const command = `conformance server --url ${url} --requirements ${revision} --expected-failures '${KNOWN}mcp-${revision}.yaml'`;
  const child = spawn("npx", ["-y", ...NODE, "-p", PACKAGE, "-c", command], { stdio: "inherit" });
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}

let failed = 0;
for (const revision of REVISIONS) failed += (await run(revision)) === 0 ? 0 : 1;
proxy.close();
await server.stop();
process.exitCode = failed;
