/**
 * A tenant's users: create, list, disable, reset password, delete. Called by the `Directory`; state is in the records.
 */

import { randomUUID } from "node:crypto";
import type { CreateUserRequest, Listed, Page, UserView } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { ROLES, type Role, SYSTEM_TENANT } from "../protocol/identity.js";
import { EMAIL_CHARACTERS_MAX, USERNAME_CHARACTERS_MAX } from "../protocol/limits.js";
import type { Transaction } from "../storage/store.js";
import { passwordSecrets } from "./credential-checks.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  addUser,
  boundedPage,
  getTenant,
  getUser,
  getUserByName,
  listUsers,
  putUser,
  removeUser,
} from "./directory-store.js";
import { checkNewPassword, generatePassword } from "./password.js";
import type { TenantRecord, UserRecord } from "./records.js";
import { requirePassword, userView } from "./views.js";

/** Throws `tenant_not_found`, `conflict` ("already exists"), `invalid_request`. */
export async function createUser(
  context: DirectoryContext,
  tenantId: string,
  request: CreateUserRequest,
  isVerified: boolean,
): Promise<UserView> {
  const { username, password, email = null, companyId = tenantId } = request;
  checkUsername(username);
  checkEmail(email);
  checkNewPassword(password);
  const roles = checkedRoles(request.roles ?? ["user"]);
  // Asked before the hash is made too, so that a name that is taken costs nothing.
  read(context, (tx) => checkNameIsFree(tx, tenantId, username));
  const id = randomUUID();
  const secrets = await passwordSecrets(context, id, password);
  return write(context, (tx) => {
    checkNameIsFree(tx, tenantId, username);
    const user: UserRecord = {
      id,
      username,
      email,
      tenantId,
      companyId,
      roles,
      ...secrets,
      isActive: true,
      isVerified,
      mfa: null,
      createdAt: context.now(),
      lastLogin: null,
      tokenEpoch: 0,
    };
    addUser(tx, user);
    return userView(user);
  });
}

export function listTenantUsers(context: DirectoryContext, tenantId: string, page: Page): Listed<UserView> {
  return read(context, (tx) => {
    existingTenant(tx, tenantId);
    const { records, total } = listUsers(tx, tenantId, boundedPage(page));
    return { items: records.map(userView), total };
  });
}

/** Disabling revokes the user's tokens, also for when it is enabled again. */
export function setUserActive(
  context: DirectoryContext,
  tenantId: string,
  idOrName: string,
  isActive: boolean,
): UserView {
  return write(context, (tx, announce) => {
    const user = userOfTenant(tx, tenantId, idOrName);
    if (user.isActive === isActive) return userView(user);
    if (!isActive) checkNotLastAdministrator(tx, user);
    const changed = { ...user, isActive, tokenEpoch: isActive ? user.tokenEpoch : user.tokenEpoch + 1 };
    putUser(tx, changed);
    announce({ kind: "user", userId: user.id, ended: !isActive });
    return userView(changed);
  });
}

export interface PasswordReset {
  readonly user: UserView;
  /** The new password, when it was made up here. */
  readonly password?: string;
}

/** Sets the given password or a made-up one and revokes the user's tokens; `clearMfa` removes the second factor too. */
export async function resetUserPassword(
  context: DirectoryContext,
  tenantId: string,
  idOrName: string,
  options: { readonly password?: string; readonly clearMfa?: boolean },
): Promise<PasswordReset> {
  const password = options.password ?? generatePassword();
  checkNewPassword(password);
  const found = read(context, (tx) => userOfTenant(tx, tenantId, idOrName));
  requirePassword(found);
  const { id } = found;
  const secrets = await passwordSecrets(context, id, password);
  const user = write(context, (tx, announce) => {
    const current = userOfTenant(tx, tenantId, id);
    const mfa = options.clearMfa ? null : current.mfa;
    const changed = { ...current, ...secrets, mfa, tokenEpoch: current.tokenEpoch + 1 };
    putUser(tx, changed);
    announce({ kind: "user", userId: id });
    return userView(changed);
  });
  return options.password === undefined ? { user, password } : { user };
}

/** Deletes the user with its API keys. */
export function deleteUser(context: DirectoryContext, tenantId: string, idOrName: string): void {
  write(context, (tx, announce) => {
    const user = userOfTenant(tx, tenantId, idOrName);
    checkNotLastAdministrator(tx, user);
    removeUser(tx, user);
    announce({ kind: "user", userId: user.id, ended: true });
  });
}

export function existingTenant(tx: Transaction, id: string): TenantRecord {
  const tenant = getTenant(tx, id);
  if (tenant === undefined || tenant.ending) throw new DbError("tenant_not_found", `Tenant "${id}" does not exist.`);
  return tenant;
}

function userOfTenant(tx: Transaction, tenantId: string, idOrName: string): UserRecord {
  existingTenant(tx, tenantId);
  const user = getUser(tx, idOrName) ?? getUserByName(tx, idOrName);
  if (user === undefined || user.tenantId !== tenantId) {
    throw new DbError("not_found", `User "${idOrName}" does not exist in tenant "${tenantId}".`);
  }
  return user;
}

function checkNameIsFree(tx: Transaction, tenantId: string, username: string): void {
  existingTenant(tx, tenantId);
  if (getUserByName(tx, username) !== undefined) {
    throw new DbError("conflict", `User "${username}" already exists.`);
  }
}

/** Without an active super_admin in the system tenant nobody could administer the installation any more. */
function checkNotLastAdministrator(tx: Transaction, user: UserRecord): void {
  if (user.tenantId !== SYSTEM_TENANT || !isActiveAdministrator(user)) return;
  const everybody = listUsers(tx, SYSTEM_TENANT, { limit: Number.POSITIVE_INFINITY }).records;
  if (everybody.some((other) => other.id !== user.id && isActiveAdministrator(other))) return;
  throw new DbError(
    "forbidden",
    `"${user.username}" is the last active super administrator; nobody has permission to remove or disable it.`,
  );
}

function isActiveAdministrator(user: UserRecord): boolean {
  // An issuer that cannot be reached must not lock everybody out.
  return user.isActive && user.federated === undefined && user.roles.includes("super_admin");
}

function checkUsername(username: string): void {
  if (username.length > USERNAME_CHARACTERS_MAX || !/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._@+-]*$/u.test(username)) {
    throw new DbError(
      "invalid_request",
      `The username must have 1 to ${USERNAME_CHARACTERS_MAX} characters: letters, digits and . _ @ + -, ` +
        "beginning with a letter or digit.",
    );
  }
}

function checkEmail(email: string | null): void {
  if (email !== null && (email.length > EMAIL_CHARACTERS_MAX || !/^[^\s@]+@[^\s@]+$/.test(email))) {
    throw new DbError("invalid_request", "The email address is not valid.");
  }
}

function checkedRoles(roles: readonly Role[]): readonly Role[] {
  const unknown = roles.find((role) => !ROLES.includes(role));
  if (unknown !== undefined || roles.length === 0) {
    throw new DbError("invalid_request", `Roles are one or more of ${ROLES.join(", ")}.`);
  }
  return ROLES.filter((role) => roles.includes(role));
}
