/** SHORTEST k and SHORTEST k GROUPS find what a list of all paths, sorted by length, says: on small random graphs. */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { GraphDatabase } from "./graphs.js";

const GRAPHS = 12;
const QUESTIONS = 12;
const NODES = 5;
const EDGES = 7;

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

interface Question {
  readonly count: number;
  readonly groups: boolean;
  readonly min: number;
  readonly max: number | null;
  readonly direction: "out" | "in" | "either";
  readonly filtered: boolean;
  readonly known: boolean;
}

/** All paths from a node in which no relationship comes twice, as lists of relationships with the node at the end. */
function trails(edges: readonly Edge[], from: number, { direction, filtered, max }: Question) {
  const found: { readonly end: number; readonly way: readonly number[] }[] = [];
  const walk = (node: number, way: readonly number[]): void => {
    found.push({ end: node, way });
    if (way.length === (max ?? EDGES)) return;
    edges.forEach((edge, id) => {
      if (way.includes(id) || (filtered && edge.weight > 2)) return;
      if (edge.from === node && direction !== "in") walk(edge.to, [...way, id]);
      else if (edge.to === node && direction !== "out") walk(edge.from, [...way, id]);
    });
  };
  walk(from, []);
  return found;
}

/** Of each pair: which lengths are to be found, and all paths that may be. */
function expected(edges: readonly Edge[], question: Question) {
  const pairs = new Map<string, { readonly lengths: readonly number[]; readonly ways: readonly string[] }>();
  for (let from = 0; from < NODES; from++) {
    const all = trails(edges, from, question).filter(({ way }) => way.length >= question.min);
    for (let end = 0; end < NODES; end++) {
      const ways = all.filter((path) => path.end === end).map(({ way }) => way);
      const sorted = ways.map(({ length }) => length).sort((a, b) => a - b);
      const least = [...new Set(sorted)].slice(0, question.count);
      const lengths = question.groups ? sorted.filter((n) => least.includes(n)) : sorted.slice(0, question.count);
      if (lengths.length > 0) pairs.set(`${from} ${end}`, { lengths, ways: ways.map(String) });
    }
  }
  return pairs;
}

function cypherOf({ count, groups, min, max, direction, filtered, known }: Question): string {
  const edge = `-[:K${filtered ? " WHERE r.w <= 2" : ""}]-`.replace("[:K W", "[r:K W");
  const walk = `${direction === "in" ? "<" : ""}${edge}${direction === "out" ? ">" : ""}{${min},${max ?? ""}}`;
  const ends = known ? "MATCH (a), (b) WITH a, b " : "";
  const selector = `SHORTEST ${count}${groups ? " GROUPS" : ""}`;
  return `${ends}MATCH p = ${selector} (a)${walk}(b) RETURN a.i, b.i, [x IN relationships(p) | x.id]`;
}

function randomQuestion(random: Random): Question {
  const min = random.below(3);
  return {
    count: 2 + random.below(3),
    groups: random.below(2) === 0,
    min,
    max: random.below(3) === 0 ? null : min + random.below(4),
    direction: (["out", "in", "either"] as const)[random.below(3)]!,
    filtered: random.below(3) === 0,
    known: random.below(2) === 0,
  };
}

/** Which no search walks as they are, or which say something of the nodes on the way. */
const PATTERNS = [
  "(a) ((x)-[:K]->(y) WHERE x.i < 4 AND y.i > 0){1,4} (b)",
  "(a) ((x {i: 1})<-[r:K]-(y) WHERE r.w < 4 OR y.i = 2)* (b)",
  "(a) ((x)-[:K]-(y) WHERE y.i <> 2){0,3} (b)",
  "(a) ((x)-[:K]->(m)<-[:K]-(y)){1,2} (b)",
  "(a)-[:K]->(m)-[:K]-{1,2}(b)",
  "(a)-[:K]->{2,4}(b)",
  "((a)-[r:K]-{1,3}(b) WHERE all(e IN r WHERE e.w > 1) AND a.i <> b.i)",
];

