/**
 * pg_catalog's relations about the server and who uses it: databases, roles, methods, languages, extensions, settings.
 */

import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "../../../catalog/extension.js";
import {
  DATABASE_ID,
  EVERY_ROLE_ID,
  LANGUAGE_IDS,
  READ_STATISTICS_ROLE,
  type RoleSettingsDef,
} from "../../../catalog/role.js";
import { toldSettingName } from "../../../protocol/setting-names.js";
import { quantityInUnit, SETTING_UNITS } from "../../../protocol/setting-units.js";
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { oidOfId } from "../../../query/expr/types.js";
import { networkFromText } from "../../../values/network.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { TEXT_SEARCH_CONFIGS } from "../../../values/text-search-configs.js";
import { offsetAt } from "../../../values/time-zone.js";
import type { Value } from "../../../values/values.js";
import { zoneAbbreviation } from "../../../values/zone-abbreviation.js";
import { dictionaryName, dictionaryOid } from "./object-names.js";
import {
  BTREE_OID,
  DATABASE_OWNER_OID,
  HASH_OID,
  HEAP_OID,
  hashedOid,
  LANGUAGE_OIDS,
  OWNER_OID,
  PG_CATALOG_OID,
  PUBLIC_ACCESS,
  PUBLIC_OID,
  SEARCH_METHOD_OIDS,
  schemaOid,
} from "./relation-facts.js";
import { type ListedRole, listedRoles, ownership, roleOid, usesRoles } from "./role-facts.js";
import {
  type DefinedView,
  databaseOid,
  definedRelation,
  type LiveSession,
  liveRelation,
  printedRelation,
  type SystemRow,
  type SystemView,
} from "./system-view.js";

const none = () => [];
const UTF8 = 6;

export const DEFAULT_TABLESPACE_OID = 1663;

/** Of others than the session's own, which have roles of their own, nothing is known here. */
function databaseOwnership(isOwn: boolean, view: DefinedView): SystemRow {
  const { owner, acl } = isOwn ? ownership(view, DATABASE_ID) : { owner: OWNER_OID, acl: null };
  return { datdba: owner, datacl: acl };
}

const pgDatabase = liveRelation("pg_catalog", "pg_database", (view) =>
  view.databases.map(({ oid, name }) => ({
    oid,
    datname: name,
    ...databaseOwnership(name === view.database, view),
    encoding: UTF8,
    datlocprovider: "c",
    datallowconn: true,
    datconnlimit: -1,
    dattablespace: DEFAULT_TABLESPACE_OID,
    datcollate: "C",
    datctype: "C",
  })),
);

const pgTablespace = definedRelation("pg_catalog", "pg_tablespace", none, () => [
  { oid: DEFAULT_TABLESPACE_OID, spcname: "pg_default", spcowner: OWNER_OID },
  { oid: 1664, spcname: "pg_global", spcowner: OWNER_OID },
]);

const NO_RIGHTS: SystemRow = {
  rolsuper: false,
  rolcreaterole: false,
  rolcreatedb: false,
  rolcanlogin: false,
  rolreplication: false,
  rolbypassrls: false,
};

const roleOf = ({ user }: DefinedView): SystemRow => ({
  ...NO_RIGHTS,
  oid: OWNER_OID,
  rolname: user,
  rolinherit: true,
  rolcanlogin: true,
  rolconnlimit: -1,
  rolpassword: "********",
});

const madeRole = ({ catalog }: DefinedView, { oid, role }: ListedRole): SystemRow => ({
  oid,
  rolconfig: settingTexts(catalog.settingsOfRole(role.id), null),
  rolname: role.name,
  rolsuper: role.superuser,
  rolinherit: role.inherit,
  rolcreaterole: role.createRole,
  rolcreatedb: role.createDb,
  rolcanlogin: role.login,
  rolreplication: role.replication,
  rolbypassrls: role.bypassRls,
  rolconnlimit: role.connectionLimit,
  rolpassword: "********",
});

/** Owns the schema public; whoever owns the database is a member. */
const DATABASE_OWNER: SystemRow = {
  ...NO_RIGHTS,
  oid: DATABASE_OWNER_OID,
  rolname: "pg_database_owner",
  rolinherit: true,
  rolconnlimit: -1,
  rolpassword: "********",
};

const roles = ["pg_roles", "pg_authid"].map((name) =>
  definedRelation("pg_catalog", name, (view) =>
    [
      ...(usesRoles(view.catalog) ? listedRoles(view).map((listed) => madeRole(view, listed)) : [roleOf(view)]),
      DATABASE_OWNER,
    ].map((role) => (name === "pg_roles" ? role : { ...role, rolpassword: null })),
  ),
);

