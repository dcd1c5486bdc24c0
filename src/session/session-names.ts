/**
 * What a session remembers between its statements: settings, values of sequences, its schema of temporary relations.
 * It decides what unqualified names mean, and which cached plans fit. Owned by the session.
 */
import type { Author } from "../catalog/author.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import {
  type Acting,
  actingAs,
  actingAsRole,
  type Login,
  membershipsOf,
  onLead,
  type Rights,
  rightsOf,
} from "../catalog/rights.js";
import { ADMIN_ROLE, type RoleDef } from "../catalog/role.js";
import { startingSettings } from "../catalog/role-settings.js";
import { newTemporarySchema, TEMPORARY_ALIAS } from "../catalog/schema.js";
import type { SequenceNumber } from "../catalog/sequence.js";
import type { SearchIndexDef, TableDef } from "../catalog/table.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { CallExpr } from "../query/expr/expr.js";
import type { SessionRandom } from "../query/expr/functions/seeded-random.js";
import { pgOidOf } from "../query/expr/types.js";
import type { BindEnvironment, BoundSet, SettingsOfRoles } from "../sql/bind/bound-statement.js";
import type { IsolationLevel } from "../sql/parse/ast.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { Transaction } from "../storage/store.js";
import { ArgumentShapes } from "./argument-shapes.js";
import { textShape as textShapeIn } from "./search-index-care.js";
import type { SessionMemory } from "./session-memory.js";
import type { SessionStatements } from "./session-statements.js";
import { REPLICATION_ROLE, Settings, settingText } from "./settings.js";
import type { StatementText } from "./statement-run.js";
import type { Tenant } from "./tenant.js";

/** A role that the session is not, or no longer: it has what everybody has. */
function nobody(name: string): Acting {
  return { name, role: null, superuser: false };
}

const deniedParameter = (name: string) => sqlError("42501", `permission denied to set parameter "${name}"`);

function mayBecome(session: Acting, role: RoleDef, catalog: CatalogView): boolean {
  return session.superuser || membershipsOf(session.role, catalog).has(role.id);
}

/** A NUL ends each part of a key before the text: a text that has some cannot look like other parts. */
const withoutMarks = (sql: string): string => sql.replaceAll("\0", "\0\u0001");

export class SessionNames implements SessionMemory {
  readonly settings: Settings;
  readonly shapes = new ArgumentShapes();
  sequenceValues: Map<number, SequenceNumber> | null = null;
  lastSequence: number | null = null;
  preparedStatements: SessionStatements | null = null;
  /** Of setseed and random. */
  readonly random: SessionRandom = { generator: null };
  private ownSchema: string | null = null;
  /** Whether something may be in the session's own schema. */
  hasTemporaries = false;

  constructor(
    readonly tenant: Tenant,
    private readonly login: Omit<Login, "administrator"> & {
      readonly administrator?: boolean;
      readonly claims?: string;
      readonly database?: string;
      readonly tenantName: string;
      readonly begins?: true;
      readonly isolation: IsolationLevel | null;
      readonly waits?: true;
    },
    isolation: IsolationLevel,
    readonly routines: () => RoutineRunner,
  ) {
    this.settings = new Settings(
      isolation,
      tenant.partition.config.limits.connectionsMax,
      login.user,
      login.claims ?? null,
    );
    if (login.begins) this.begin(login);
  }

  /** Whether the statements are what their user sends: not those of recipes, and not a function's of another role. */
  get isClients(): boolean {
    return this.login.begins === true && this.definer === null;
  }

  /** The session's schema of temporary relations. */
  get temporarySchema(): string {
    this.ownSchema ??= newTemporarySchema();
    return this.ownSchema;
  }

  /** Under what the plan cache knows the statement: plans of sessions that name things as usual are shared. */
  planKey(text: Omit<StatementText, "params">): string {
    const { kept } = text;
    if (kept === undefined || text.waits === true) return this.keyOf(text);
    const { rightsMayMatter } = this;
    // A function that runs with its owner's rights plans nothing under a key that is kept.
    if (this.definer !== null) return this.keyOf(text);
    const { everHadKept, everHadRoles } = this.tenant.catalog;
    const ever = (everHadKept ? 4 : 0) + (everHadRoles ? 8 : 0);
    const names = this.settings.version * 16 + (this.hasTemporaries ? 1 : 0) + (rightsMayMatter ? 2 : 0) + ever;
    if (kept.names !== names) {
      kept.names = names;
      kept.key = this.keyOf(text);
    }
    return kept.key;
  }

