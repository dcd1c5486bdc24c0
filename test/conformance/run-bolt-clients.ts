/**
 * `make conformance-bolt`: packages that speak Bolt, each with its own quick start, against a server and a tenant of
 * its own. Installs the packages from npm into dist. NEO4J_DRIVER_SUITE: a checkout of the driver's repository, whose
 * own tests run, too.
 */
import { boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { passwordOf, TestServer } from "../e2e/server.js";
import { nodePrograms, printCounts, runPrograms } from "./run-program.js";

const programs = nodePrograms("bolt-clients", "conformance-bolt");

/** The driver's own tests are a thousand. */
const SECONDS = 300;

const server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
try {
  const { NEO4J_DRIVER_SUITE } = process.env;
  await runPrograms(
    programs,
    async (name) => {
      await server.tenant(name);
      return {
        ...(NEO4J_DRIVER_SUITE !== undefined && { NEO4J_DRIVER_SUITE }),
        BOLT_URL: `neo4j://127.0.0.1:${boltPort(server)}`,
        BOLT_USER: `${name}-user`,
        BOLT_PASSWORD: passwordOf(name),
      };
    },
    SECONDS,
  );
} finally {
  await server.stop();
}
printCounts();