/** Pairs of ends with the lengths of their paths. */
const lengthsOf = (db: GraphDatabase, text: string): readonly string[] =>
  db.read((tx) =>
    db
      .cypher(tx, text)
      .rows.map((row) => row.join(" "))
      .sort(),
  );

for (let seed = 1; seed <= 4; seed++) {
  t.test(`patterns of several parts and conditions, graph ${seed}`, async (t) => {
    const random = new Random(seed + 100);
    const db = await GraphDatabase.open(t);
    db.commit((tx) => {
      db.cypher(tx, `UNWIND range(0, ${NODES - 1}) AS i CREATE (:N {i: i})`);
      for (let i = 0; i < EDGES; i++) {
        const made = `CREATE (a)-[:K {w: ${1 + random.below(4)}}]->(b)`;
        db.cypher(tx, `MATCH (a:N {i: ${random.below(NODES)}}), (b:N {i: ${random.below(NODES)}}) ${made}`);
      }
    });
    for (const pattern of PATTERNS) {
      const k = 1 + random.below(3);
      const columns = "RETURN a.i, b.i, length(p)";
      const all = `MATCH p = ${pattern} WITH a, b, length(p) AS n ORDER BY n WITH a, b, collect(n) AS ns`;
      const least = `${all} UNWIND ns[..${k}] AS n RETURN a.i, b.i, n`;
      // One shortest path never leads back to where it began; several do.
      const apart = k === 1 ? "WHERE a <> b " : "";
      const found = `MATCH p = SHORTEST ${k} ${pattern} ${apart}${columns}`;
      const wanted = k === 1 ? least.replace(" UNWIND", " WHERE a <> b UNWIND") : least;
      t.same(lengthsOf(db, found), lengthsOf(db, wanted), found);
      const bound = `MATCH (a), (b) MATCH p = SHORTEST ${k} ${pattern} ${apart}${columns}`;
      t.same(lengthsOf(db, bound), lengthsOf(db, wanted), bound);
    }
  });
}

for (let seed = 1; seed <= GRAPHS; seed++) {
  t.test(`graph ${seed}`, async (t) => {
    const random = new Random(seed);
    const edges = Array.from({ length: EDGES }, () => {
      return { from: random.below(NODES), to: random.below(NODES), weight: 1 + random.below(4) };
    });
    const db = await GraphDatabase.open(t);
    db.commit((tx) => {
      db.cypher(tx, `UNWIND range(0, ${NODES - 1}) AS i CREATE (:N {i: i})`);
      edges.forEach(({ from, to, weight }, id) => {
        const made = `CREATE (a)-[:K {id: ${id}, w: ${weight}}]->(b)`;
        db.cypher(tx, `MATCH (a:N {i: ${from}}), (b:N {i: ${to}}) ${made}`);
      });
    });
    for (let i = 0; i < QUESTIONS; i++) {
      const question = randomQuestion(random);
      const cypher = cypherOf(question);
      const got = new Map<string, string[]>();
      db.read((tx) => {
        for (const [from, end, way] of db.cypher(tx, cypher).rows) {
          const pair = `${from} ${end}`;
          got.set(pair, [...(got.get(pair) ?? []), String(way)]);
        }
      });
      const wanted = expected(edges, question);
      t.same([...got.keys()].sort(), [...wanted.keys()].sort(), `${cypher}: pairs`);
      for (const [pair, { lengths, ways }] of wanted) {
        const found = got.get(pair) ?? [];
        const hops = found.map((way) => (way === "" ? 0 : way.split(",").length)).sort((a, b) => a - b);
        const isSound = new Set(found).size === found.length && found.every((way) => ways.includes(way));
        if (isSound && String(hops) === String(lengths)) continue;
        t.fail(`${cypher}: ${pair} gave ${found.join(" | ")}, expected lengths ${lengths}`);
      }
    }
  });
}
