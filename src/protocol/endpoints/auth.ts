/** Sign-in, second factor, the caller's own record, API keys. Answered by the directory. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { LIST_PAGE_MAX } from "../limits.js";
import { MUST_BE } from "../schema-fault.js";
import { Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

export const User = Type.Object({
  id: Type.String(),
  username: Type.String(),
  email: Nullable(Type.String()),
  tenant_id: Type.String(),
  company_id: Type.String(),
  roles: Type.Array(Type.String()),
  is_active: Type.Boolean(),
  is_verified: Type.Boolean(),
  mfa_enabled: Type.Boolean(),
  created_at: Timestamp,
  last_login: Nullable(Timestamp),
});

export const Password = Type.String({ minLength: 8, maxLength: 1024 });

export const Token = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer({ description: "Seconds." }),
  user: User,
});

const MfaChallenge = Type.Object({
  mfa_required: Type.Literal(true),
  mfa_token: Type.String(),
  expires_in: Type.Integer(),
});

/** Text as names are, in a field of a lead. */
const nameOf = {
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f]+$",
  [MUST_BE]: "text without control characters",
};

const Names = (description: string) =>
  Type.Array(Type.String(nameOf), { minItems: 1, maxItems: 200, uniqueItems: true, description });

const budgetOf = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

/** A `Lead`. */
const KeyLead = Type.Object(
  {
    role: Type.Optional(
      Type.String({ ...nameOf, description: "A role of the tenant that the key acts as, in place of its user's." }),
    ),
    tables: Type.Optional(
      Names('Tables and views that its statements may name: "orders", or "sales.orders" in a schema of its own.'),
    ),
    statements: Type.Optional(
      Type.Array(Type.Union([Type.Literal("read"), Type.Literal("write"), Type.Literal("definition")]), {
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
        description: '["read"], ["read", "write"], or all three.',
      }),
    ),
    tools: Type.Optional(Names("Tools that it may call by MCP; then it can do nothing else.")),
    rows_per_day: Type.Optional(budgetOf("Rows of results that it may read in a day of UTC.")),
    bytes_per_day: Type.Optional(budgetOf("Bytes of answers that it may read in a day of UTC.")),
    tokens_per_day: Type.Optional(
      budgetOf("Tokens that models may read and write for it in a day of UTC: texts, chats, agents, embeddings."),
    ),
    models: Type.Optional(Names("Models that it may use, by their names.")),
  },
  {
    additionalProperties: false,
    description: "What the key may do less than its user. A key with a lead administers nothing.",
  },
);

const ApiKey = Type.Object({
  id: Type.String(),
  name: Type.String(),
  key_preview: Type.String(),
  permission: Type.Union([Type.Literal("ReadOnly"), Type.Literal("FullAccess")]),
  lead: Nullable(KeyLead),
  is_active: Type.Boolean(),
  expires_at: Nullable(Timestamp),
  created_at: Timestamp,
  last_used: Nullable(Timestamp),
  usage_count: Type.Integer(),
});

