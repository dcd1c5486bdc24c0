/** What SHOW does not list in Cypher, and where that is. */

/** What SHOW lists in SQL alone. */
const SHOWN_BY_SQL: ReadonlySet<string> = new Set(
  "TABLES DATABASES SCHEMAS MODELS COLUMNS AGENTS BACKUPS EXPERIMENTS".split(" "),
);
/** What of a graph SHOW does not list, and where it is. */
const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  GRAPHS: "GET /v1/graph/graphs lists the graphs.",
  LABELS: "CALL db.labels() lists the labels.",
  NODES: "MATCH (n) RETURN n LIMIT 10 shows nodes. CALL db.labels() lists their labels.",
  RELATIONSHIPS: "CALL db.relationshipTypes() lists the types of relationships.",
  RELATIONSHIP: "CALL db.relationshipTypes() lists the types of relationships.",
  PROPERTY: "CALL db.propertyKeys() lists the names of properties.",
  PROPERTIES: "CALL db.propertyKeys() lists the names of properties.",
};

/** `listed`: in upper case. */
export function hintOfShow(listed: string): string {
  if (SHOWN_BY_SQL.has(listed)) return `SHOW ${listed} is SQL. Send it to POST /v1/query/execute.`;
  return (
    SHOWN_ELSEWHERE[listed] ??
    "In Cypher, SHOW lists INDEXES, CONSTRAINTS, PROCEDURES, FUNCTIONS, SETTINGS and TRANSACTIONS. POST /v1/query/execute takes SQL, which lists TABLES, DATABASES and MODELS."
  );
}
