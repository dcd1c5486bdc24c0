/**
 * The integration tests of Neo4j's driver for JavaScript, as its repository has them, with the driver from npm.
 * NEO4J_DRIVER_SUITE: a checkout of github.com/neo4j/neo4j-javascript-driver, of release 5.
 */
import { join } from "node:path";
import { build } from "esbuild";
import Jasmine from "jasmine";

const SPECS = [
  ...["auth", "bolt-v3", "bolt-v4x0", "driver", "examples", "nested-statements", "result", "session", "spatial-types"],
  ...["summary", "temporal-types", "transaction", "types"],
  ...["rx/navigation", "rx/nested-statements", "rx/session", "rx/summary", "rx/transaction"],
];

/** Why a test fails; the test's name has all of these words. */
const KNOWN = [
  ["should set transaction metadata", "CALL dbms.listTransactions() gives metaData to a YIELD only"],
  ["should return database name in summary", "the graph that is used when none is named is called default"],
  ["should have correct user agent", "the driver from npm says its version, the sources 0.0.0-dev"],
  ["should have a stack trace that contains code outside the driver calls", "the tests are bundled here"],
  ["should fail on transactions that cannot be retried", "a statement that fails gives none of its rows"],
  ["should return summary with correct system updates for create", "users are made by a route"],
  ["should propagate failures from queries", "the message of a division by zero is another"],
  ["should get profile from summary", "a profile has its time, and the test wants 0"],
  ["standard Date with offset", "no server is asked: the sources are of another release than the package"],
  ["connection timeout", "the test asks a host in the internet"],
];

const suite = process.env.NEO4J_DRIVER_SUITE;
if (suite === undefined) {
  console.log("skip - the driver's own tests # NEO4J_DRIVER_SUITE names no checkout of its repository");
  process.exit();
}

/** The tests import the driver's sources, in place of which they get the package. */
const packaged = {
  name: "packaged",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\..*\/src(\/|$)/ }, ({ path }) => {
      const file = /\/src\/(.+)$/.exec(path)?.[1];
      return { path: file === undefined ? "neo4j-driver" : `neo4j-driver/lib/${file}`, external: true };
    });
    onResolve({ filter: /\/bolt-connection\/lib\// }, ({ path }) => ({
      path: path.replace(/^.*\/bolt-connection\//, "neo4j-driver-bolt-connection/"),
      external: true,
    }));
    onResolve({ filter: /^[^.]/ }, ({ path, kind }) => (kind === "entry-point" ? undefined : { path, external: true }));
  },
};

const files = SPECS.map((name) => `suite/${name}.cjs`);
await build({
  entryPoints: SPECS.map((name) => ({
    in: join(suite, "packages/neo4j-driver/test", `${name}.test.js`),
    out: name,
  })),
  ...{ bundle: true, platform: "node", format: "cjs", outdir: "suite", outExtension: { ".js": ".cjs" } },
  ...{ plugins: [packaged], logLevel: "error" },
});

const { hostname, port } = new URL(process.env.BOLT_URL);
Object.assign(process.env, {
  ...{ TEST_CONTAINERS_DISABLED: "TRUE", TEST_NEO4J_VERSION: "5.26", TEST_NEO4J_IPV6_ENABLED: "false" },
  ...{ TEST_NEO4J_HOST: hostname, TEST_NEO4J_BOLT_PORT: port },
  ...{ TEST_NEO4J_USER: process.env.BOLT_USER, TEST_NEO4J_PASS: process.env.BOLT_PASSWORD },
});

const jasmine = new Jasmine();
const { describe } = globalThis;
// Newer versions of jasmine refuse the functions that are async for no reason.
globalThis.describe = (name, define) =>
  describe(name, function () {
    void define.call(this);
  });
jasmine.exitOnCompletion = false;
jasmine.randomizeTests(false);
jasmine.clearReporters();
jasmine.addReporter({
  specDone: ({ fullName, status, failedExpectations: [failed] }) => {
    if (status === "pending" || status === "excluded") return console.log(`skip - ${fullName}`);
    if (status === "passed") return console.log(`ok - ${fullName}`);
    const known = KNOWN.find(([words]) => fullName.includes(words));
    if (known !== undefined) return console.log(`skip - ${fullName} # ${known[1]}`);
    console.log(`not ok - ${fullName} # ${failed?.message.replace(/\s+/g, " ")}`);
  },
});
await jasmine.execute(files);
process.exit();
