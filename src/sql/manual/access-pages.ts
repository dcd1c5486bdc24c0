/** Pages of the manual about roles, privileges and policies. */
import type { AccessStatement } from "../parse/ast-access.js";
import type { StatementPage } from "./statement-page.js";

export const ACCESS_PAGES: Readonly<Record<AccessStatement["kind"], StatementPage>> = {
  "create role": {
    titles: ["CREATE ROLE", "CREATE USER", "CREATE GROUP"],
    syntax: `CREATE {ROLE | USER | GROUP} name [[WITH] {SUPERUSER | CREATEROLE | CREATEDB | INHERIT | LOGIN | BYPASSRLS | NO…
  | IN ROLE role, … | ROLE role, … | ADMIN role, … | CONNECTION LIMIT n | VALID UNTIL 'time'} …]`,
    description:
      "Makes a role of the tenant. A user who signs in is the role of its name, if that may log in. Administrators of the tenant are superusers of it, and everybody has the role member. Roles have no passwords: users have them. PASSWORD in CREATE ROLE is ignored, and a notice says so; in ALTER ROLE it is refused.",
    example: "CREATE ROLE reader; CREATE ROLE clerk IN ROLE reader",
  },
  "alter role": {
    titles: ["ALTER ROLE", "ALTER USER", "ALTER GROUP"],
    syntax: "ALTER ROLE name [WITH] option …, ALTER GROUP name {ADD | DROP} USER role, …",
    description: "Changes a role's attributes, or its members.",
    example: "ALTER ROLE clerk NOINHERIT; ALTER ROLE clerk INHERIT",
  },
  "role setting": {
    titles: ["ALTER ROLE … SET", "ALTER DATABASE … SET"],
    syntax: `ALTER ROLE {name | ALL} [IN DATABASE name] {SET name {TO | =} {value | DEFAULT} | SET name FROM CURRENT | RESET {name | ALL}}
ALTER DATABASE name {SET … | RESET …}`,
    description:
      "Says what sessions of a role begin with, and what RESET goes back to: those of PostgreSQL's protocol and Bolt, and what runs statements over HTTP and WebSockets. A setting of a role in a database counts more than one of the role, that more than one of the database, and least one of ALL. Administrators are the role admin; who has no role of its own is the role member. Everybody may change its own role's. Each database (branch) has settings of its own.",
    example: "ALTER ROLE clerk SET statement_timeout = '5s'; ALTER ROLE clerk RESET ALL",
  },
  "rename role": {
    titles: ["ALTER ROLE … RENAME"],
    syntax: "ALTER ROLE name RENAME TO name",
    description: "Renames a role. Grants, owners and policies go on meaning it.",
    example: "ALTER ROLE clerk RENAME TO seller",
  },
  "grant role": {
    titles: ["GRANT role", "REVOKE role"],
    syntax: `GRANT role, … TO role, … [WITH {ADMIN | INHERIT} {OPTION | TRUE | FALSE}]
REVOKE [{ADMIN | INHERIT} OPTION FOR] role, … FROM role, …`,
    description:
      "Makes a role a member of another one. It has that one's privileges, unless it is NOINHERIT, and may become it by SET ROLE.",
    example: "CREATE ROLE manager; GRANT seller TO manager WITH ADMIN OPTION",
  },
  grant: {
    titles: ["GRANT", "REVOKE"],
    syntax: `GRANT {privilege [(column, …)], … | ALL} ON {[TABLE] name, … | SEQUENCE name, … | FUNCTION name [(types)], … | SCHEMA name, …
  | GRAPH name, … | ALL GRAPHS | COLLECTION name, … | MODEL name, … | DATABASE name | TYPE name, … | DOMAIN name, … | LANGUAGE {sql | plpgsql}, …
  | ALL {TABLES | SEQUENCES | FUNCTIONS} IN SCHEMA name, …} TO {role | PUBLIC}, … [WITH GRANT OPTION]
REVOKE [GRANT OPTION FOR] … FROM {role | PUBLIC}, … [CASCADE | RESTRICT]
privilege: SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER, USAGE, CREATE, EXECUTE, CONNECT, TEMPORARY`,
    description:
      "Gives privileges, or takes them. Objects of which nobody has said anything are common property: everybody may do everything. The first GRANT or REVOKE makes them the administrators', with all privileges granted to member. REVOKE … FROM PUBLIC takes from member, too. Graphs and collections have the privileges of their tables, trained models USAGE.",
    example: `CREATE TABLE stock (item text PRIMARY KEY, pieces int, price numeric, branch text);
REVOKE ALL ON stock FROM member;
GRANT SELECT, INSERT ON stock TO seller;
GRANT UPDATE (pieces) ON stock TO seller`,
  },
  "default privileges": {
    titles: ["ALTER DEFAULT PRIVILEGES"],
    syntax: `ALTER DEFAULT PRIVILEGES [FOR ROLE role, …] [IN SCHEMA name, …]
  {GRANT … | REVOKE …} ON {TABLES | SEQUENCES | FUNCTIONS | SCHEMAS | TYPES} {TO | FROM} {role | PUBLIC}, …`,
    description: "Says what may be done with objects that the role makes from now on.",
    example: "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader",
  },
  "alter access": {
    titles: ["ALTER TABLE … OWNER TO", "ALTER TABLE … ROW LEVEL SECURITY"],
    syntax: `ALTER {TABLE | VIEW | SEQUENCE | COLLECTION | GRAPH | MODEL} name OWNER TO role
ALTER TABLE name {ENABLE | DISABLE | FORCE | NO FORCE} ROW LEVEL SECURITY
ALTER VIEW name SET (security_invoker = {true | false})`,
    description:
      "Changes who owns a relation, a graph or a trained model, and whether policies decide about its rows. Policies are not about superusers and BYPASSRLS, nor about the owner unless they are forced. A view runs with its owner's rights unless it says security_invoker, or nobody owns it.",
    example: "ALTER TABLE stock ENABLE ROW LEVEL SECURITY",
  },
  "alter owner": {
    titles: ["ALTER FUNCTION … OWNER TO", "ALTER SCHEMA … OWNER TO", "ALTER TYPE … OWNER TO"],
    syntax: "ALTER {FUNCTION | PROCEDURE | ROUTINE | SCHEMA | TYPE | DOMAIN} name OWNER TO role",
    description: "Changes who owns the object.",
    example: "CREATE SCHEMA shop; ALTER SCHEMA shop OWNER TO manager; DROP SCHEMA shop",
  },
  "create policy": {
    titles: ["CREATE POLICY"],
    syntax: `CREATE POLICY name ON table [AS {PERMISSIVE | RESTRICTIVE}] [FOR {ALL | SELECT | INSERT | UPDATE | DELETE}]
  [TO {role | PUBLIC}, …] [USING (condition)] [WITH CHECK (condition)]`,
    description:
      "Says which rows the roles see (USING) and may store (WITH CHECK). Of permissive policies one has to be true, of restrictive ones all. Without a policy there are no rows. They count once the table has ROW LEVEL SECURITY enabled.",
    example: `CREATE POLICY own_branch ON stock TO seller USING (branch = current_user) WITH CHECK (branch = current_user)`,
  },
  "alter policy": {
    titles: ["ALTER POLICY"],
    syntax: "ALTER POLICY name ON table [TO role, …] [USING (condition)] [WITH CHECK (condition)]",
    description: "Changes a policy.",
    example: "ALTER POLICY own_branch ON stock TO seller, manager",
  },
  "rename policy": {
    titles: ["ALTER POLICY … RENAME"],
    syntax: "ALTER POLICY name ON table RENAME TO name",
    description: "Renames a policy.",
    example: "ALTER POLICY own_branch ON stock RENAME TO branch",
  },
  "drop policy": {
    titles: ["DROP POLICY"],
    syntax: "DROP POLICY [IF EXISTS] name ON table",
    description: "Removes a policy.",
    example: "DROP POLICY branch ON stock",
  },
  owned: {
    titles: ["REASSIGN OWNED", "DROP OWNED"],
    syntax: "REASSIGN OWNED BY role, … TO role; DROP OWNED BY role, … [CASCADE | RESTRICT]",
    description:
      "Gives what a role owns to another one; drops what it owns, and takes away all privileges that it has.",
    example: "DROP TABLE stock; REASSIGN OWNED BY seller TO manager; DROP OWNED BY seller",
  },
  "drop role": {
    titles: ["DROP ROLE", "DROP USER", "DROP GROUP"],
    syntax: "DROP ROLE [IF EXISTS] name, …",
    description: "Removes a role that owns nothing and has no privileges.",
    example: `ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM reader;
DROP ROLE seller, manager, reader`,
  },
};
