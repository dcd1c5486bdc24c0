/**
 * How long another tenant's point read waits beside statements and values that are large or nested, one case after the
 * other, and whether their deadline is kept. A server of its own with one actor; the neighbour reads one row after the
 * other. On a busy machine the longest turns of the threads tell more than what the neighbour waits.
 *
 *   node dist/bench/neighbour.js [words that a case's name has]     (`route`: large bodies for every route)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sendExamples } from "../test/e2e/large-bodies.js";
import { TestServer } from "../test/e2e/server.js";
import { CASES, type NeighbourCase } from "./neighbour/cases.js";
import { ROUTE_CASES } from "./neighbour/route-cases.js";
import { WatchedTurns } from "./neighbour/turns.js";

/** TIMEOUT_SECONDS: more on a busy machine, where a statement gets little done in one. */
const TIMEOUT_SECONDS = Number(process.env.TIMEOUT_SECONDS ?? 1);
const READ_PAUSE_MS = 2;
/** After a case has ended: what it left may still be at work. */
const AFTER_MS = 150;

const wanted = process.argv.slice(2);
const cases = [...CASES, ...ROUTE_CASES].filter(({ name }) => wanted.every((word) => name.includes(word)));

const turns = new WatchedTurns();
const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_SERVER_LOG_LEVEL: "error",
  ...logLevel(),
  ...turns.environment,
});
try {
  const attacker = await server.tenant("attacker");
  const neighbour = await server.tenant("neighbour");
  await server.rows("CREATE TABLE t (id int PRIMARY KEY, v text)", [], { token: neighbour });
  await server.rows("INSERT INTO t SELECT i, 'x' || i FROM generate_series(1, 100) i", [], { token: neighbour });
  if (cases.some((one) => ROUTE_CASES.includes(one))) await sendExamples(server, attacker);
  const rest = await measure({ name: "nothing", run: async () => ({ status: 200 }) }, attacker, neighbour);
  console.log(
    `| case | answer | took s | neighbour waits at most ms (at rest ${rest.longestMs.toFixed(0)}) | longest turns, CPU ms |`,
  );
  console.log("|---|---|--:|--:|---|");
  for (const one of cases) {
    const { longestMs, seconds, answer, refused, longestTurns } = await measure(one, attacker, neighbour);
    const waits = `${longestMs.toFixed(0)}${refused > 0 ? `, ${refused} refused` : ""}`;
    console.log(`| ${one.name} | ${answer} | ${seconds.toFixed(2)} | ${waits} | ${longestTurns} |`);
  }
} catch (error) {
  console.error(server.lines.slice(-20).join("\n").slice(-4000));
  throw error;
} finally {
  await server.stop();
}

function logLevel(): Record<string, string> {
  return process.env.SERVER_LOG_LEVEL ? { TESSERA_SERVER_LOG_LEVEL: process.env.SERVER_LOG_LEVEL } : {};
}

async function measure(one: NeighbourCase, attacker: string, neighbour: string) {
  one.prepare?.();
  // Connections that the server closed meanwhile are noticed.
  await sleep(50);
  let isOver = false;
  let longestMs = 0;
  let refused = 0;
  const read = async (): Promise<void> => {
    const start = performance.now();
    const { status } = await server.sql("SELECT v FROM t WHERE id = $1", [7], { token: neighbour });
    if (status !== 200) refused++;
    longestMs = Math.max(longestMs, performance.now() - start);
  };
  const reading = (async () => {
    while (!isOver) {
      await read();
      await sleep(READ_PAUSE_MS);
    }
  })();
  await sleep(50);
  turns.longest();
  const start = performance.now();
  // An answer that had begun at its deadline is cut off.
  const reply = await one.run(server, attacker, TIMEOUT_SECONDS).catch((error: Error) => ({ status: error.message }));
  const seconds = (performance.now() - start) / 1000;
  await sleep(AFTER_MS);
  isOver = true;
  await reading;
  return { longestMs, seconds, answer: answerOf(reply), refused, longestTurns: turns.longest() };
}

function answerOf({
  status,
  body,
}: {
  readonly status: number | string;
  readonly body?: { readonly error?: { readonly message: string } };
}): string {
  return `${status}${body?.error === undefined ? "" : ` ${body.error.message.slice(0, 60).replaceAll("|", "\\|")}`}`;
}
