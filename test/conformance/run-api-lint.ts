/**
 * `make lint-api`: Redocly's linter with its recommended rules over the OpenAPI document of a server that is started
 * for it. Fails for errors; warnings are printed.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../e2e/server.js";

const PACKAGE = "@redocly/cli@2.77.0";

const server = await TestServer.start();
try {
  const document = await server.expect(200, "GET", "/v1/openapi.json");
  writeFileSync(join(server.directory, "openapi.json"), JSON.stringify(document.body));
  // In the data directory there is no configuration that would change the rules.
  const options = { cwd: server.directory, stdio: "inherit" } as const;
  const child = spawn("npx", ["--yes", PACKAGE, "lint", "openapi.json"], {
    ...options,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  process.exitCode = await new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
} finally {
  await server.stop();
}
