/** The questions in SQL, over n (id) and e (src, dst) with indexes both ways. */
import { DAMPING, ITERATIONS, type Question, STEPS_MAX } from "./side.js";

export const SCHEMA = `
  CREATE TABLE n (id integer PRIMARY KEY);
  CREATE TABLE e (src integer NOT NULL, dst integer NOT NULL);`;

export const INDEXES = `
  CREATE INDEX e_src ON e (src, dst);
  CREATE INDEX e_dst ON e (dst, src);`;

/** $1, $2: the node, or the pair. */
export const SQL: Readonly<Partial<Record<Question, string>>> = {
  "2 hops from one node": "SELECT count(*) FROM e x JOIN e y ON y.src = x.dst WHERE x.src = $1",
  "all paths of 2 hops": "SELECT count(*) FROM e x JOIN e y ON y.src = x.dst",
  "3 hops, distinct nodes": `
    WITH RECURSIVE r (id, d) AS (
      SELECT CAST($1 AS integer), 0 UNION SELECT e.dst, r.d + 1 FROM r JOIN e ON e.src = r.id WHERE r.d < 3)
    SELECT count(DISTINCT id) FROM r WHERE d > 0`,
  triangles: "SELECT count(*) FROM e x JOIN e y ON y.src = x.dst JOIN e z ON z.src = y.dst AND z.dst = x.src",
  "shortest path": `
    WITH RECURSIVE r (id, d) AS (
      SELECT CAST($1 AS integer), 0 UNION SELECT e.dst, r.d + 1 FROM r JOIN e ON e.src = r.id WHERE r.d < ${STEPS_MAX})
    SELECT d FROM r WHERE id = $2 LIMIT 1`,
};

/** Steps of PageRank, then the question for the ten best. No node is without an arrow. */
export function pageRankSteps(real: string): { readonly steps: readonly string[]; readonly answer: string } {
  const steps = [
    "DROP TABLE IF EXISTS rank0",
    `CREATE TEMPORARY TABLE rank0 AS
       SELECT n.id, CAST(1 AS ${real}) / (SELECT count(*) FROM n) AS r,
              (SELECT count(*) FROM e WHERE src = n.id) AS arrows FROM n`,
  ];
  for (let i = 0; i < ITERATIONS; i++) {
    steps.push(
      `CREATE TEMPORARY TABLE rank1 AS
         SELECT rank0.id, (1 - ${DAMPING}) / (SELECT count(*) FROM n) + ${DAMPING} * coalesce(s.r, 0) AS r, rank0.arrows
         FROM rank0 LEFT JOIN (SELECT e.dst, sum(f.r / f.arrows) AS r FROM rank0 f JOIN e ON e.src = f.id GROUP BY e.dst) s
           ON s.dst = rank0.id`,
      "DROP TABLE rank0",
      "ALTER TABLE rank1 RENAME TO rank0",
    );
  }
  return { steps, answer: "SELECT id, r FROM rank0 ORDER BY r DESC, id LIMIT 10" };
}
