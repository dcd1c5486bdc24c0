/**
 * `make conformance-clients`: programs that people have for PostgreSQL, each with its own quick start, against a server that is
 * started for them. Installs what they need: npm's packages into dist, Debian's with apt-get where this runs as root.
 */

import { ClientRuns, type Outcome } from "./client-runs.js";
import { CLIENTS, type Client } from "./clients.js";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CLIENTS.some((client) => client.name === name));
if (unknown.length > 0) {
  throw new Error(`no client ${unknown.join(", ")}; there are ${CLIENTS.map(({ name }) => name).join(", ")}`);
}
const clients = CLIENTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

const width = Math.max(...clients.map(({ name }) => name.length));
const counts = { passed: 0, failed: 0, skipped: 0 };

function print({ name }: Client, outcomes: readonly Outcome[]): void {
  for (const [i, { what, result, message }] of outcomes.entries()) {
    counts[result] += 1;
    console.log(`${(i === 0 ? name : "").padEnd(width)}  ${result.padEnd(7)}  ${what}`);
    if (message !== "") console.log(`${" ".repeat(width + 11)}${message}`);
  }
}

const runs = await ClientRuns.start(clients);
try {
  for (const client of clients) print(client, await runs.run(client));
} finally {
  await runs.stop();
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