  /** False: everybody may do everything. */
  get rightsMayMatter(): boolean {
    return this.isLed || this.tenant.catalog.everHadAccess;
  }

  private keyOf(text: Omit<StatementText, "params">): string {
    const key = this.plainKeyOf(text.sql.includes("\0") ? { ...text, sql: withoutMarks(text.sql) } : text);
    const who = this.rightsMayMatter ? `${this.roleKey}\0` : this.tenant.catalog.everHadKept ? this.openness : "";
    return text.own === true ? `own\0${who}${key}` : `${who}${key}`;
  }

  /**
   * Part of a plan's key where there are tables that features keep for themselves, but no roles' rights: who the
   * session is matters only as far as those are open to it.
   */
  private get openness(): string {
    const { role, sessionAuthorization } = this.settings;
    const isItself = role === null && sessionAuthorization === null && this.definer === null;
    if (!isItself || this.tenant.catalog.everHadRoles) return `${this.roleKey}\0`;
    return this.login.administrator === true ? "administrator\0" : "";
  }

  private plainKeyOf(text: Omit<StatementText, "params">): string {
    const { long, sql, language, graph, waits, declared } = text;
    if (long != null) return `listed\0${long.rows.key}\0${this.plainKeyOf({ ...text, long: null })}`;
    const { searchPath } = this.settings;
    if (declared !== undefined) {
      const types = declared.map((type) => (type === null ? "" : `${pgOidOf(type)}/${type.modifier ?? ""}`));
      return `declared\0${types.join()}\0${this.plainKeyOf({ sql, ...(waits && { waits }) })}`;
    }
    if (waits === true)
      return `waits\0${this.plainKeyOf({ sql, ...(language && { language }), ...(graph && { graph }) })}`;
    if (language !== undefined || graph !== undefined) {
      return `${language ?? ""}\0${graph ?? ""}\0${this.plainKeyOf({ sql })}`;
    }
    if (!this.hasTemporaries && searchPath.length === 1 && searchPath[0] === "public") return sql;
    const own = this.hasTemporaries ? this.temporarySchema : "";
    return `${own}\0${JSON.stringify(this.resolved(searchPath))}\0${sql}`;
  }

  /** The session's temporary relations come first, then the system's, unless the path names them elsewhere. */
  searchPath(catalog: CatalogView): readonly string[] {
    const { searchPath } = this.settings;
    const path = searchPath.includes("$user")
      ? this.resolved(searchPath, this.acting(catalog).name)
      : this.resolved(searchPath);
    const system = path.includes("pg_catalog") ? path : ["pg_catalog", ...path];
    if (!this.hasTemporaries || path.includes(this.temporarySchema)) return system;
    return [this.temporarySchema, ...system];
  }

  private resolved(path: readonly string[], user = this.wantedUser): string[] {
    return path.flatMap((name) => {
      if (name === "$user") return [user];
      if (name === TEMPORARY_ALIAS) return [this.temporarySchema];
      return [name];
    });
  }

  /** The role whose rights a running function has (SECURITY DEFINER); null: the session's own. */
  definer: { readonly role: RoleDef; readonly name: string } | null = null;

  /** What the settings say, whether or not the session may be that role: no more than a part of keys. */
  private get wantedUser(): string {
    const { role, sessionAuthorization } = this.settings;
    return this.definer?.name ?? role ?? sessionAuthorization ?? this.login.user;
  }

  /** The roles that the session is now, as current_user and session_user tell: never one that it may not be. */
  users(tx: Transaction): { readonly user: string; readonly sessionUser: string } {
    const { user } = this.login;
    const { role, sessionAuthorization } = this.settings;
    if (this.definer === null && role === null && sessionAuthorization === null) return { user, sessionUser: user };
    const catalog = this.tenant.catalog.view(tx);
    return {
      user: this.definer?.name ?? this.acting(catalog).name,
      sessionUser: this.sessionActing(catalog).name,
    };
  }

  /** Sessions of one key have the same rights, by the same definitions. */
  get roleKey(): string {
    const { user, administrator = false, memberOf = null, lead = null } = this.login;
    const { role, sessionAuthorization, rowSecurity } = this.settings;
    const definer = this.definer?.role.id ?? null;
    return JSON.stringify([definer, role, sessionAuthorization, user, administrator, memberOf, lead, rowSecurity]);
  }

