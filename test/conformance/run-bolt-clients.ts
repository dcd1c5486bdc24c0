/**
 * `make conformance-bolt`: packages that speak Bolt, each with its own quick start, against a server and a tenant of
 * its own. Installs the packages from npm into dist.
 */
import { boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { passwordOf, TestServer } from "../e2e/server.js";
import { nodePrograms, printCounts, runPrograms } from "./run-program.js";

const programs = nodePrograms("bolt-clients", "conformance-bolt");

const server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
try {
  await runPrograms(programs, async (name) => {
    await server.tenant(name);
    return {
      BOLT_URL: `neo4j://127.0.0.1:${boltPort(server)}`,
      BOLT_USER: `${name}-user`,
      BOLT_PASSWORD: passwordOf(name),
    };
  });
} finally {
  await server.stop();
}
printCounts();