/** `name=value` each; NULL where there are none. */
function settingTexts(definition: RoleSettingsDef | null, database: string | null): Value {
  const own = (definition?.settings ?? []).filter((each) => each.database === database);
  return own.length === 0 ? null : sqlArray(own.map(({ name, value }) => `${toldSettingName(name)}=${value}`));
}

const pgDbRoleSetting = liveRelation("pg_catalog", "pg_db_role_setting", function* ({ catalog, databases }) {
  for (const definition of catalog.roleSettings()) {
    const setrole = definition.roleId === EVERY_ROLE_ID ? 0 : roleOid(definition.roleId);
    for (const name of new Set(definition.settings.map(({ database }) => database))) {
      const setdatabase = name === null ? 0 : (databases.find((each) => each.name === name)?.oid ?? null);
      // Of a database that is gone, or of which this is a fork.
      if (setdatabase === null) continue;
      yield { setdatabase, setrole, setconfig: settingTexts(definition, name) };
    }
  }
});

const pgInitPrivs = definedRelation("pg_catalog", "pg_init_privs", ({ catalog }) =>
  catalog.droppedPublic
    ? []
    : [{ objoid: PUBLIC_OID, classoid: 2615, privtype: "i", initprivs: sqlArray(PUBLIC_ACCESS) }],
);

const users = ["pg_user", "pg_shadow"].map((name) =>
  definedRelation("pg_catalog", name, ({ user }) => [
    {
      usename: user,
      usesysid: OWNER_OID,
      usecreatedb: false,
      usesuper: false,
      userepl: false,
      usebypassrls: false,
      passwd: name === "pg_user" ? "********" : null,
    },
  ]),
);

const pgAm = definedRelation("pg_catalog", "pg_am", none, () => [
  { oid: HEAP_OID, amname: "heap", amhandler: 3, amtype: "t" },
  { oid: BTREE_OID, amname: "btree", amhandler: 330, amtype: "i" },
  { oid: HASH_OID, amname: "hash", amhandler: 331, amtype: "i" },
  ...Object.entries(SEARCH_METHOD_OIDS).map(([amname, oid]) => ({
    oid,
    amname,
    amhandler: HANDLERS[amname] ?? 0,
    amtype: "i",
  })),
]);

const HANDLERS: Readonly<Record<string, number>> = { gist: 332, gin: 333, spgist: 334, brin: 335 };

const PLPGSQL_HANDLER = 13_501;
const PLPGSQL_INLINE = 13_502;
const PLPGSQL_VALIDATOR = 13_503;

function languageOwnership(name: string, view: DefinedView): SystemRow {
  const id = languageId(name);
  const { owner, acl } = id === null ? { owner: OWNER_OID, acl: null } : ownership(view, id);
  return { lanowner: owner, lanacl: acl };
}

export const languageId = (name: string): number | null =>
  name === "sql" || name === "plpgsql" ? LANGUAGE_IDS[name] : null;

const pgLanguage = definedRelation("pg_catalog", "pg_language", (view) =>
  Object.entries(LANGUAGE_OIDS).map(([lanname, oid]) => ({
    oid,
    lanname,
    ...languageOwnership(lanname, view),
    lanispl: lanname === "plpgsql",
    lanpltrusted: lanname === "plpgsql" || lanname === "sql",
    ...(lanname === "plpgsql" && {
      lanplcallfoid: PLPGSQL_HANDLER,
      laninline: PLPGSQL_INLINE,
      lanvalidator: PLPGSQL_VALIDATOR,
    }),
  })),
);

/** What is below 16384 is built in, and dumps leave it out. */
export const BUILT_IN_EXTENSION_OID = 13_420;

const pgExtension = definedRelation("pg_catalog", "pg_extension", (view) => [
  {
    oid: BUILT_IN_EXTENSION_OID,
    extname: BUILT_IN_EXTENSION,
    extowner: OWNER_OID,
    extnamespace: PG_CATALOG_OID,
    extrelocatable: false,
    extversion: AVAILABLE_EXTENSIONS.get(BUILT_IN_EXTENSION)!.version,
  },
  ...view.catalog.extensions().map(({ id, name }) => ({
    oid: oidOfId(id),
    extname: name,
    extowner: OWNER_OID,
    extnamespace: schemaOid("public", view),
    extrelocatable: true,
    extversion: AVAILABLE_EXTENSIONS.get(name)?.version ?? null,
  })),
]);

