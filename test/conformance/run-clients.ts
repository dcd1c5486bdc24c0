/**
 * `make conformance-clients`: programs that people have for PostgreSQL, each with its own quick start, against a server
 * that is started for them. Installs what they need: npm's packages into dist, Debian's with apt-get where this runs as
 * root.
 */

import { ClientRuns } from "./client-runs.js";
import { CLIENTS } from "./clients.js";
import { print, printCounts } from "./run-program.js";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name));
if (unknown.length > 0) {
  throw new Error(`no client ${unknown.join(", ")}; there are ${CLIENTS.map(({ name }) => name).join(", ")}`);
}
const clients = CLIENTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

const width = Math.max(...clients.map(({ name }) => name.length));

const runs = await ClientRuns.start(clients);
try {
  for (const client of clients) print(client.name, width, await runs.run(client));
} finally {
  await runs.stop();
}
printCounts();
