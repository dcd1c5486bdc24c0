/**
 * Questions about a graph of 20,000 nodes and 100,000 arrows from a fixed seed, beside Kuzu, SQLite and PostgreSQL with
 * the same data in the same run. Each system is asked in turn, in this process where it can be; every answer is
 * compared. NODES, EDGES, ROUNDS, WARM_UP, PEERS (names, or none). CPU=1: times are of this process's CPU, all threads.
 *
 * QUESTIONS: parts of their names, separated by commas.
 */
import { graphData } from "./graph/data.js";
import { kuzuSide } from "./graph/kuzu-side.js";
import { postgresSide } from "./graph/postgres-side.js";
import { type Answer, QUESTIONS, type Question, type Side } from "./graph/side.js";
import { sqliteSide } from "./graph/sqlite-side.js";
import { tesseraSide } from "./graph/tessera-side.js";
import { median } from "./statistics.js";

/** Nodes or pairs that one round asks of. */
const ASKED: Readonly<Record<Question, number>> = {
  "2 hops from one node": 50,
  "all paths of 2 hops": 1,
  "3 hops, distinct nodes": 50,
  triangles: 1,
  "shortest path": 20,
  "PageRank, 20 iterations": 1,
  Louvain: 1,
};
/** How many nodes a question is about. */
const NAMED: Readonly<Partial<Record<Question, number>>> = {
  "2 hops from one node": 1,
  "3 hops, distinct nodes": 1,
  "shortest path": 2,
};
/** Rounds before those that count. */
const WARM_UP = Number(process.env.WARM_UP ?? 3);
/** Relative: ranks are sums of many small numbers. */
const TOLERANCE = 1e-5;

function clockMs(): number {
  if (process.env.CPU !== "1") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** By the names that PEERS chooses them with. */
const CONTENDERS = { kuzu: kuzuSide, sqlite: sqliteSide, postgres: postgresSide };
export const GRAPH_CONTENDERS: readonly string[] = Object.keys(CONTENDERS);

export async function graph(rounds: number): Promise<void> {
  const data = graphData(Number(process.env.NODES ?? 20_000), Number(process.env.EDGES ?? 100_000));
  const named = process.env.PEERS?.split(/[ ,]+/);
  const wanted = (name: string) => named === undefined || named.includes(name);
  const sides: Side[] = [await tesseraSide()];
  for (const [name, open] of Object.entries(CONTENDERS)) {
    if (!wanted(name)) continue;
    const side = await open();
    if (side === null) console.log(`${name} is not installed here (npm ci --prefix bench/peers/graph): left out.`);
    else sides.push(side);
  }
  try {
    for (const side of sides) {
      const started = clockMs();
      await side.load(data);
      console.log(`${side.name} ${side.version}: loaded in ${((clockMs() - started) / 1000).toFixed(1)} s`);
    }
    console.log(`\n${data.nodes} nodes, ${data.from.length} arrows; milliseconds each, medians of ${rounds} rounds`);
    console.log(`  ${"".padEnd(26)}${sides.map(({ name }) => name.padStart(12)).join("")}`);
    const parts = (process.env.QUESTIONS ?? "").split(",");
    const asked = QUESTIONS.filter((question) => parts.some((part) => question.includes(part)));
    for (const question of asked) await contest(sides, question, data.nodes, rounds);
  } finally {
    for (const side of sides) await side.stop();
  }
}

/** The sides take turns in each round. */
async function contest(sides: readonly Side[], question: Question, nodes: number, rounds: number): Promise<void> {
  const times = sides.map((): number[] => []);
  const answers = sides.map((): Answer[] => []);
  const out = new Set<Side>();
  for (let round = 0; round < WARM_UP + rounds; round++) {
    for (const [s, side] of sides.entries()) {
      if (out.has(side)) continue;
      const started = clockMs();
      for (let i = 0; i < ASKED[question]; i++) {
        const number = round * ASKED[question] + i;
        const at = [1 + ((number * 7919) % nodes), 1 + ((number * 104_729 + 5) % nodes)];
        const answer = await side.ask(question, at.slice(0, NAMED[question] ?? 0));
        if (answer === null) {
          out.add(side);
          break;
        }
        answers[s]!.push(answer);
      }
      if (round >= WARM_UP) times[s]!.push((clockMs() - started) / ASKED[question]);
    }
  }
  const line = sides.map((side, s) => (out.has(side) ? "—" : median(times[s]!).toFixed(3)).padStart(12));
  console.log(`  ${question.padEnd(26)}${line.join("")}`);
  for (const [s, side] of sides.entries()) {
    if (s === 0 || out.has(side)) continue;
    const at = answers[s]!.findIndex((answer, i) => !alike(answer, answers[0]![i]!));
    if (at !== -1) {
      throw new Error(`${question}: ${side.name} answers ${answers[s]![at]}, Tessera ${answers[0]![at]}`);
    }
  }
}

function alike(a: Answer, b: Answer): boolean {
  return a.length === b.length && a.every((value, i) => Math.abs(value - b[i]!) <= TOLERANCE * Math.abs(b[i]!));
}