export const authEndpoints = [
  {
    name: "auth.login",
    door: "none",
    method: "POST",
    path: "/v1/auth/login",
    summary: "Exchange a user name and password for an access token.",
    tag: "auth",
    access: "public",
    home: "directory",
    audited: true,
    keeps: "memory",
    body: Strict({
      username: Type.String({ minLength: 1, maxLength: 256 }),
      password: Type.String({ maxLength: 1024 }),
    }),
    example: { body: { username: "ben", password: "correct horse battery" } },
    response: Type.Union([Token, MfaChallenge]),
    flat: true,
  },
  {
    name: "auth.mfa.verify",
    door: "none",
    method: "POST",
    path: "/v1/auth/mfa/verify",
    summary: "Complete a sign-in with a one-time code or a recovery code.",
    tag: "auth",
    access: "public",
    home: "directory",
    audited: true,
    keeps: "memory",
    body: Strict({ mfa_token: Type.String(), code: Type.String({ minLength: 6, maxLength: 64 }) }),
    example: { body: { mfa_token: "the token of the answer to a sign-in", code: "123456" } },
    response: Token,
    flat: true,
  },
  {
    name: "auth.mfa.enroll",
    door: "none",
    method: "POST",
    path: "/v1/auth/mfa/enroll",
    summary: "Begin the enrolment of an authenticator. Confirm it with a first code.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    keeps: "memory",
    body: Strict({}),
    bodyOptional: true,
    example: {},
    response: Type.Object({
      secret: Type.String(),
      otpauth_url: Type.String(),
      recovery_codes: Type.Array(Type.String()),
    }),
  },
  {
    name: "auth.mfa.confirm",
    door: "none",
    method: "POST",
    path: "/v1/auth/mfa/confirm",
    summary: "Confirm the enrolment with the authenticator's current code. From then on, sign-in asks for a code.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    body: Strict({ code: Type.String({ minLength: 6, maxLength: 64 }) }),
    example: { body: { code: "123456" } },
    response: Type.Object({ mfa_enabled: Type.Boolean() }),
  },
  {
    name: "auth.mfa.disable",
    door: "none",
    method: "POST",
    path: "/v1/auth/mfa/disable",
    summary: "Turn the second factor off; needs a current code and the password.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    body: Strict({ code: Type.String({ minLength: 6, maxLength: 64 }), password: Type.String({ maxLength: 1024 }) }),
    example: { body: { code: "123456", password: "correct horse battery" } },
    response: Type.Object({ mfa_enabled: Type.Boolean() }),
  },
  {
    name: "auth.register",
    door: "none",
    method: "POST",
    path: "/v1/auth/register",
    summary: "Create an account, if the operator has enabled registration.",
    tag: "auth",
    access: "public",
    home: "directory",
    audited: true,
    body: Strict({
      username: Type.String({ minLength: 1, maxLength: 256 }),
      email: Type.String({ minLength: 3, maxLength: 320 }),
      password: Password,
    }),
    example: { body: { username: "ben", email: "ben@example.org", password: "correct horse battery" } },
    response: User,
    status: 201,
    flat: true,
  },
  {
    name: "auth.password",
    door: "none",
    method: "POST",
    path: "/v1/auth/password",
    summary: "Change the caller's password; tokens issued before stop working.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    body: Strict({ current_password: Type.String({ maxLength: 1024 }), new_password: Password }),
    status: 204,
    example: { body: { current_password: "correct horse battery", new_password: "another horse battery" } },
  },
  {
    name: "users.me",
    door: "none",
    method: "GET",
    path: "/v1/users/me",
    summary: "The authenticated user.",
    tag: "auth",
    access: "member",
    home: "directory",
    response: User,
  },
  {
    name: "apikeys.create",
    door: "none",
    method: "POST",
    path: "/v1/api-keys",
    summary: "Create an API key for the caller's tenant; the key itself is shown only in this answer.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    keeps: "memory",
    body: Strict({
      name: Type.String({ minLength: 1, maxLength: 256 }),
      permission: Type.Optional(Type.Union([Type.Literal("ReadOnly"), Type.Literal("FullAccess")])),
      expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
      lead: Type.Optional(KeyLead),
    }),
    example: { body: { name: "reports", permission: "ReadOnly", expires_in_days: 90 } },
    response: Type.Object({ api_key: ApiKey, raw_key: Type.String() }),
    status: 201,
    flat: true,
  },
  {
    name: "apikeys.list",
    door: "none",
    method: "GET",
    path: "/v1/api-keys",
    summary: "The tenant's API keys, newest first.",
    tag: "auth",
    access: "member",
    home: "directory",
    pages: { items: "keys", total: "total", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ keys: Type.Array(ApiKey), total: Type.Integer() }),
    flat: true,
  },
  {
    name: "apikeys.delete",
    door: "none",
    method: "DELETE",
    path: "/v1/api-keys/{id}",
    summary: "Delete an API key; it stops working at once.",
    tag: "auth",
    access: "writer",
    home: "directory",
    audited: true,
    params: Type.Object({ id: Type.String() }),
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
