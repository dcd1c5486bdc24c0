/** Conditions on points find with an index what they find without one, on random points of all systems. */
import t from "tap";
import { explainText } from "../../src/query/plan/explain.js";
import { Random } from "../fuzz/random.js";
import { GraphDatabase } from "./graphs.js";

const POINTS = 400;
const QUESTIONS = 300;

/** Of the whole earth or plane, with places near poles and the date line. */
function place(random: Random, srid: number): string {
  const isGeographic = srid === 4326 || srid === 4979;
  const unit = () => random.below(100_001) / 100_000;
  const side = (limit: number) => (random.below(4) === 0 ? (random.below(2) * 2 - 1) * limit * (1 - unit() / 50) : 0);
  const [width, height] = isGeographic ? [180, 90] : [1000, 1000];
  const x = side(width) || (unit() * 2 - 1) * width;
  const y = side(height) || (unit() * 2 - 1) * height;
  const z = srid === 4979 || srid === 9157 ? `, z: ${(unit() * 2 - 1) * (isGeographic ? 3_000_000 : 1000)}` : "";
  return `point({x: ${x}, y: ${y}${z}, srid: ${srid}})`;
}

const SRIDS = [4326, 4979, 7203, 9157] as const;

function question(random: Random): string {
  const srid = SRIDS[random.below(4)]!;
  if (random.below(2) === 0) return `point.withinBBox(p.at, ${place(random, srid)}, ${place(random, srid)})`;
  const isGeographic = srid === 4326 || srid === 4979;
  const radius = (isGeographic ? 20_000_000 : 1500) * (random.below(1001) / 1000) ** 3;
  const centre = place(random, srid);
  switch (random.below(4)) {
    case 0:
      return `point.distance(p.at, ${centre}) < ${radius}`;
    case 1:
      return `point.distance(${centre}, p.at) <= ${radius}`;
    case 2:
      return `${radius} > point.distance(p.at, ${centre})`;
    default:
      return `${radius} >= point.distance(${centre}, p.at)`;
  }
}

t.test("with and without an index", async (t) => {
  const db = await GraphDatabase.open(t);
  const random = new Random(7);
  const index = { kind: "create graph index", graph: "default", name: "place_at", method: "point" } as const;
  db.define({ ...index, ifNotExists: false, of: "nodes", label: "Place", properties: ["at"] });
  db.commit((tx) => {
    for (let i = 0; i < POINTS; i++) {
      const at = place(random, SRIDS[random.below(4)]!);
      db.cypher(tx, `CREATE (:Place {i: ${i}, at: ${at}}), (:Plain {i: ${i}, at: ${at}})`);
    }
    for (const at of ["'none'", "1", "[point({x: 1, y: 1})]", "null"])
      db.cypher(tx, `CREATE (:Place {i: -1, at: ${at}})`);
  });
  const found = (label: string, where: string) =>
    db.read((tx) => db.cypher(tx, `MATCH (p:${label}) WHERE ${where} RETURN p.i ORDER BY p.i`).rows);
  let rows = 0;
  for (let i = 0; i < QUESTIONS; i++) {
    const where = question(random);
    const wanted = found("Plain", where);
    rows += wanted.length;
    t.same(found("Place", where), wanted, where);
  }
  t.ok(rows > QUESTIONS, "they find something");
  const centre = "point({longitude: 12.5, latitude: 55.7})";
  const planOf = (where: string) =>
    db.read((tx) => explainText(db.planned(tx, `MATCH (p:Place) WHERE ${where} RETURN p.i`).plan).join("\n"));
  t.match(planOf(`point.distance(p.at, ${centre}) < 1000`), /Index Scan using place_at/);
  t.match(planOf(`1000 >= point.distance(${centre}, p.at)`), /Index Scan using place_at/);
  t.match(planOf(`point.withinBBox(p.at, ${centre}, ${centre})`), /Index Scan using place_at/);
  t.notMatch(planOf(`point.distance(p.at, ${centre}) > 1000`), /place_at/);
  t.same(found("Place", `point.distance(p.at, 1) < 5`), []);
  t.same(found("Place", `point.distance(p.at, ${centre}) < 'far'`), []);
  t.throws(() => found("Place", `point.withinBBox(p.at, 1, 2)`), /points/);
});