const pgAvailableExtensions = definedRelation("pg_catalog", "pg_available_extensions", (view) => {
  const made = createdExtensions(view);
  return [...AVAILABLE_EXTENSIONS].map(([name, { version, comment }]) => ({
    name,
    default_version: version,
    installed_version: made.has(name) ? version : null,
    comment,
  }));
});

const pgAvailableExtensionVersions = definedRelation("pg_catalog", "pg_available_extension_versions", (view) => {
  const made = createdExtensions(view);
  return [...AVAILABLE_EXTENSIONS].map(([name, { version, comment }]) => ({
    name,
    version,
    installed: made.has(name),
    superuser: false,
    trusted: true,
    relocatable: name !== BUILT_IN_EXTENSION,
    schema: name === BUILT_IN_EXTENSION ? "pg_catalog" : null,
    comment,
  }));
});

function createdExtensions({ catalog }: DefinedView): ReadonlySet<string> {
  return new Set([BUILT_IN_EXTENSION, ...catalog.extensions().map(({ name }) => name)]);
}

/** Facts about the server, which nobody can set. */
const INTERNAL =
  /^(?:server_|block_size|data_checksums|integer_datetimes|max_(?:connections|function_args|identifier_length|index_keys))/;

const pgSettings = liveRelation("pg_catalog", "pg_settings", ({ settings }) =>
  settings.map(([name, shown]) => {
    const unit = Object.hasOwn(SETTING_UNITS, name) ? SETTING_UNITS[name]! : null;
    const setting = unit === null ? shown : quantityInUnit(name, shown);
    const vartype = /^(?:on|off)$/.test(setting) ? "bool" : /^-?\d+$/.test(setting) ? "integer" : "string";
    return {
      name: toldSettingName(name),
      setting,
      unit,
      category: "Session",
      short_desc: "",
      context: INTERNAL.test(name) ? "internal" : "user",
      vartype,
      source: "session",
      pending_restart: false,
    };
  }),
);

const WAIT_EVENTS: Readonly<Record<string, string>> = { transaction: "transactionid", advisory: "advisory" };

/**
 * Whether the asker may see what the user's sessions do: its own, those of roles that it has, and all if it is a
 * superuser or has pg_read_all_stats.
 */
function maySee(user: string, { catalog, rights }: Pick<SystemView, "catalog" | "rights">): boolean {
  if (!rights.ofRoles || rights.isSuperuser || rights.acting.name === user) return true;
  if (rights.hasRole(READ_STATISTICS_ROLE.id)) return true;
  const role = catalog.role(user);
  return role?.login === true && rights.hasRole(role.id);
}

/** Sessions of PostgreSQL's protocol, which its functions take by their numbers. */
const ofPostgres = (sessions: Iterable<LiveSession>): readonly LiveSession[] =>
  [...sessions].filter(({ protocol }) => protocol === "postgresql");

/** Requests of HTTP are over before anybody could look. */
const pgStatActivity = liveRelation("pg_catalog", "pg_stat_activity", (view) => {
  const { liveSessions, database, locks } = view;
  const waits = new Map(
    [...locks].filter(({ waitsSinceMicros }) => waitsSinceMicros !== null).map((lock) => [lock.pid, lock]),
  );
  return ofPostgres(liveSessions).map((session) => ({
    datid: databaseOid(view),
    datname: database,
    pid: session.number,
    usesysid: OWNER_OID,
    usename: session.user,
    application_name: session.application,
    client_addr: session.address === "" ? null : networkFromText("inet", session.address),
    backend_start: session.startedMicros,
    xact_start: session.transactionMicros,
    query_start: session.statementMicros,
    state_change: session.changedMicros,
    wait_event_type: waits.has(session.number) ? "Lock" : null,
    wait_event: WAIT_EVENTS[waits.get(session.number)?.kind ?? "none"] ?? null,
    state: session.state,
    query: maySee(session.user, view) ? session.statement : "<insufficient privilege>",
    backend_type: "client backend",
  }));
});

/** Of what nobody counts there is nothing to tell. */
const pgStatDatabase = liveRelation("pg_catalog", "pg_stat_database", (view) => [
  {
    datid: databaseOid(view),
    datname: view.database,
    numbackends: ofPostgres(view.liveSessions).length,
    xact_commit: view.transactionCounts?.committed ?? null,
    xact_rollback: view.transactionCounts?.rolledBack ?? null,
    stats_reset: view.transactionCounts?.sinceMicros ?? null,
  },
]);

const pgCursors = liveRelation("pg_catalog", "pg_cursors", ({ cursors }) =>
  cursors.map(({ canScroll, options }) => ({
    name: options.name,
    statement: options.sql,
    is_holdable: options.hold,
    is_binary: options.binary,
    is_scrollable: canScroll,
    creation_time: options.createdAt,
  })),
);

