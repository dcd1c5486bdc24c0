/**
 * What a role may do, by one version of the definitions. Binders ask it for each relation that a statement names; the
 * routes that read tables in ways of their own ask it whether they may.
 */
import { DbError, sqlError } from "../protocol/errors.js";
import { holderOf, type Lead, leadAllows, leadOf } from "../protocol/lead.js";
import { type CatalogView, DEFAULT_SCHEMA } from "./catalog-view.js";
import { graphDefOf } from "./graph.js";
import { isOfMemories, keptTables, tablesOfMemories } from "./kept-tables.js";
import { type LedTables, ledTables } from "./led-tables.js";
import {
  type AccessDef,
  MEMBER_ROLE,
  type ObjectKind,
  type PolicyDef,
  type Privilege,
  PUBLIC_ID,
  READ_ALL_ROLE,
  type RoleDef,
  WRITE_ALL_ROLE,
} from "./role.js";
import type { TableDef } from "./table.js";

/** Who a statement runs as. */
export interface Acting {
  readonly name: string;
  /** Null: the name is a user's of whom no statement made a role; it has what everybody has. */
  readonly role: RoleDef | null;
  /** Administrators of the tenant, and roles that are superusers. */
  readonly superuser: boolean;
  /** Of the API key with which somebody signed in: a `Lead` as text. It holds whatever role is taken later. */
  readonly lead?: string;
  /** A feature's own statement, on behalf of somebody: tables that features keep for themselves are open to it. */
  readonly isFeature?: true;
  /** By SET row_security = off: what policies would filter or check is refused. */
  readonly refusesPolicies?: true;
}

/** Rows, not relations: TRUNCATE is not among them. */
const WRITTEN_BY: readonly Privilege[] = ["a", "w", "d"];

export type PolicyCommand = Exclude<PolicyDef["command"], "all">;

export class Rights {
  /** The roles whose privileges it has, itself among them. */
  private readonly has: ReadonlySet<number>;
  private wholly: boolean | null = null;
  private butMemories: boolean | null = null;
  private butUnmet: boolean | null = null;
  private readonly lead: Lead | null;
  /** Null: it may name all that its role may. */
  private readonly led: LedTables | null;
  /** Tables that features keep for themselves. */
  private readonly kept: ReadonlySet<number>;
  /** The table of agents, in which an agent on a lead could change its own; null: it may. */
  private readonly fixed: number | null;
  /** They are closed to it, and there are some. */
  readonly isShutOut: boolean;
  private readonly ofMemories: ReadonlySet<number>;

  constructor(
    readonly catalog: CatalogView,
    readonly acting: Acting,
  ) {
    this.has = inheritedBy(acting.role, catalog);
    this.lead = acting.lead === undefined ? null : leadOf(acting.lead);
    this.led = this.lead?.tables === undefined ? null : ledTables(this.lead.tables, catalog);
    this.kept = keptTables(catalog);
    this.isShutOut = !this.opensKept && this.kept.size > 0;
    this.ofMemories = tablesOfMemories(catalog);
    this.fixed = this.lead?.ofAgent === true ? (catalog.table(DEFAULT_SCHEMA, "_agents")?.id ?? null) : null;
  }

  /** Whether there is anything that it may not do: otherwise nobody has to ask. */
  get matter(): boolean {
    return this.ofRoles || this.isShutOut;
  }

  /** Whether roles or a lead say what it may do, and so each user may do something else. */
  get ofRoles(): boolean {
    return this.catalog.hasAccess || this.lead !== null;
  }

  /** Whether functions that others made may run with less than its own rights. */
  get lendsLess(): boolean {
    return this.ofRoles || (this.kept.size > 0 && !this.isShutOut);
  }

  /** Whether tables that features keep for themselves are open to it. */
  get opensKept(): boolean {
    return this.isSuperuser || this.acting.isFeature === true;
  }

  get isSuperuser(): boolean {
    return this.acting.superuser && this.led === null;
  }

  /** Throws 42501 where the lead of the key leaves definitions as they are. */
  requireDefining(): void {
    if (this.lead === null || leadAllows(this.lead, "definition")) return;
    const holder = holderOf(this.lead);
    throw sqlError("42501", `the ${holder} may not change definitions`, {
      hint: `Use one whose lead's statements include "definition".`,
    });
  }

  /** Of a table that a feature keeps for itself, and of a table, a view or a sequence that the lead leaves out. */
  protected isOutOfReach(objectId: number, privilege: Privilege): boolean {
    if (objectId === this.fixed && privilege !== "r") return true;
    if (this.catalog.hidesMemories === true && !this.isSuperuser && this.ofMemories.has(objectId)) return true;
    return this.isClosed(objectId) || (this.led !== null && !this.led.includes(objectId));
  }

