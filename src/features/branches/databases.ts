/**
 * CREATE, ALTER and DROP DATABASE: a database beside the tenant is a branch, which begins empty or as a fork of its
 * template, with the tenant's users.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { callerOf, type Request } from "../../actor/request.js";
import { requireDoor } from "../../actor/table-doors.js";
import { TENANT_ALIASES } from "../../protocol/database-name.js";
import { BRANCH_NAME } from "../../protocol/endpoints/branches.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { isAdministrator } from "../../session/owner.js";
import type { Databases } from "../../session/run-database.js";
import type { DatabaseAction } from "../../sql/parse/ast-definitions.js";
import { NO_ORIGIN } from "../../storage/branch-list.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { dropBranch } from "./branch-life.js";
import { createBranch, findBranch, renameBranch, rootOf } from "./make-branch.js";

/** As PostgreSQL: so long DROP DATABASE waits for sessions that are about to end. */
const SESSIONS_MS = 5000;
const LOOK_MS = 50;

type Create = Extract<DatabaseAction, { action: "create" }>;
type Rename = Extract<DatabaseAction, { action: "rename" }>;
type Alter = Extract<DatabaseAction, { action: "alter" }>;
type Drop = Extract<DatabaseAction, { action: "drop" }>;

export function statementDatabases({ client }: AskingStatement): Databases | null {
  const request = callerOf(client);
  return request === null ? null : new TenantDatabases(request);
}

class TenantDatabases implements Databases {
  constructor(private readonly request: Request) {}

  async run(action: DatabaseAction, signal: AbortSignal | null): Promise<readonly string[]> {
    const { request } = this;
    const verb = `${action.action} database`;
    if (!isAdministrator(request)) throw sqlError("42501", `permission denied to ${verb}`);
    requireDoor(request, "all", verb.toUpperCase());
    request.hasActed = true;
    switch (action.action) {
      case "create":
        return this.create(action);
      case "rename":
        return this.rename(action, signal);
      case "alter":
        return this.alter(action);
      case "drop":
        return this.drop(action, signal);
    }
  }

  private async create({ name, template, notices }: Create): Promise<readonly string[]> {
    this.requireFree(name);
    const origin =
      template === null
        ? NO_ORIGIN
        : this.isTenant(template)
          ? rootOf(this.request)
          : findBranch(this.request, template);
    if (origin === null) throw sqlError("3D000", `template database "${template}" does not exist`);
    await createBranch(this.request, { name }, origin).catch((error: unknown) => {
      throw asExisting(error, name);
    });
    return notices;
  }

  /** Throws 42602, 42P04. */
  private requireFree(name: string): void {
    if (!BRANCH_NAME.test(name)) {
      throw sqlError("42602", `invalid name of a database: "${name}"`, {
        hint: "Names have 1 to 63 characters of a-z, 0-9, - and _, and begin with a letter or a digit.",
      });
    }
    if (this.isTenant(name) || findBranch(this.request, name) !== null) throw exists(name);
  }

  private async rename({ name, newName }: Rename, signal: AbortSignal | null): Promise<readonly string[]> {
    const number = findBranch(this.request, name);
    if (number === null && !this.isTenant(name)) throw missing(name);
    if (this.isOpen(number, name)) throw sqlError("0A000", "current database cannot be renamed");
    if (number === null) throw isTheTenant(name, "A tenant keeps its name.");
    this.requireFree(newName);
    await this.requireUnused(number, name, signal);
    // Others had turns.
    if (findBranch(this.request, name) !== number) throw missing(name);
    await renameBranch(this.request, number, newName).catch((error: unknown) => {
      throw asExisting(error, newName);
    });
    return [];
  }

  private async alter({ name, notices }: Alter): Promise<readonly string[]> {
    if (findBranch(this.request, name) === null && !this.isTenant(name)) throw missing(name);
    return notices;
  }

  private async drop({ name, ifExists, force }: Drop, signal: AbortSignal | null): Promise<readonly string[]> {
    const { partition } = this.request;
    const number = findBranch(this.request, name);
    if (this.isOpen(number, name)) throw sqlError("55006", "cannot drop the currently open database");
    if (this.isTenant(name)) {
      throw isTheTenant(name, "A super administrator deletes a tenant: DELETE /admin/tenants/{tenant}.");
    }
    if (number === null) {
      if (ifExists) return [`database "${name}" does not exist, skipping`];
      throw missing(name);
    }
    if (!force) await this.requireUnused(number, name, signal);
    await dropBranch(partition, number);
    await this.request.durable();
    // Its name is free when the engine has the end.
    await engineHasAll(partition.shard, () => this.request.yieldTurn());
    return [];
  }

  /** Throws 55006 where sessions stay in it. */
  private async requireUnused(number: number, name: string, signal: AbortSignal | null): Promise<void> {
    const { partition } = this.request;
    const until = Date.now() + SESSIONS_MS;
    for (;;) {
      const others = partition.tenant(number).liveSessions.size;
      if (others === 0) return;
      if (Date.now() >= until) {
        const what = others === 1 ? "is 1 other session" : `are ${others} other sessions`;
        throw sqlError("55006", `database "${name}" is being accessed by other users`, {
          detail: `There ${what} using the database.`,
        });
      }
      // What aborts the statement is told at the checkpoint.
      await sleep(LOOK_MS, undefined, signal === null ? {} : { signal }).catch(() => undefined);
      this.request.checkpoint();
    }
  }

  /** The session is in the database of that name, which is the branch of that number or, with null, the tenant. */
  private isOpen(number: number | null, name: string): boolean {
    const { tenant } = this.request;
    return number === tenant.number || (this.isTenant(name) && tenant.number === rootOf(this.request));
  }

  private isTenant(name: string): boolean {
    return name === this.request.head.tenantId || TENANT_ALIASES.has(name);
  }
}

/** The error, which is that of a name that is taken where somebody took it meanwhile. */
function asExisting(error: unknown, name: string): unknown {
  return error instanceof DbError && error.details?.field === "name" ? exists(name) : error;
}

function isTheTenant(name: string, hint: string): DbError {
  return sqlError("0A000", `database "${name}" is the tenant itself`, { hint });
}

function missing(name: string): DbError {
  return sqlError("3D000", `database "${name}" does not exist`);
}

function exists(name: string): DbError {
  return sqlError("42P04", `database "${name}" already exists`);
}