export const PARSER_OID = 3722;
const FIRST_CONFIG_OID = 3748;
const placed = { cfgnamespace: PG_CATALOG_OID, cfgowner: OWNER_OID };

/** `simple` is the first of PostgreSQL's, too. */
export const configOid = (name: string, i: number) => (i === 0 ? FIRST_CONFIG_OID : hashedOid("text search", name));

const pgTsConfig = definedRelation("pg_catalog", "pg_ts_config", none, () =>
  TEXT_SEARCH_CONFIGS.map((cfgname, i) => ({ ...placed, oid: configOid(cfgname, i), cfgname, cfgparser: PARSER_OID })),
);

const pgTsParser = definedRelation("pg_catalog", "pg_ts_parser", none, () => [
  {
    oid: PARSER_OID,
    prsname: "default",
    prsnamespace: PG_CATALOG_OID,
    prsstart: 3717,
    prstoken: 3718,
    prsend: 3719,
    prsheadline: 3720,
    prslextype: 3721,
  },
]);

export const SIMPLE_TEMPLATE_OID = 3727;
export const STEM_TEMPLATE_OID = hashedOid("text search template", "snowball");

const pgTsTemplate = definedRelation("pg_catalog", "pg_ts_template", none, () => [
  { oid: SIMPLE_TEMPLATE_OID, tmplname: "simple", tmplnamespace: PG_CATALOG_OID, tmplinit: 3725, tmpllexize: 3726 },
  { oid: STEM_TEMPLATE_OID, tmplname: "snowball", tmplnamespace: PG_CATALOG_OID },
]);

const pgTsDict = definedRelation("pg_catalog", "pg_ts_dict", none, () =>
  TEXT_SEARCH_CONFIGS.map((config) => ({
    oid: dictionaryOid(config),
    dictname: dictionaryName(config),
    dictnamespace: PG_CATALOG_OID,
    dictowner: OWNER_OID,
    dicttemplate: config === "simple" ? SIMPLE_TEMPLATE_OID : STEM_TEMPLATE_OID,
    dictinitoption: config === "simple" ? null : `language = '${config}'`,
  })),
);

/**
 * Kinds of words (ts_token_type) that are not written in ASCII letters alone, or that are no words, stay as they are.
 */
const STEMMED_TOKENS = new Set([1, 2, 10, 11, 16, 17]);
const TOKENS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 21, 22];

const pgTsConfigMap = definedRelation("pg_catalog", "pg_ts_config_map", none, () =>
  TEXT_SEARCH_CONFIGS.flatMap((config, i) =>
    TOKENS.map((maptokentype) => ({
      mapcfg: configOid(config, i),
      maptokentype,
      mapseqno: 1,
      mapdict: dictionaryOid(STEMMED_TOKENS.has(maptokentype) ? config : "simple"),
    })),
  ),
);

const pgTimezoneNames = printedRelation("pg_catalog", "pg_timezone_names", function* () {
  const now = new Date();
  for (const name of ["UTC", ...Intl.supportedValuesOf("timeZone").filter((other) => other !== "UTC")]) {
    const minutes = offsetMinutes(name, now);
    const summer = Math.max(offsetMinutes(name, JANUARY), offsetMinutes(name, JULY));
    const isDst = minutes === summer && offsetMinutes(name, JANUARY) !== offsetMinutes(name, JULY);
    const utc_offset = { months: 0, days: 0, micros: minutes * 60_000_000 };
    yield { name, abbrev: zoneAbbreviation(name, now.getTime() * 1000), utc_offset, is_dst: isDst };
  }
});

registerTableFunction(Object.freeze({ ...pgTimezoneNames.rows, name: "pg_timezone_names" }));

const JANUARY = new Date(Date.UTC(2026, 0, 15));
const JULY = new Date(Date.UTC(2026, 6, 15));

const offsetMinutes = (timeZone: string, at: Date) => offsetAt(timeZone, at.getTime() * 1000) / 60;

export const PG_SERVER = [
  pgDatabase,
  pgTablespace,
  ...roles,
  pgDbRoleSetting,
  pgInitPrivs,
  ...users,
  pgAm,
  pgLanguage,
  pgExtension,
  pgAvailableExtensions,
  pgAvailableExtensionVersions,
  pgSettings,
  pgStatActivity,
  pgStatDatabase,
  pgCursors,
  pgTsConfig,
  pgTsParser,
  pgTsTemplate,
  pgTsDict,
  pgTsConfigMap,
  pgTimezoneNames,
];