  /** In sessions of one key names mean the same, with the same rights, by the same definitions. */
  get nameKey(): string {
    const own = this.hasTemporaries ? this.temporarySchema : "";
    return `${own}\0${JSON.stringify(this.resolved(this.settings.searchPath))}\0${this.roleKey}`;
  }

  /** Who the session began as. */
  sessionActing(catalog: CatalogView): Acting {
    const { user } = this.login;
    const own = this.begunAs(catalog);
    const given = this.settings.sessionAuthorization;
    if (given === null || given === user) return own;
    const role = catalog.role(given);
    return own.superuser && role !== null ? actingAsRole(role) : nobody(user);
  }

  private begunAs(catalog: CatalogView): Acting {
    const { administrator = false } = this.login;
    return actingAs(catalog, { ...this.login, administrator });
  }

  /** Who its statements run as. A role that it may not be, or that is gone, has what everybody has. */
  acting(catalog: CatalogView): Acting {
    const freely = this.actingFreely(catalog);
    const acting: Acting = this.settings.rowSecurity ? freely : { ...freely, refusesPolicies: true };
    // A role that is taken later makes no superuser of a key; a function's owner may be one.
    return onLead(this.isLed && this.definer === null ? { ...acting, superuser: false } : acting, this.login.lead);
  }

  private actingFreely(catalog: CatalogView): Acting {
    if (this.definer !== null) return actingAsRole(catalog.roleById(this.definer.role.id) ?? this.definer.role);
    const session = this.sessionActing(catalog);
    const { role: name } = this.settings;
    if (name === null || name === session.name) return session;
    const role = catalog.role(name);
    return role !== null && mayBecome(session, role, catalog) ? actingAsRole(role) : nobody(session.name);
  }

  get isLed(): boolean {
    return this.login.lead !== undefined;
  }

  rights(catalog: CatalogView): Rights {
    return rightsOf(catalog, this.acting(catalog));
  }

  /** Of a feature's own statement. */
  private rightsOfFeature(catalog: CatalogView): Rights {
    return rightsOf(catalog, { ...this.acting(catalog), isFeature: true });
  }

  /** Whether there are rows or columns that its statements may not see. */
  hidesRows(tx: Transaction): boolean {
    if (!this.rightsMayMatter) return false;
    const rights = this.rights(this.tenant.catalog.view(tx));
    return rights.matter && !rights.mayAllThatItMeets;
  }

  hidesTables(tx: Transaction): boolean {
    if (!this.rightsMayMatter) return false;
    const { role, sessionAuthorization } = this.settings;
    // What acts for the request has its sender's rights: a role taken later, or a function's owner, may have less.
    const isAnother = this.definer !== null || role !== null || sessionAuthorization !== null;
    return isAnother && this.hidesRows(tx);
  }

  lends(tx: Transaction): "a member's" | "nobody's" | null {
    if (!this.tenant.catalog.everHadKept) return null;
    const catalog = this.tenant.catalog.view(tx);
    if (!this.begunAs(catalog).superuser || !this.rights(catalog).isShutOut) return null;
    // Who is a superuser by a role stays one as a member.
    return actingAs(catalog, { ...this.login, administrator: false }).superuser ? "nobody's" : "a member's";
  }

  /**
   * Who changes definitions. What it makes is common property where there are no roles. `own`: by a feature's own
   * statement, which makes what is the feature's.
   */
  author(catalog: CatalogView, own = false): Author | null {
    const rights = own ? this.rightsOfFeature(catalog) : this.rights(catalog);
    if (catalog.roles().length === 0 && !rights.ofRoles)
      return rights.opensKept ? null : { rights, maker: null, database: this.database };
    const { role, superuser } = rights.acting;
    const { database } = this;
    return { rights, database, maker: role?.id ?? (superuser ? ADMIN_ROLE.id : null) };
  }

  /** What binding a statement needs to know of the session; `own`: a feature's own statement. */
  environment(catalog: CatalogView, own = false): Omit<BindEnvironment, "parameterTypes"> {
    const { temporarySchema, answersAtOnce } = this;
    const { timeZone } = this.settings;
    const { shapeOf } = this.shapes;
    const searchPath = this.searchPath(catalog);
    const rights = own ? this.rightsOfFeature(catalog) : this.rights(catalog);
    const who = { rights, session: this.sessionActing(catalog), settings: this.ofRoles };
    const textShape = (table: TableDef, index: SearchIndexDef, query: string) =>
      rights.mayAll(table.id, ["r"]) ? textShapeIn(this.tenant, table, index, query) : null;
    return { catalog, searchPath, timeZone, temporarySchema, answersAtOnce, shapeOf, textShape, ...who };
  }

