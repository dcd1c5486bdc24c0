/**
 * Providers of OpenID Connect, as the configuration ([[auth.oidc.providers]]) and administrators of tenants describe
 * them: whose tokens are accepted, and what their claims mean. Members have the names that files and requests use.
 */
import Type from "typebox";
import { ROLES, type Role, SYSTEM_TENANT } from "./identity.js";
import { MUST_BE } from "./schema-fault.js";

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const optional = Type.Optional;

/** Public keys only: what a shared secret signs (HS256) and what nothing signs (none) proves nothing. */
export const TOKEN_ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA"],
] as const;

/** A role of the tenant's own in `roles`: "role:seller". */
const OWN_ROLE = "role:";
const ROLE_PATTERN = `^(${ROLES.join("|")}|${OWN_ROLE}[^\\u0000-\\u001f\\u007f]{1,63})$`;
export const PROVIDER_NAME_PATTERN = "^[a-z0-9][a-z0-9-]{0,31}$";

export const OidcProvider = Type.Object(
  {
    name: Type.String({ pattern: PROVIDER_NAME_PATTERN, description: "1 to 32 characters of a-z, 0-9 and -." }),
    label: optional(Type.String({ minLength: 1, maxLength: 64, description: "On the console's button." })),
    issuer: Type.String({
      pattern: "^https?://[^\\s?#]+$",
      [MUST_BE]: "an address with http:// or https://, without ? and #",
      maxLength: 1024,
      description: "As its tokens name it in iss, to the letter.",
    }),
    audience: Type.Array(text(256), {
      minItems: 1,
      maxItems: 10,
      description: "Bearer tokens have one of them in aud.",
    }),
    roles_claim: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'With dots for nested ones: "realm_access.roles".',
    }),
    roles: Type.Record(
      text(256),
      Type.String({ pattern: ROLE_PATTERN, [MUST_BE]: "super_admin, admin, user or role:NAME" }),
      {
        description: 'By value of the roles claim: "user", "admin", "super_admin", or "role:NAME" of CREATE ROLE.',
      },
    ),
    ignore_unknown_roles: optional(
      Type.Boolean({ description: "Leave aside values that roles does not have. Default: such a token is refused." }),
    ),
    tenant: optional(Type.String({ maxLength: 63, description: "All its users are of this tenant." })),
    tenant_claim: optional(
      Type.String({ minLength: 1, maxLength: 256, description: "The claim that names the tenant." }),
    ),
    tenants: optional(
      Type.Record(text(256), Type.String({ maxLength: 63 }), {
        description: "By value of the tenant claim: the tenant. Default: the value is the tenant's id.",
      }),
    ),
    username_claim: optional(Type.String({ minLength: 1, maxLength: 256, description: "Default: sub." })),
    algorithms: optional(Type.Array(Type.Enum([...TOKEN_ALGORITHMS]), { minItems: 1 })),
    clock_skew_seconds: optional(Type.Integer({ minimum: 0, maximum: 300, description: "Default: 30." })),
    client_id: optional(Type.String({ minLength: 1, maxLength: 256, description: "For signing in with the console." })),
    client_secret: optional(Type.String({ minLength: 1, maxLength: 1024, description: "Absent: a public client." })),
    redirect_uri: optional(
      Type.String({
        pattern: "^https?://[^\\s?#]+$",
        [MUST_BE]: "an address with http:// or https://, without ? and #",
        maxLength: 1024,
        description: "The console's address: https://…/console/.",
      }),
    ),
    scopes: optional(Type.Array(text(128), { maxItems: 20, description: "Default: openid, profile, email." })),
  },
  { additionalProperties: false },
);

export type OidcProviderSpec = Readonly<Type.Static<typeof OidcProvider>>;

export const CLOCK_SKEW_SECONDS = 30;

/** Who may describe it decides what it may do. */
export interface ProviderScope {
  /** The tenant whose administrator described it; null: the operator did. */
  readonly tenant: string | null;
  /** Hosts of issuers that need no public address and no TLS, for tenants' providers. */
  readonly privateHosts: readonly string[];
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i;

/** What is wrong with it beyond the schema; each with the member that it is about. */
export function faultsOf(spec: OidcProviderSpec, scope: ProviderScope): { field: string; message: string }[] {
  const faults: { field: string; message: string }[] = [];
  const check = (holds: boolean, field: string, message: string): void => {
    if (!holds) faults.push({ field, message });
  };
  checkIssuer(spec, scope, check);
  checkTenant(spec, scope, check);
  check(Object.keys(spec.roles).length > 0, "roles", "needs one entry at least");
  check(Object.keys(spec.roles).length <= 1000, "roles", "has at most 1000 entries");
  check(
    (spec.client_id === undefined) === (spec.redirect_uri === undefined),
    "client_id",
    "and redirect_uri go together",
  );
  check(spec.client_secret === undefined || spec.client_id !== undefined, "client_secret", "needs client_id");
  check(spec.scopes === undefined || spec.scopes.includes("openid"), "scopes", 'needs "openid"');
  return faults;
}

type Check = (holds: boolean, field: string, message: string) => void;

function checkIssuer(
  { issuer, redirect_uri }: OidcProviderSpec,
  { tenant, privateHosts }: ProviderScope,
  check: Check,
): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  check(url !== null && url.username === "" && url.password === "", "issuer", "has to be an address without a user");
  if (url === null) return;
  const mayBePlain = tenant === null ? LOOPBACK.test(url.hostname) : privateHosts.includes(url.hostname);
  check(url.protocol === "https:" || mayBePlain, "issuer", "has to be https");
  if (redirect_uri === undefined || !URL.canParse(redirect_uri)) return;
  const { protocol, hostname } = new URL(redirect_uri);
  check(protocol === "https:" || LOOPBACK.test(hostname), "redirect_uri", "has to be https, except on loopback");
}

function checkTenant(spec: OidcProviderSpec, { tenant }: ProviderScope, check: Check): void {
  if (tenant !== null) {
    for (const field of ["tenant", "tenant_claim", "tenants"] as const) {
      check(spec[field] === undefined, field, "is not for a tenant's own provider: its users are of that tenant");
    }
    return;
  }
  check(
    (spec.tenant === undefined) !== (spec.tenant_claim === undefined),
    "tenant",
    "or tenant_claim is needed, and only one of them",
  );
  check(spec.tenants === undefined || spec.tenant_claim !== undefined, "tenants", "needs tenant_claim");
}

/** What a provider's claims mean here. */
export interface ClaimedRoles {
  readonly roles: readonly Role[];
  /** Of the tenant's own. */
  readonly memberOf: readonly string[];
}

/** Of entries of `roles`. Own roles come with the role `user`. */
export function rolesOf(entries: readonly string[]): ClaimedRoles {
  const memberOf = entries.filter((entry) => entry.startsWith(OWN_ROLE)).map((entry) => entry.slice(OWN_ROLE.length));
  const roles = ROLES.filter((role) => entries.includes(role));
  return { roles: roles.length === 0 ? ["user"] : roles, memberOf: [...new Set(memberOf)] };
}

/** The tenant that a value of the tenant claim stands for; null: none. The system's own has to be named expressly. */
export function tenantByClaim({ tenants }: OidcProviderSpec, value: string): string | null {
  if (tenants !== undefined) return Object.hasOwn(tenants, value) ? tenants[value]! : null;
  return value === SYSTEM_TENANT ? null : value;
}
