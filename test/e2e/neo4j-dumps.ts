/**
 * One small graph in the forms that `apoc.export.cypher` documents: for cypher-shell, plain, with parameters, with
 * MERGE and one statement for each node, and for the shell of Neo4j 3. Of the nodes, people have a unique name.
 */
const PEOPLE = `[{name:"Ada; \\"L\\"", properties:{born:1815, tall:1.0, tags:["x", "y;z"], since:date('2018-10-30')}}, {name:"Bob's", properties:{at:point({x: 12.5, y: 55.7, crs: 'wgs-84'}), back:"a\\\\"}}]`;
const OTHERS = `[{_id:7, properties:{text:"line\\n:commit\\n", when:datetime('2020-01-02T03:04:05.6Z'), took:duration('P1DT2S')}}, {_id:9, properties:{}}]`;
const KNOWS = `[{start: {name:"Ada; \\"L\\""}, end: {name:"Bob's"}, properties:{w:2}}]`;
const WROTE = `[{start: {name:"Ada; \\"L\\""}, end: {_id:7}, properties:{}}, {start: {name:"Bob's"}, end: {_id:9}, properties:{note:"; :begin"}}]`;

const SCHEMA = `CREATE RANGE INDEX FOR (n:Post) ON (n.text);
CREATE FULLTEXT INDEX found FOR (n:Post|Person) ON EACH [n.\`text\`,n.\`name\`];
CREATE CONSTRAINT one_name FOR (node:Person) REQUIRE (node.name) IS UNIQUE;
CREATE CONSTRAINT UNIQUE_IMPORT_NAME FOR (node:\`UNIQUE IMPORT LABEL\`) REQUIRE (node.\`UNIQUE IMPORT ID\`) IS UNIQUE;
`;
const nodes = (people: string, others: string) => `UNWIND ${people} AS row
CREATE (n:Person{name: row.name}) SET n += row.properties;
UNWIND ${others} AS row
CREATE (n:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`: row._id}) SET n += row.properties SET n:Post:\`Odd; name\`;
`;
const relationships = `UNWIND ${KNOWS} AS row
MATCH (start:Person{name: row.start.name})
MATCH (end:Person{name: row.end.name})
CREATE (start)-[r:KNOWS]->(end) SET r += row.properties;
UNWIND ${WROTE} AS row
MATCH (start:Person{name: row.start.name})
MATCH (end:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`: row.end._id})
CREATE (start)-[r:WROTE]->(end) SET r += row.properties;
`;
const CLEANED = `MATCH (n:\`UNIQUE IMPORT LABEL\`)  WITH n LIMIT 20000 REMOVE n:\`UNIQUE IMPORT LABEL\` REMOVE n.\`UNIQUE IMPORT ID\`;
`;
const DROPPED = `DROP CONSTRAINT UNIQUE_IMPORT_NAME;
`;
const DROPPED_BEFORE_5 = `DROP CONSTRAINT ON (node:\`UNIQUE IMPORT LABEL\`) ASSERT (node.\`UNIQUE IMPORT ID\`) IS UNIQUE;
`;
const SCHEMA_BEFORE_5 = `CREATE INDEX ON :Post(text);
CREATE CONSTRAINT ON (node:Person) ASSERT (node.name) IS UNIQUE;
CREATE CONSTRAINT ON (node:\`UNIQUE IMPORT LABEL\`) ASSERT (node.\`UNIQUE IMPORT ID\`) IS UNIQUE;
`;

/** One statement for each, as with `useOptimizations: {type: "NONE"}` and `cypherFormat: "updateAll"`. */
const ONE_BY_ONE = `MERGE (n:Person{name:"Ada; \\"L\\""}) SET n.born=1815, n.tall=1.0, n.tags=["x", "y;z"], n.since=date('2018-10-30');
MERGE (n:Person{name:"Bob's"}) SET n.at=point({x: 12.5, y: 55.7, crs: 'wgs-84'}), n.back="a\\\\";
MERGE (n:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`:7}) SET n.text="line\\n:commit\\n", n.when=datetime('2020-01-02T03:04:05.6Z'), n.took=duration('P1DT2S'), n:Post:\`Odd; name\`;
MERGE (n:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`:9}) SET n:Post:\`Odd; name\`;
MATCH (n1:Person{name:"Ada; \\"L\\""}), (n2:Person{name:"Bob's"}) MERGE (n1)-[r:KNOWS]->(n2) SET r.w=2;
MATCH (n1:Person{name:"Ada; \\"L\\""}), (n2:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`:7}) MERGE (n1)-[r:WROTE]->(n2);
MATCH (n1:Person{name:"Bob's"}), (n2:\`UNIQUE IMPORT LABEL\`{\`UNIQUE IMPORT ID\`:9}) MERGE (n1)-[r:WROTE]->(n2) SET r.note="; :begin";
`;

const begun = (begin: string, end: string, ...parts: readonly string[]) =>
  parts.map((part) => `${begin}\n${part}${end}\n`).join("");

export const NEO4J_DUMPS = {
  "cypher-shell": `${begun(":begin", ":commit", SCHEMA)}CALL db.awaitIndexes(300);
${begun(":begin", ":commit", nodes(PEOPLE, OTHERS), relationships, CLEANED, DROPPED)}`,
  plain: SCHEMA + nodes(PEOPLE, OTHERS) + relationships + CLEANED + DROPPED,
  parameters: `${begun(":begin", ":commit", SCHEMA)}CALL db.awaitIndexes(300);
:begin
:param people => ${PEOPLE}
:param others => ${OTHERS}
${nodes("$people", "$others")}:commit
${begun(":begin", ":commit", relationships, CLEANED, DROPPED)}`,
  "one by one": SCHEMA + ONE_BY_ONE + CLEANED + DROPPED,
  "neo4j-shell": `${begun("begin", "commit", SCHEMA_BEFORE_5)}schema await
${begun("begin", "commit", nodes(PEOPLE, OTHERS), relationships, CLEANED, DROPPED_BEFORE_5)}`,
} as const;

/** What the graph holds then. */
export const DUMPED = {
  nodes: "MATCH (n) RETURN labels(n) AS l, properties(n) AS p ORDER BY l DESC, n.name, n.text",
  relationships:
    "MATCH (a:Person)-[r:KNOWS|WROTE]->(b) RETURN a.name, type(r) AS t, properties(r), b.name, b.text ORDER BY t, a.name",
  constraints: "SHOW CONSTRAINTS YIELD labelsOrTypes, properties",
};
