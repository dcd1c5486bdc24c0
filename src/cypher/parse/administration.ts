/** What Neo4j administers by statements of Cypher, and where it is here. */

const COMMANDS: ReadonlySet<string> = new Set(
  "CREATE DROP ALTER RENAME SHOW START STOP GRANT DENY REVOKE ENABLE DEALLOCATE REALLOCATE DRYRUN".split(" "),
);

const GRAPHS = "a database is a graph, which POST /v1/graph/graphs makes and DELETE /v1/graph/graphs/{name} deletes";
const USERS = "POST /admin/tenants/{tenant}/users makes users, and its siblings change and delete them";
const USERS_SHOWN = "GET /admin/tenants/{tenant}/users lists the users";
const ROLES = "CREATE ROLE, DROP ROLE and GRANT are SQL";
const ROLES_SHOWN = "SELECT rolname FROM pg_roles, which is SQL, lists the roles";
const PRIVILEGES = "GRANT and REVOKE of privileges on tables are SQL";
const PRIVILEGES_SHOWN = "SELECT * FROM information_schema.role_table_grants, which is SQL, lists the privileges";
const ALIASES = "a graph has one name";
const COMPOSITES = "a statement is about one graph, which USE may name";
const SERVERS = "GET /admin/cluster tells of the nodes of a cluster, which its configuration makes";

/** By what a command is about: how it is changed, and how it is shown. The first that a command names decides. */
const REMEDIES: Readonly<Record<string, readonly [changed: string, shown: string]>> = {
  DATABASE: [GRAPHS, "SHOW DATABASES lists the graphs"],
  ALIAS: [ALIASES, ALIASES],
  ALIASES: [ALIASES, ALIASES],
  COMPOSITE: [COMPOSITES, COMPOSITES],
  USER: [USERS, USERS_SHOWN],
  USERS: [USERS, USERS_SHOWN],
  ROLE: [ROLES, ROLES_SHOWN],
  ROLES: [ROLES, ROLES_SHOWN],
  PRIVILEGE: [PRIVILEGES, PRIVILEGES_SHOWN],
  PRIVILEGES: [PRIVILEGES, PRIVILEGES_SHOWN],
  SERVER: [SERVERS, SERVERS],
  SERVERS: [SERVERS, SERVERS],
};

/** The remedy of commands whatever they are about. */
const OF_COMMAND: Readonly<Record<string, string>> = {
  GRANT: PRIVILEGES,
  DENY: `${PRIVILEGES}, and what is not granted is denied`,
  REVOKE: PRIVILEGES,
  ENABLE: SERVERS,
  DEALLOCATE: SERVERS,
  REALLOCATE: SERVERS,
  DRYRUN: SERVERS,
};

/** `CREATE OR REPLACE COMPOSITE DATABASE`, `SHOW USER name PRIVILEGES`. */
export const COMMAND_WORDS_MAX = 4;

/**
 * What the command is, and the remedy: `CREATE USER is not a statement here: …`; null: it is none of administration.
 * `words`: those with which the statement begins, in upper case, "" for what is no word.
 */
export function administrationRefused(words: readonly string[]): string | null {
  const [command = ""] = words;
  if (!COMMANDS.has(command)) return null;
  const later = words.slice(1);
  if (command === "ALTER" && later[0] === "CURRENT" && later[1] === "USER") {
    return "ALTER CURRENT USER is not a statement here: POST /v1/auth/password changes your password";
  }
  const privileges = later.find((word) => word.startsWith("PRIVILEGE"));
  const what = (command === "SHOW" ? privileges : undefined) ?? later.find((word) => REMEDIES[word] !== undefined);
  const remedy = OF_COMMAND[command] ?? (what === undefined ? null : REMEDIES[what]![command === "SHOW" ? 1 : 0]);
  if (remedy === null) return null;
  const name = OF_COMMAND[command] === undefined ? `${command} ${what}` : command;
  return `${name} is not a statement here: ${remedy}`;
}