  /** Whether a feature keeps the table for itself, and from this one. */
  isClosed(tableId: number): boolean {
    return this.isShutOut && this.kept.has(tableId);
  }

  /** Whether it has the rights of the role without SET ROLE. */
  hasRole(roleId: number): boolean {
    return this.isSuperuser || this.has.has(roleId);
  }

  /** Whether it owns the object. Common property is owned by nobody in particular. */
  owns(objectId: number): boolean {
    if (this.led !== null || this.isClosed(objectId) || objectId === this.fixed) return false;
    const access = this.catalog.accessTo(objectId);
    return this.isSuperuser || (access !== null && this.has.has(access.owner));
  }

  /** Whether it may change the definition of the object. */
  mayAlter(objectId: number): boolean {
    if (this.led !== null || this.isClosed(objectId) || objectId === this.fixed) return false;
    return this.catalog.accessTo(objectId) === null || this.owns(objectId);
  }

  may(objectId: number, privilege: Privilege): boolean {
    if (this.isOutOfReach(objectId, privilege)) return false;
    if (this.acting.isFeature === true && this.kept.has(objectId)) return true;
    const access = this.catalog.accessTo(objectId);
    if (access === null || this.isSuperuser || this.hasOfAll(access.kind, privilege)) return true;
    return this.granted(access, privilege, (columnId) => columnId === undefined);
  }

  /** What the roles give that are about all relations. */
  private hasOfAll(kind: ObjectKind, privilege: Privilege): boolean {
    const { has } = this;
    const [reads, writes] = [has.has(READ_ALL_ROLE.id), has.has(WRITE_ALL_ROLE.id)];
    if (!reads && !writes) return false;
    if (kind === "schema") return privilege === "U";
    if (kind !== "table" && kind !== "sequence") return false;
    return privilege === "r" ? reads : writes && WRITTEN_BY.includes(privilege);
  }

  /** The columns that it may use so: "all", or their ids. */
  columns(objectId: number, privilege: Privilege): "all" | ReadonlySet<number> {
    if (this.may(objectId, privilege)) return "all";
    if (this.isOutOfReach(objectId, privilege)) return new Set();
    const { grants } = this.catalog.accessTo(objectId)!;
    const own = grants.filter((grant) => grant.privilege === privilege && this.has.has(grant.grantee));
    return new Set(own.flatMap(({ columnId }) => columnId ?? []));
  }

  /** Whether it may hand the privilege on. */
  mayGrant(objectId: number, privilege: Privilege, columnId?: number): boolean {
    if (this.owns(objectId)) return true;
    if (this.isClosed(objectId)) return false;
    const { grants = [] } = this.catalog.accessTo(objectId) ?? {};
    return grants.some(
      (grant) =>
        grant.grantable &&
        grant.privilege === privilege &&
        this.has.has(grant.grantee) &&
        (grant.columnId === undefined || grant.columnId === columnId),
    );
  }

  private granted(access: AccessDef, privilege: Privilege, isFor: (columnId: number | undefined) => boolean): boolean {
    return access.grants.some(
      (grant) => grant.privilege === privilege && isFor(grant.columnId) && this.has.has(grant.grantee),
    );
  }

  /** Whether policies decide which rows of the table it sees and changes; of edges, those of the nodes, too. */
  isRestricted(tableId: number): boolean {
    if (this.isPoliced(tableId)) return true;
    const nodes = this.nodesOf(tableId);
    return nodes !== null && this.isPoliced(nodes.id);
  }

  /** The nodes that the table's rows connect; null: it holds no graph's edges. */
  nodesOf(tableId: number): TableDef | null {
    const table = this.catalog.tableById(tableId);
    return table !== null && graphDefOf(table)?.of === "edges" ? this.catalog.table(table.schema, "nodes") : null;
  }

  /** Whether the table's own policies decide. */
  isPoliced(tableId: number): boolean {
    const access = this.catalog.accessTo(tableId);
    if (!access?.rowSecurity?.enabled || (this.acting.isFeature === true && this.kept.has(tableId))) return false;
    const { role } = this.acting;
    if (this.isSuperuser || role?.bypassRls) return false;
    return access.rowSecurity.forced || !this.has.has(access.owner);
  }

