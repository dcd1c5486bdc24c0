/** A sample data set of our own, and queries about it. Everything in it is made up. */
import type { Client } from "../../../../clients/typescript/src/index.js";

export const SAMPLE_TABLE = "sample_voyage";
const LOG = "sample_log";

export interface SampleQuery {
  readonly title: string;
  readonly language: "sql" | "cypher";
  readonly text: string;
  /** How its result is shown, if not as a table. */
  readonly view?: "chart";
  /** Where it is shown, if not among the queries. */
  readonly place?: { readonly path: readonly string[]; readonly query: Readonly<Record<string, string>> };
}

export const SAMPLE_QUERIES: readonly SampleQuery[] = [
  {
    title: "Rows: how much was carried each month?",
    language: "sql",
    view: "chart",
    text: `SELECT date_trunc('month', v.sailed_on)::date AS month, count(*) AS voyages, sum(v.tons) AS tons
FROM sample_voyage v
GROUP BY 1
ORDER BY 1`,
  },
  {
    title: "Joins and windows: which ships carry the most, harbour by harbour?",
    language: "sql",
    text: `SELECT h.name AS harbour, s.name AS ship, sum(v.tons) AS tons,
       rank() OVER (PARTITION BY h.name ORDER BY sum(v.tons) DESC) AS place
FROM sample_voyage v
JOIN sample_ship s ON s.id = v.ship
JOIN sample_harbour h ON h.id = v.harbour
GROUP BY h.name, s.name
ORDER BY h.name, place`,
  },
  {
    title: "Documents: what do the logbooks say of bad weather?",
    language: "sql",
    text: "ship in a storm, waves over the deck",
    place: { path: ["search"], query: { collection: LOG, q: "ship in a storm, waves over the deck" } },
  },
  {
    title: "Graph: who sailed with whom, and who connects the crews?",
    language: "cypher",
    text: "MATCH p = (:Sailor)-[:SAILED_ON]->(:Vessel)\nRETURN p",
    place: { path: ["graph"], query: { label: "Sailor" } },
  },
  {
    title: "All at once: sailors of the ships whose logs sound most like trouble",
    language: "sql",
    text: `SELECT s.name AS ship, l.entry, c.sailor
FROM sample_log l
JOIN sample_ship s ON s.name = l.ship
JOIN cypher('MATCH (p:Sailor)-[:SAILED_ON]->(v:Vessel) RETURN p.name, v.name') AS c(sailor text, vessel text)
  ON c.vessel = s.name
ORDER BY EMBED(l.entry) <=> EMBED('the engine broke and water came in')
LIMIT 12`,
  },
];

const HARBOURS = ["Bergen", "Hull", "Lisbon", "Riga", "Genoa"];
const SHIPS = ["Aurora", "Boreas", "Calypso", "Dagmar", "Esmeralda", "Fjord"];
const SAILORS = ["Ann", "Ben", "Cleo", "Dov", "Eva", "Finn", "Gro", "Hugo", "Ines", "Jan", "Kai", "Lea"];

const ENTRIES: readonly (readonly [ship: string, entry: string])[] = [
  ["Aurora", "Heavy storm from the north-west. Waves broke over the deck all night, and two boats were lost."],
  ["Aurora", "Calm sea. The crew painted the rails and mended nets."],
  ["Boreas", "The engine stopped twice. Water came into the hold through a cracked valve; the pumps held."],
  ["Boreas", "Took on 400 tons of grain at Riga. The loading crane was slow."],
  ["Calypso", "Thick fog before Hull. We sounded the horn every minute and went at four knots."],
  ["Calypso", "Dolphins followed us for an hour. A quiet day with good wind."],
  ["Dagmar", "Gale warning at noon. We turned back to Bergen and waited a day in harbour."],
  ["Dagmar", "The cook is ill. The doctor at Lisbon came aboard and left medicine."],
  ["Esmeralda", "A container came loose in high seas and damaged the railing."],
  ["Esmeralda", "Customs at Genoa took six hours over the papers for the olive oil."],
  ["Fjord", "Ice on the rigging this morning. The young sailors beat it off with mallets."],
  ["Fjord", "New radar fitted. It shows small boats that the old one did not."],
];

const TABLES = [
  "CREATE TABLE sample_harbour (id integer PRIMARY KEY, name text NOT NULL)",
  "CREATE TABLE sample_ship (id integer PRIMARY KEY, name text NOT NULL, length_m integer, built integer)",
  `CREATE TABLE sample_voyage (id integer PRIMARY KEY, ship integer REFERENCES sample_ship, harbour integer REFERENCES sample_harbour,
  sailed_on date NOT NULL, tons integer NOT NULL)`,
];

/** Tables and rows come in one transaction. `tell`: what is being done. */
export async function loadSample(db: Client, tell: (step: string) => void): Promise<void> {
  tell("Tables");
  await db.tx(async (transaction) => {
    for (const table of TABLES) await transaction.query(table);
    for (const [i, name] of HARBOURS.entries())
      await transaction.sql`INSERT INTO sample_harbour VALUES (${i + 1}, ${name})`;
    for (const [i, name] of SHIPS.entries()) {
      await transaction.sql`INSERT INTO sample_ship VALUES (${i + 1}, ${name}, ${60 + i * 17}, ${1984 + i * 6})`;
    }
    await transaction.query(`INSERT INTO sample_voyage
SELECT i, 1 + (i * 7) % 6, 1 + (i * 11 + i / 9) % 5, date '2025-01-03' + (i * 3) / 2,
  (600 + 250 * sin(i / 38.0) + (i * 7919) % 400)::integer
FROM generate_series(1, 400) AS i`);
  });
  tell("Logbooks");
  const logs = db.collection<{ ship: string; entry: string }>(LOG);
  await logs.create({
    fields: [
      { name: "ship", type: "string", required: true },
      { name: "entry", type: "string", required: true, embed: true },
    ],
  });
  await logs.insertMany(ENTRIES.map(([ship, entry]) => ({ ship, entry })));
  tell("Crews");
  const crews = SAILORS.flatMap((name, i) =>
    [0, 1, 3].slice(0, 1 + (i % 3)).map((by) => ({ name, ship: SHIPS[(i + by) % SHIPS.length] })),
  );
  await db.cypher(
    "UNWIND $crews AS c MERGE (p:Sailor {name: c.name}) MERGE (v:Vessel {name: c.ship}) MERGE (p)-[:SAILED_ON]->(v)",
    { crews },
  );
}
