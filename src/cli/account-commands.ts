/** `tessera tenants`, `users` and `api-keys`: who may use a running server. Exit codes: api-client.ts. */
import type { Command } from "commander";
import { type ApiClient, secretOf } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect } from "./client-command.js";
import { listed, told } from "./listing.js";

interface TenantOption extends ClientOptions {
  readonly tenant?: string;
}

interface UserOptions extends TenantOption {
  readonly newPasswordFile?: string;
  readonly email?: string;
  readonly role?: string;
}

interface KeyOptions extends ClientOptions {
  readonly readOnly?: true;
  readonly days?: string;
}

type AddUserCommand = <O extends TenantOption>(
  usage: string,
  description: string,
  work: Parameters<typeof addClientCommand<O>>[3],
) => Command;

const PAGE = "?limit=1000";
const at = encodeURIComponent;

export function addAccountCommands(program: Command): void {
  addTenantCommands(program.command("tenants").description("list, make, change and delete tenants"));
  addUserCommands(program.command("users").description("list, make and change a tenant's users"));
  addApiKeyCommands(program.command("api-keys").description("list, make and delete the tenant's API keys"));
}

function addTenantCommands(tenants: Command): void {
  addClientCommand(tenants, "list", "all tenants", async (options) => {
    const data = await (await connect(options)).call("GET", `/admin/tenants${PAGE}`);
    return listed(data, data.tenants, ["id", "name", "is_active", "partition", "created_at"], "There are no tenants.");
  });
  addClientCommand<ClientOptions & { name?: string }>(
    tenants,
    "create <id>",
    "make a tenant",
    async (options, [id]) => {
      const body = { id, ...(options.name !== undefined && { name: options.name }) };
      return told(await (await connect(options)).call("POST", "/admin/tenants", body));
    },
  ).option("--name <name>", "as people call it");
  addClientCommand<ClientOptions & { confirm?: string }>(
    tenants,
    "delete <id>",
    "delete a tenant with all that it has",
    async (options, [id]) => {
      const confirmed = options.confirm === undefined ? "" : `?confirm=${at(options.confirm)}`;
      return told(await (await connect(options)).call("DELETE", `/admin/tenants/${at(id!)}${confirmed}`));
    },
  ).option("--confirm <id>", "the tenant's id once more: nothing brings its data back");
  for (const [command, isActive] of [
    ["disable", false],
    ["enable", true],
  ] as const) {
    addClientCommand(tenants, `${command} <id>`, `${command} a tenant`, async (options, [id]) =>
      told(await (await connect(options)).call("PATCH", `/admin/tenants/${at(id!)}`, { is_active: isActive })),
    );
  }
}

function addUserCommands(users: Command): void {
  const add: AddUserCommand = (usage, description, work) =>
    addClientCommand(users, usage, description, work).option(
      "--tenant <tenant>",
      "whose users (default: the caller's)",
    );
  add("list", "the users of a tenant", async (options) => {
    const { client, path } = await usersOf(options);
    const data = await client.call("GET", path + PAGE);
    const members = ["username", "email", "roles", "is_active", "mfa_enabled", "last_login"];
    return listed(data, data.users, members, "There are no users.");
  });
  add<UserOptions>("create <name>", "make a user", async (options, [username]) => {
    const { client, path } = await usersOf(options);
    const password = secretOf(options.newPasswordFile, process.env.TESSERA_NEW_PASSWORD);
    const { email, role } = options;
    // The server makes a password where none is given.
    const first = password ?? crypto.randomUUID();
    const user = await client.call("POST", path, {
      username,
      password: first,
      ...(email !== undefined && { email }),
      ...(role !== undefined && { roles: [role] }),
    });
    return told(password === null ? { ...user, password: first } : user);
  })
    .option(
      "--new-password-file <file>",
      "the password (default: $TESSERA_NEW_PASSWORD, or a random one, which is printed)",
    )
    .option("--email <address>", "of the user")
    .option("--role <role>", "user, admin, or super_admin, who manages the tenant's users");
  for (const [command, isActive] of [
    ["disable", false],
    ["enable", true],
  ] as const) {
    add(`${command} <name>`, `${command} a user`, async (options, [name]) => {
      const { client, path } = await usersOf(options);
      return told(await client.call("PATCH", `${path}/${at(name!)}`, { is_active: isActive }));
    });
  }
  addPasswordReset(add);
  add("delete <name>", "delete a user with its API keys", async (options, [name]) => {
    const { client, path } = await usersOf(options);
    await client.call("DELETE", `${path}/${at(name!)}`);
    return { data: { deleted: name }, lines: [`${name} was deleted`] };
  });
}

function addPasswordReset(add: AddUserCommand): void {
  add<UserOptions>(
    "reset-password <name>",
    "set a new password, and end the user's sessions",
    async (options, [name]) => {
      const { client, path } = await usersOf(options);
      const password = secretOf(options.newPasswordFile, process.env.TESSERA_NEW_PASSWORD);
      const { user, password: made } = await client.call(
        "POST",
        `${path}/${at(name!)}/reset-password`,
        password === null ? {} : { password },
      );
      return told({ username: user.username, ...(made !== undefined && { password: made }) });
    },
  ).option(
    "--new-password-file <file>",
    "the password (default: $TESSERA_NEW_PASSWORD, or a random one, which is printed)",
  );
}

/** A client, and the path of the tenant's users. */
async function usersOf(options: TenantOption): Promise<{ readonly client: ApiClient; readonly path: string }> {
  const client = await connect(options);
  const tenant = options.tenant ?? (await client.call("GET", "/v1/users/me")).tenant_id;
  return { client, path: `/admin/tenants/${at(tenant)}/users` };
}

function addApiKeyCommands(keys: Command): void {
  addClientCommand(keys, "list", "the tenant's API keys, newest first", async (options) => {
    const data = await (await connect(options)).call("GET", `/v1/api-keys${PAGE}`);
    const members = ["id", "name", "permission", "key_preview", "expires_at", "last_used"];
    return listed(data, data.keys, members, "There are no API keys.");
  });
  addClientCommand<KeyOptions>(
    keys,
    "create <name>",
    "make an API key, and print it this once",
    async (options, [name]) => {
      const answer = await (await connect(options)).call("POST", "/v1/api-keys", {
        name,
        permission: options.readOnly ? "ReadOnly" : "FullAccess",
        ...(options.days !== undefined && { expires_in_days: Number(options.days) }),
      });
      return { data: answer, lines: [answer.raw_key] };
    },
  )
    .option("--read-only", "it reads, and changes nothing")
    .option("--days <days>", "it ends after so many days");
  addClientCommand(keys, "delete <id>", "delete an API key: it stops working at once", async (options, [id]) => {
    await (await connect(options)).call("DELETE", `/v1/api-keys/${at(id!)}`);
    return { data: { deleted: id }, lines: [`${id} was deleted`] };
  });
}