  /** Of a table whose policies decide: the policies that are about it and the command. */
  policies(tableId: number, command: PolicyCommand): readonly PolicyDef[] {
    const { policies = [] } = this.catalog.accessTo(tableId)!;
    return policies.filter(
      (policy) =>
        (policy.command === "all" || policy.command === command) &&
        policy.roles.some((id) => id === PUBLIC_ID || this.has.has(id)),
    );
  }

  /** Whether a query of its may name the relation: it may use the schema, and read a column at least. */
  mayName({ id, schema }: { readonly id: number; readonly schema: string }): boolean {
    const schemaId = this.catalog.schemaId(schema);
    if (schemaId !== null && !this.may(schemaId, "U")) return false;
    const columns = this.columns(id, "r");
    return columns === "all" || columns.size > 0;
  }

  /** Whether it may read and change all of the relation, as if nobody had ever said who may. */
  mayAll(objectId: number, privileges: readonly Privilege[] = ["r", "a", "w", "d"]): boolean {
    return privileges.every((privilege) => this.may(objectId, privilege)) && !this.isRestricted(objectId);
  }

  /**
   * Whether it may read and change every relation wholly: for ways to tables that cannot yet tell what each caller may
   * see of them. Tables that features keep for themselves do not count: what reads all tables leaves those out.
   */
  get mayEverything(): boolean {
    this.wholly ??= this.mayAllOf(() => false);
    return this.wholly;
  }

  /**
   * As `mayEverything`, but others' memories do not count: for ways that read tables by statements of the caller, which
   * refuse memories that it may not read. Otherwise what one user remembers would close them to all others.
   */
  get mayAllButMemories(): boolean {
    this.butMemories ??= this.mayAllOf((tableId) => this.ofMemories.has(tableId));
    return this.butMemories;
  }

  /** As `mayEverything`, but memories do not count that are closed to it wholly and that no view reads. */
  get mayAllThatItMeets(): boolean {
    this.butUnmet ??= this.mayAllOf((tableId) => this.ofMemories.has(tableId) && !this.meets(tableId));
    return this.butUnmet;
  }

  private meets(tableId: number): boolean {
    const { owner, grants = [] } = this.catalog.accessTo(tableId) ?? {};
    if (owner === undefined || this.has.has(owner) || grants.some(({ grantee }) => this.has.has(grantee))) return true;
    const views = [...this.catalog.views(), ...this.catalog.propertyGraphs()];
    return views.some(({ query }) => query.relations.some(({ id }) => id === tableId));
  }

  private mayAllOf(isPassedOver: (tableId: number) => boolean): boolean {
    if (this.led !== null) return false;
    return this.catalog.accesses().every(({ objectId, kind }) => {
      if (kind === "schema") return this.may(objectId, "U");
      if (this.isClosed(objectId) || isPassedOver(objectId)) return true;
      return kind === "table" ? this.mayAll(objectId) : kind !== "sequence" || this.mayAll(objectId, ["r", "w", "U"]);
    });
  }

  /** Of a table of memories that it may not read wholly. */
  hidesMemories(tableId: number): boolean {
    return this.ofMemories.has(tableId) && !this.mayAll(tableId, ["r"]);
  }

  /** Throws 42501 unless it may do that with the whole relation. */
  require(objectId: number, name: string, privilege: Privilege, what = "table"): void {
    if (!this.may(objectId, privilege)) throw permissionDenied(what, name);
  }
}

/**
 * Of the maker of a view, whose query is kept and not run: it may name relations that it may not read, as in
 * PostgreSQL. Who reads the view is asked then.
 */
export class ViewMakersRights extends Rights {
  override may(objectId: number, privilege: Privilege): boolean {
    return super.may(objectId, privilege) || (privilege === "r" && !this.isOutOfReach(objectId, privilege));
  }
}

export function permissionDenied(what: string, name: string): Error {
  const message = `permission denied for ${what} ${name}`;
  if (!isOfMemories({ schema: DEFAULT_SCHEMA, name })) return sqlError("42501", message);
  return sqlError("42501", message, {
    hint: `These memories are another role's, which shares them with GRANT SELECT, INSERT, UPDATE, DELETE ON "${name}" TO a role. Use another namespace for your own.`,
  });
}

/** The roles that it has the privileges of, without SET ROLE. */
function inheritedBy(role: RoleDef | null, catalog: CatalogView): ReadonlySet<number> {
  const found = new Set([PUBLIC_ID, MEMBER_ROLE.id]);
  const visit = (each: RoleDef): void => {
    if (found.has(each.id)) return;
    found.add(each.id);
    for (const { roleId, inherit = each.inherit } of each.memberOf) {
      const next = catalog.roleById(roleId);
      if (next !== null && inherit) visit(next);
    }
  };
  if (role !== null) visit(role);
  return found;
}