  /** For ALTER ROLE … SET and ALTER DATABASE … SET. */
  private readonly ofRoles: SettingsOfRoles = {
    database: () => this.database,
    text: (name, values) => settingText(name, values),
    current: (name) => this.settings.show(name),
    check: (name, value, catalog) => {
      this.settings.checked(name, value);
      if (name === "session_authorization") throw deniedParameter(name);
      if (name === "role") {
        if (value !== "none" && catalog.role(value) === null) throw sqlError("22023", `role "${value}" does not exist`);
      } else this.checkSetting(name, value, () => catalog);
    },
    isForSuperusers: (name) => name === REPLICATION_ROLE,
  };

  /** EMBED by a model that the actor itself runs. */
  private readonly answersAtOnce = ({ fn, args: [, model] }: CallExpr): boolean => {
    if (fn.name !== "embed" || (model !== undefined && model.kind !== "const")) return false;
    return this.tenant.partition.models.answersAtOnce(model === undefined ? null : (model.value as string | null));
  };

  /** As `checkRole`, for a statement that sets something. */
  checkSet({ name, values }: Pick<BoundSet, "name" | "values">, catalog: CatalogView): void {
    if (values !== null) this.checkSetting(name, values.join(", "), () => catalog);
  }

  /** As `checkRole`, for any setting. Their names have no case. */
  checkSetting(name: string, value: string, catalog: () => CatalogView): void {
    const key = name.toLowerCase();
    if (key === "role" || key === "session_authorization") this.checkRole(key, value, catalog());
    else if (key === REPLICATION_ROLE && !this.rights(catalog()).isSuperuser) throw deniedParameter(key);
  }

  /** Throws 42501, 22023 unless SET ROLE or SET SESSION AUTHORIZATION may take the session to that role. */
  private checkRole(setting: "role" | "session_authorization", name: string, catalog: CatalogView): void {
    if (setting === "role" && name === "none") return;
    const session = this.sessionActing(catalog);
    const { user } = this.login;
    if (name === (setting === "role" ? session.name : user)) return;
    if (this.definer !== null) {
      throw sqlError("42501", `cannot set parameter "${setting}" within security-definer function`);
    }
    const role = catalog.role(name);
    if (role === null) throw sqlError("22023", `role "${name}" does not exist`);
    if (setting === "role") {
      if (!mayBecome(session, role, catalog)) throw sqlError("42501", `permission denied to set role "${name}"`);
    } else if (!this.begunAs(catalog).superuser) {
      throw sqlError("42501", "permission denied to set session authorization");
    }
  }

  /** As clients call it. */
  get database(): string {
    return this.login.database ?? this.login.tenantName;
  }

  /** Why settings that it should have begun with were left out. */
  refusedAtStart: readonly string[] = [];

  /** Begins with what ALTER ROLE and ALTER DATABASE say, which is about who signed in. */
  private begin({ isolation, waits }: { readonly isolation: IsolationLevel | null; readonly waits?: true }): void {
    const { tenant } = this;
    if (tenant.catalog.newestVersion() !== null && !tenant.catalog.everHadRoleSettings) return;
    tenant.withDefinitions((catalog) => {
      if (catalog.roleSettings().length === 0) return;
      // PostgreSQL's protocol asks for no level of its own.
      const isGiven = (name: string) => name === "default_transaction_isolation" && isolation !== null && !waits;
      const starting = startingSettings(catalog, this.begunAs(catalog), this.database);
      this.refusedAtStart = starting
        .filter(({ name }) => !isGiven(name))
        .flatMap((each) => this.startWith(each, catalog));
    });
  }

  /** Answers with why not, where the session's role may not set it any more. */
  private startWith(
    { name, value }: { readonly name: string; readonly value: string },
    catalog: CatalogView,
  ): string[] {
    try {
      this.checkSetting(name, value, () => catalog);
      this.settings.startWith(name, value);
      return [];
    } catch (error) {
      if (error instanceof DbError) return [error.message];
      throw error;
    }
  }

  discardSequences(): void {
    this.sequenceValues = null;
    this.lastSequence = null;
  }
}
