/** Sign-in, accounts, API keys, tenants: answered from the directory, in partition 0's actor only. */

import { requireSystem, tenantOf } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { pageOf } from "../../bodies/paging.js";
import type { KeyOwner } from "../../directory/api-keys.js";
import type { Directory } from "../../directory/directory.js";
import { DbError } from "../../protocol/errors.js";
import type { Role } from "../../protocol/identity.js";
import type { PartitionLoad } from "../../protocol/placement.js";
import type { Answer } from "../../session/answer.js";
import { findTool } from "../tools/toolbox.js";

/** `loads`: of the partitions that are up; none where they are not known of all. */
export function directoryHandlers(directory: Directory, loads: () => Promise<readonly PartitionLoad[]>) {
  return {
    ...accountHandlers(directory),
    ...keyHandlers(directory),
    ...tenantHandlers(directory, loads),
    ...userHandlers(directory),
  };
}

const plain = <T>(value: T): Answer<T> => ({ plain: value });
/** For the server of another protocol: no envelope. */
const json = (value: unknown): Answer => ({ bytes: Buffer.from(JSON.stringify(value)) });

function accountHandlers(directory: Directory) {
  return {
    "auth.login": async (request, { body }) => {
      request.auditedName = body.username;
      return plain(await directory.login({ ...body, remoteAddress: request.head.remoteAddress }));
    },
    "postgres.challenge": (_request, { body }) => json(directory.scramChallenge(body.username)),
    "postgres.login": (request, { body }) => {
      request.auditedName = body.username;
      return json(directory.scramLogin({ ...body, remoteAddress: request.head.remoteAddress }));
    },
    "auth.mfa.verify": (request, { body }) =>
      plain(directory.verifyMfa({ ...body, remoteAddress: request.head.remoteAddress })),
    "auth.mfa.enroll": (request) => plain(directory.enrolMfa(personOf(request))),
    "auth.mfa.confirm": (request, { body }) =>
      plain({ mfa_enabled: directory.confirmMfa(personOf(request), body.code).mfa_enabled }),
    "auth.mfa.disable": async (request, { body }) =>
      plain({ mfa_enabled: (await directory.disableMfa(personOf(request), body)).mfa_enabled }),
    "auth.register": async (_request, { body }) => plain(await directory.register(body)),
    "auth.password": async (request, { body }) => {
      await directory.changePassword(personOf(request), body.current_password, body.new_password);
      return plain(null);
    },
    // A bearer token of an issuer has roles of its own.
    "users.me": ({ head }) => plain({ ...directory.userById(head.userId), roles: head.roles as readonly Role[] }),
  } satisfies Handlers;
}

/** What touches a person's sign-in needs that person, not a key that the person once made. */
function personOf(request: Request): string {
  if (request.head.keyId !== "") {
    throw new DbError("forbidden", "An API key has no permission to do this; sign in with the user's password.");
  }
  return request.head.userId;
}

function keyHandlers(directory: Directory) {
  return {
    "apikeys.create": (request, { body }) => {
      const { name, permission = "FullAccess", expires_in_days, lead } = body;
      refuseUnknownTools(lead?.tools ?? []);
      const lasting = expires_in_days === undefined ? {} : { expiresInDays: expires_in_days };
      const asked = { name, permission, ...lasting, ...(lead !== undefined && { lead }) };
      return plain(directory.createApiKey(personOf(request), asked));
    },
    "apikeys.list": (request, { query }) => {
      const { items, total } = directory.listApiKeys(keyOwner(request), pageOf(query));
      return plain({ keys: items, total });
    },
    "apikeys.delete": (request, { params }) => {
      directory.deleteApiKey(keyOwner(request), params.id!);
      return plain(null);
    },
  } satisfies Handlers;
}

/** Throws invalid_request for a name that is no tool's: its key could call less than was meant. */
function refuseUnknownTools(names: readonly string[]): void {
  const unknown = names.find((name) => findTool(name) === null);
  if (unknown === undefined) return;
  throw new DbError("invalid_request", `There is no tool "${unknown}".`, {
    field: "lead.tools",
    hint: "GET /v1/mcp/info lists the tools.",
  });
}

function keyOwner({ head }: Request): KeyOwner {
  // The gateway made the roles from an identity.
  return { userId: head.userId, tenantId: head.tenantId, roles: head.roles as readonly Role[] };
}

function tenantHandlers(directory: Directory, loads: () => Promise<readonly PartitionLoad[]>) {
  return {
    "admin.tenants.list": (_request, { query }) => {
      const { items, total } = directory.listTenants(pageOf(query));
      return plain({ tenants: items, total });
    },
    "admin.tenants.create": async (_request, { body }) => {
      const { rate_limit, ...tenant } = body;
      const limit = rate_limit === undefined ? {} : { rateLimit: rateLimitOf(rate_limit) };
      return plain(directory.createTenant({ ...tenant, ...limit }, await loads()));
    },
    "admin.tenants.get": (request, input) => plain(directory.getTenant(tenantOf(request, input))),
    "admin.tenants.update": (request, input) => {
      const { name, is_active, rate_limit } = input.body;
      return plain(
        directory.updateTenant(tenantOf(request, input), {
          ...(name === undefined ? {} : { name }),
          ...(is_active === undefined ? {} : { isActive: is_active }),
          ...(rate_limit === undefined ? {} : { rateLimit: rate_limit === null ? null : rateLimitOf(rate_limit) }),
        }),
      );
    },
  } satisfies Handlers;
}

function rateLimitOf(limit: { per_second: number; burst: number }) {
  return { perSecond: limit.per_second, burst: limit.burst };
}

function userHandlers(directory: Directory) {
  return {
    "admin.users.list": (request, input) => {
      const { items, total } = directory.listUsers(tenantOf(request, input), pageOf(input.query));
      return plain({ users: items, total });
    },
    "admin.users.create": async (request, input) => {
      const tenant = tenantOf(request, input);
      if (input.body.roles?.includes("super_admin")) requireSystem(request);
      return plain(await directory.createUser(tenant, input.body));
    },
    "admin.users.update": (request, input) =>
      plain(directory.setUserActive(tenantOf(request, input), input.params.user!, input.body.is_active)),
    "admin.users.reset": async (request, input) =>
      plain(await directory.resetUserPassword(tenantOf(request, input), input.params.user!, input.body)),
    "admin.users.delete": (request, input) => {
      directory.deleteUser(tenantOf(request, input), input.params.user!);
      return plain(null);
    },
  } satisfies Handlers;
}
