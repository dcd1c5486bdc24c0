/** Sign-in with providers of OpenID Connect, and the providers of tenants. Answered by the directory. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { OidcProvider, PROVIDER_NAME_PATTERN } from "../oidc.js";
import { Token } from "./auth.js";
import { Strict } from "./schemas.js";

const { name: _name, ...described } = OidcProvider.properties;
const { client_secret: _secret, ...shown } = OidcProvider.properties;
const Provider = Type.Object({ ...shown, has_client_secret: Type.Boolean() });

const tenantParam = Type.Object({ tenant: Type.String() });
const providerParam = Type.Object({ tenant: Type.String(), provider: Type.String({ pattern: PROVIDER_NAME_PATTERN }) });
const TenantId = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,62}$" });

export const oidcEndpoints = [
  {
    name: "auth.oidc.providers",
    method: "GET",
    path: "/v1/auth/oidc",
    door: "none",
    summary: "The providers that people can sign in with: the installation's, and those of the named tenant.",
    tag: "auth",
    access: "public",
    home: "directory",
    query: Strict({ tenant: Type.Optional(TenantId) }),
    response: Type.Object({ providers: Type.Array(Type.Object({ id: Type.String(), label: Type.String() })) }),
  },
  {
    name: "auth.oidc.start",
    method: "POST",
    path: "/v1/auth/oidc/start",
    door: "none",
    summary:
      "Begin a sign-in by authorization code with PKCE: send the browser to the address of the answer. What the sign-in needs to end is in a signed cookie that lives ten minutes.",
    tag: "auth",
    access: "public",
    home: "directory",
    keeps: "memory",
    body: Strict({
      provider: Type.String({ minLength: 1, maxLength: 100, description: "An id of GET /v1/auth/oidc." }),
    }),
    example: { body: { provider: "corp" } },
    response: Type.Object({ authorization_url: Type.String() }),
    failures: [502],
  },
  {
    name: "auth.oidc.finish",
    method: "POST",
    path: "/v1/auth/oidc/finish",
    door: "none",
    summary:
      "End the sign-in with what the provider gave to the redirect address. The answer is that of POST /v1/auth/login.",
    tag: "auth",
    access: "public",
    home: "directory",
    audited: true,
    keeps: "memory",
    headers: ["cookie"],
    body: Strict({
      code: Type.String({ minLength: 1, maxLength: 4096 }),
      state: Type.String({ minLength: 1, maxLength: 256 }),
      iss: Type.Optional(Type.String({ maxLength: 1024 })),
    }),
    example: { body: { code: "the code of the redirect", state: "its state" } },
    response: Token,
    failures: [502],
    flat: true,
  },
  {
    name: "auth.oidc.logout",
    method: "POST",
    path: "/v1/auth/oidc/logout",
    door: "none",
    summary:
      "Back-channel logout of OpenID Connect: a provider says that one of its users has signed out, and the user's sessions end.",
    tag: "auth",
    access: "public",
    home: "directory",
    audited: true,
    keeps: "memory",
    body: Strict({
      logout_token: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
      form: Type.Optional(Type.String({ maxLength: 65_536, description: "logout_token, as a form has it." })),
    }),
    textBody: { types: ["application/x-www-form-urlencoded"], is: "form" },
    example: { body: { logout_token: "the provider's token" } },
    response: Type.Object({ logged_out: Type.Boolean({ description: "False: no session of that user was known." }) }),
    failures: [502],
  },
  {
    name: "admin.oidc.list",
    method: "GET",
    path: "/admin/tenants/{tenant}/oidc",
    door: "none",
    summary: "The tenant's own providers of OpenID Connect.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: tenantParam,
    response: Type.Object({ providers: Type.Array(Provider) }),
  },
  {
    name: "admin.oidc.put",
    method: "PUT",
    path: "/admin/tenants/{tenant}/oidc/{provider}",
    door: "none",
    summary:
      "Describe a provider of OpenID Connect for the tenant: its tokens are accepted at once, for this tenant only. Without client_secret the stored one stays, as long as issuer and client_id do.",
    tag: "admin",
    access: "admin",
    home: "directory",
    keeps: "memory",
    params: providerParam,
    body: Strict(described),
    example: {
      params: { tenant: "acme", provider: "corp" },
      body: {
        issuer: "https://login.example.com",
        audience: ["tessera"],
        roles_claim: "groups",
        roles: { staff: "user", "db-admins": "admin" },
      },
    },
    response: Provider,
  },
  {
    name: "admin.oidc.delete",
    method: "DELETE",
    path: "/admin/tenants/{tenant}/oidc/{provider}",
    door: "none",
    summary: "Forget a provider of the tenant. Its users' tokens and sessions stop working at once.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: providerParam,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
