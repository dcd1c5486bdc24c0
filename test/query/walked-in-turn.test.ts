/** Groups of several relationships that are walked several times, against a search by hand on small random graphs. */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { GraphDatabase } from "./graphs.js";

const GRAPHS = 10;
const QUESTIONS = 14;
const NODES = 5;
const EDGES = 9;
const TYPES = ["X", "Y"] as const;

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly type: string;
  readonly weight: number;
}

interface Step {
  readonly type: string | null;
  readonly direction: "out" | "in" | "either";
  readonly heaviest: number | null;
}

interface Question {
  readonly steps: readonly Step[];
  readonly min: number;
  readonly max: number | null;
  /** What every first node of a group has to be at least. */
  readonly least: number | null;
  readonly from: number | null;
  readonly to: number | null;
}

interface Trail {
  readonly nodes: readonly number[];
  readonly way: readonly number[];
}

function expected(edges: readonly Edge[], { steps, min, max, least, from, to }: Question): string[] {
  const found: string[] = [];
  const size = steps.length;
  const walk = ({ nodes, way }: Trail): void => {
    const node = nodes.at(-1)!;
    const times = way.length / size;
    if (Number.isInteger(times) && times >= min && (to === null || node === to)) {
      const every = (list: readonly number[], first: number) => list.filter((_, i) => i % size === first);
      const starts = every(nodes.slice(0, -1), 0);
      const middles = nodes.filter((_, i) => i > 0 && i % size === 1 % size);
      if (least === null || starts.every((each) => each >= least)) {
        found.push(JSON.stringify([way, starts, middles, every(way, size - 1)]));
      }
    }
    if (max !== null && times >= max) return;
    const { type, direction, heaviest } = steps[way.length % size]!;
    edges.forEach((edge, id) => {
      if (way.includes(id) || (type !== null && edge.type !== type)) return;
      if (heaviest !== null && edge.weight > heaviest) return;
      const isOut = edge.from === node && direction !== "in";
      if (!isOut && (edge.to !== node || direction === "out")) return;
      walk({ nodes: [...nodes, isOut ? edge.to : edge.from], way: [...way, id] });
    });
  };
  for (let start = 0; start < NODES; start++) if (from === null || start === from) walk({ nodes: [start], way: [] });
  return found.sort();
}

function cypherOf({ steps, min, max, least, from, to }: Question): string {
  const walks = steps.map(({ type, direction, heaviest }, i) => {
    const inside = `[r${i}${type === null ? "" : `:${type}`}${heaviest === null ? "" : ` WHERE r${i}.w <= ${heaviest}`}]`;
    return `${direction === "in" ? "<" : ""}-${inside}-${direction === "out" ? ">" : ""}(n${i + 1})`;
  });
  const where = least === null ? "" : ` WHERE n0.i >= ${least}`;
  const end = (i: number | null) => (i === null ? "()" : `({i: ${i}})`);
  const pattern = `${end(from)} ((n0)${walks.join("")}${where}){${min},${max ?? ""}} ${end(to)}`;
  const last = `r${steps.length - 1}`;
  const results = "[r IN relationships(p) | r.id], [n IN n0 | n.i], [n IN n1 | n.i]";
  return `MATCH p = ${pattern} RETURN ${results}, [r IN ${last} | r.id]`;
}

function randomQuestion(random: Random): Question {
  const maybe = <T>(value: T): T | null => (random.below(2) === 0 ? value : null);
  const min = random.below(3);
  return {
    steps: Array.from({ length: 1 + random.below(3) }, () => ({
      type: maybe(TYPES[random.below(2)]!),
      direction: (["out", "in", "either"] as const)[random.below(3)]!,
      heaviest: random.below(4) === 0 ? 3 : null,
    })),
    min,
    max: random.below(3) === 0 ? null : min + random.below(2),
    least: random.below(4) === 0 ? 1 : null,
    from: maybe(random.below(NODES)),
    to: maybe(random.below(NODES)),
  };
}

for (let seed = 1; seed <= GRAPHS; seed++) {
  t.test(`graph ${seed}`, async (t) => {
    const random = new Random(seed);
    const edges = Array.from({ length: EDGES }, () => {
      const type = TYPES[random.below(2)]!;
      return { from: random.below(NODES), to: random.below(NODES), type, weight: 1 + random.below(4) };
    });
    const db = await GraphDatabase.open(t);
    db.commit((tx) => {
      db.cypher(tx, `UNWIND range(0, ${NODES - 1}) AS i CREATE (:N {i: i})`);
      edges.forEach(({ from, to, type, weight }, id) => {
        const made = `CREATE (a)-[:${type} {id: ${id}, w: ${weight}}]->(b)`;
        db.cypher(tx, `MATCH (a:N {i: ${from}}), (b:N {i: ${to}}) ${made}`);
      });
    });
    for (let i = 0; i < QUESTIONS; i++) {
      const question = randomQuestion(random);
      const cypher = cypherOf(question);
      db.read((tx) => {
        const got = db.cypher(tx, cypher).rows.map((row) => JSON.stringify(row));
        t.same(got.sort(), expected(edges, question), cypher);
      });
    }
  });
}

t.test("a condition on a relationship about anything else in the pattern", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => db.cypher(tx, "CREATE (:N {i: 0})-[:X {t: 1}]->(:N {i: 1})-[:Y {t: 2}]->(:N {i: 2})"));
  const inPattern = "MATCH ({i: 0}) ((a)-[r:X]->(b)-[s:Y WHERE s.t > r.t]->(c))+ (e) RETURN e.i";
  const inGroup = "MATCH ({i: 0}) ((a)-[r:X]->(b)-[s:Y]->(c) WHERE s.t > r.t)+ (e) RETURN e.i";
  db.read((tx) => {
    t.throws(() => db.cypher(tx, inPattern), { message: /the group's WHERE/ });
    t.same(db.cypher(tx, inGroup).rows, [[2]]);
  });
});