/** The roles that it is a member of, also through others: those that it may become by SET ROLE. */
export function membershipsOf(role: RoleDef | null, catalog: CatalogView): ReadonlySet<number> {
  const found = new Set([MEMBER_ROLE.id]);
  const visit = (each: RoleDef): void => {
    if (found.has(each.id)) return;
    found.add(each.id);
    for (const { roleId } of each.memberOf) {
      const next = catalog.roleById(roleId);
      if (next !== null) visit(next);
    }
  };
  if (role !== null) visit(role);
  return found;
}

/** Definitions are immutable, so what follows from them is kept with them. */
const known = new WeakMap<CatalogView, Map<string, Rights>>();

export function rightsOf(catalog: CatalogView, acting: Acting): Rights {
  let byName = known.get(catalog);
  if (byName === undefined) {
    byName = new Map();
    known.set(catalog, byName);
  }
  const also = acting.role === null ? "" : acting.role.memberOf.map(({ roleId }) => roleId).join();
  const key = `${acting.superuser ? 1 : 0}${acting.role?.id ?? ""} ${also} ${acting.isFeature ? 1 : 0}${acting.refusesPolicies ? 1 : 0} ${acting.lead ?? ""}\0${acting.name}`;
  let rights = byName.get(key);
  if (rights === undefined) {
    if (byName.size >= KEPT_MAX) byName.clear();
    rights = new Rights(catalog, acting);
    byName.set(key, rights);
  }
  return rights;
}

const KEPT_MAX = 1000;

/** Who signed in. */
export interface Login {
  readonly user: string;
  readonly administrator: boolean;
  /** As of an `Identity`. */
  readonly memberOf?: readonly string[];
  readonly lead?: string;
}

/**
 * Somebody who signed in. Administrators are superusers. A user is the role of its name if that may log in: whoever
 * takes the name of another role for a username gets nothing by it.
 */
export function actingAs(catalog: CatalogView, login: Login): Acting {
  return login.lead === undefined ? actingFreely(catalog, login) : actingByKey(catalog, login, login.lead);
}

/**
 * A key on a lead never administers, whoever made it. Throws forbidden where its role is not one that its user may take
 * by SET ROLE.
 */
function actingByKey(catalog: CatalogView, login: Login, text: string): Acting {
  const { role, administrator = false } = leadOf(text);
  // Where the lead names a role, that is what the login says of roles.
  const own = actingFreely(
    catalog,
    role === undefined ? { ...login, administrator } : { user: login.user, administrator },
  );
  const acting = role === undefined ? own : actingFreely(catalog, login);
  const isOwn = role === undefined || own.superuser || membershipsOf(own.role, catalog).has(acting.role!.id);
  if (!isOwn) throw new DbError("forbidden", `The API key acts as the role "${role}", which its user is no member of.`);
  return onLead({ ...acting, superuser: false }, text);
}

/** The same on the lead of the key with which it began. */
export function onLead(acting: Acting, lead: string | undefined): Acting {
  return lead === undefined ? acting : { ...acting, lead };
}

function actingFreely(catalog: CatalogView, login: Login): Acting {
  if (login.memberOf !== undefined) return actingByClaims(catalog, login, login.memberOf);
  const named = catalog.role(login.user);
  const role = named?.login && named.id > 0 ? named : null;
  return { name: login.user, role, superuser: login.administrator || role?.superuser === true };
}

/**
 * A user of an issuer whose claims name roles of the tenant: it is the first one, and a member of the others. Throws
 * forbidden for a role that the tenant does not have: less than what the claims mean could be more than they allow.
 */
function actingByClaims(catalog: CatalogView, login: Login, names: readonly string[]): Acting {
  const [first, ...others] = names.map((name) => roleOfClaims(catalog, name));
  const { user: name, administrator } = login;
  const role: RoleDef = {
    ...first!,
    memberOf: [...first!.memberOf, ...others.map(({ id }) => ({ roleId: id, admin: false, inherit: true }))],
  };
  return { name, role, superuser: administrator || [first!, ...others].some(({ superuser }) => superuser) };
}

function roleOfClaims(catalog: CatalogView, name: string): RoleDef {
  const role = catalog.role(name);
  if (role !== null && role.id > 0) return role;
  throw new DbError("forbidden", `The credential stands for the role "${name}", which the tenant does not have.`, {
    hint: `An administrator makes it: CREATE ROLE ${quoted(name)}.`,
  });
}

const quoted = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

export function actingAsRole(role: RoleDef): Acting {
  return { name: role.name, role, superuser: role.superuser };
}
