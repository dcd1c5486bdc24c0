/** Which revision of MCP a message follows, by what it claims and by its headers. */
import t from "tap";
import { RPC_ERROR, RpcError, readMessage } from "../../../src/features/mcp/json-rpc.js";
import { isStateless, type McpHeaders } from "../../../src/features/mcp/revision.js";

const NONE: McpHeaders = { accept: "", version: "", method: "", name: "" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function message(method: string, params: object = {}, id: string | null = "1") {
  return readMessage({ jsonrpc: "2.0", method, params, ...(id !== null && { id }) });
}

function codeOf(run: () => unknown): number | null {
  try {
    run();
  } catch (error) {
    return error instanceof RpcError ? error.code : 0;
  }
  return null;
}

t.test("what claims nothing is negotiated", async (t) => {
  t.equal(isStateless(message("tools/list"), NONE), false);
  t.equal(isStateless(message("tools/list"), { ...NONE, version: "2025-06-18" }), false);
  t.equal(isStateless(message("notifications/initialized", {}, null), { ...NONE, version: "2026-07-28" }), false);
});

t.test("what claims a stateless revision says the same in its headers", async (t) => {
  const headers = { ...NONE, version: "2026-07-28", method: "tools/call", name: "query" };
  const call = message("tools/call", { _meta: META, name: "query" });
  t.equal(isStateless(call, headers), true);
  t.equal(isStateless(call, null), true, "a socket has no headers");
  t.equal(
    isStateless(message("tools/call", { _meta: META, name: "Évora" }), { ...headers, name: "=?base64?w4l2b3Jh?=" }),
    true,
  );
  for (const [wrong, what] of [
    [{ version: "" }, "no version"],
    [{ version: "2025-11-25" }, "another version"],
    [{ method: "" }, "no method"],
    [{ method: "TOOLS/CALL" }, "methods have case"],
    [{ name: "" }, "no name"],
    [{ name: "execute" }, "another name"],
    [{ name: "=?base64?***?=" }, "a name that is not base64"],
    [{ name: "=?base64?cXVlcnk?=" }, "base64 without its padding"],
  ] as const) {
    t.equal(
      codeOf(() => isStateless(call, { ...headers, ...wrong })),
      RPC_ERROR.headerMismatch,
      what,
    );
  }
});

t.test("claims that are not complete, or of no revision that is served", async (t) => {
  const { "io.modelcontextprotocol/protocolVersion": version } = META;
  const only = { _meta: { "io.modelcontextprotocol/protocolVersion": version } };
  t.equal(
    codeOf(() => isStateless(message("tools/list", only), null)),
    RPC_ERROR.invalidParams,
  );
  t.equal(
    codeOf(() => isStateless(message("tools/list"), { ...NONE, version })),
    RPC_ERROR.invalidParams,
  );
  const future = { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": "2999-01-01" } };
  t.equal(
    codeOf(() => isStateless(message("tools/list", future), null)),
    RPC_ERROR.unsupportedVersion,
  );
  t.equal(
    codeOf(() => isStateless(message("tools/list"), { ...NONE, version: "2999-01-01" })),
    RPC_ERROR.unsupportedVersion,
  );
});
