/**
 * The providers of OpenID Connect that the directory knows: those of the configuration, and those that administrators
 * have described for their tenants. An issuer and an audience together belong to one provider only, and those of the
 * configuration come first, so a token never has to be guessed about. Called by the `Directory`; state is in the
 * records.
 */
import type { OidcProviderView } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { faultsOf, type OidcProviderSpec } from "../protocol/oidc.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  addOidcProvider,
  getOidcProvider,
  isOidcIssuer,
  listAllOidcProviders,
  listOidcProviders,
  oidcProviderFor,
  oidcProvidersFor,
  removeOidcProvider,
} from "./directory-store.js";
import type { FederatedRecord, OidcProviderRecord } from "./records.js";
import { existingTenant } from "./users.js";

const PER_TENANT_MAX = 20;
/** Of one token. */
const AUDIENCES_MAX = 16;

export interface KnownProvider {
  /** "corp" of the configuration, "acme/corp" of a tenant. */
  readonly key: string;
  /** Whose administrator described it; null: the operator did. */
  readonly tenant: string | null;
  readonly spec: OidcProviderSpec;
}

const configured = ({ config }: DirectoryContext): readonly OidcProviderSpec[] =>
  config.oidc.providers as readonly OidcProviderSpec[];

const ofConfiguration = (spec: OidcProviderSpec): KnownProvider => ({ key: spec.name, tenant: null, spec });

function ofTenant(
  { clientSecrets }: DirectoryContext,
  { tenantId, spec, clientSecret }: OidcProviderRecord,
): KnownProvider {
  const key = `${tenantId}/${spec.name}`;
  const secret = clientSecret === null ? {} : { client_secret: clientSecrets.open(key, clientSecret) };
  return { key, tenant: tenantId, spec: { ...spec, ...secret } };
}

export function listOidcProviderViews(context: DirectoryContext, tenantId: string): OidcProviderView[] {
  return read(context, (tx) => {
    existingTenant(tx, tenantId);
    return listOidcProviders(tx, tenantId).map(viewOf);
  });
}

function viewOf({ spec, clientSecret }: OidcProviderRecord): OidcProviderView {
  return { ...spec, has_client_secret: clientSecret !== null };
}

/** Without `client_secret` the one that is stored stays, as long as the issuer and the client do. */
export function putOidcProvider(
  context: DirectoryContext,
  tenantId: string,
  given: OidcProviderSpec,
): OidcProviderView {
  const { client_secret, ...spec } = given;
  const privateHosts = context.config.oidc.tenantPrivateHosts;
  const [fault] = faultsOf(given, { tenant: tenantId, privateHosts });
  if (fault !== undefined) {
    throw new DbError("invalid_request", `${fault.field} ${fault.message}.`, { field: fault.field });
  }
  return write(context, (tx, announce) => {
    existingTenant(tx, tenantId);
    const key = `${tenantId}/${spec.name}`;
    checkNames(context, tenantId);
    const before = getOidcProvider(tx, key);
    if (before === undefined && listOidcProviders(tx, tenantId).length >= PER_TENANT_MAX) {
      throw new DbError("conflict", `A tenant can have at most ${PER_TENANT_MAX} providers; delete one first.`);
    }
    checkIsFree(context, tx, key, spec);
    const isSameClient = before?.spec.issuer === spec.issuer && before.spec.client_id === spec.client_id;
    const kept = isSameClient ? before.clientSecret : null;
    const clientSecret = client_secret === undefined ? kept : context.clientSecrets.seal(key, client_secret);
    if (before !== undefined) removeOidcProvider(tx, before);
    const record = { tenantId, spec, clientSecret, createdAt: before?.createdAt ?? context.now() };
    addOidcProvider(tx, record);
    // What was accepted by the old description is judged anew.
    announce({ kind: "tenant", tenantId });
    return viewOf(record);
  });
}

function checkIsFree(
  context: DirectoryContext,
  tx: Transaction,
  key: string,
  { issuer, audience }: OidcProviderSpec,
): void {
  const { tenantsShareIssuers } = context.config.oidc;
  if (!tenantsShareIssuers && configured(context).some((other) => other.issuer === issuer)) {
    throw new DbError(
      "conflict",
      `issuer: ${issuer} is configured for the installation. Ask its operator for the tenant's users to be let in; the setting auth.oidc.tenants_share_issuers lets tenants describe such issuers themselves.`,
      { field: "issuer" },
    );
  }
  for (const each of audience) {
    const isConfigured = configured(context).some((other) => other.issuer === issuer && other.audience.includes(each));
    const holder = oidcProviderFor(tx, issuer, each);
    if (!isConfigured && (holder === undefined || holder === key)) continue;
    throw new DbError(
      "conflict",
      `audience: tokens of ${issuer} for "${each}" belong to another provider of this installation. Use an audience of your own.`,
      { field: "audience" },
    );
  }
}

/** "corp/acme:ada" is a user of the installation's provider "corp" in the tenant "acme", and of nobody else. */
function checkNames(context: DirectoryContext, tenantId: string): void {
  const isTaken = configured(context).some((other) => other.name === tenantId && other.tenant_claim !== undefined);
  if (!isTaken) return;
  throw new DbError(
    "conflict",
    `The installation has a provider "${tenantId}", whose users' names begin as this tenant's would. Ask its operator to give that one another name.`,
    { field: "provider" },
  );
}

/** Its users' sessions and tokens stop working. */
export function deleteOidcProvider(context: DirectoryContext, tenantId: string, name: string): void {
  write(context, (tx, announce) => {
    existingTenant(tx, tenantId);
    const record = getOidcProvider(tx, `${tenantId}/${name}`);
    if (record === undefined) throw new DbError("not_found", `Tenant "${tenantId}" has no provider "${name}".`);
    removeOidcProvider(tx, record);
    announce({ kind: "tenant", tenantId });
  });
}

/** What a token says of itself before it is verified. */
export interface TokenAddress {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Whom it was issued to: `azp`, `client_id`. */
  readonly parties: readonly string[];
}

/** Throws `token_issuer_unknown`, `token_audience_wrong`. */
export function providerOfToken(context: DirectoryContext, { issuer, ...token }: TokenAddress): KnownProvider {
  return read(context, (tx) => {
    const ofIssuer = configured(context).filter((spec) => spec.issuer === issuer);
    if (ofIssuer.length === 0 && !isOidcIssuer(tx, issuer)) throw new DbError("token_issuer_unknown");
    const audiences = [...new Set(token.audiences)];
    if (audiences.length > AUDIENCES_MAX) {
      throw new DbError("token_audience_wrong", `The token has more than ${AUDIENCES_MAX} audiences.`);
    }
    const own = ofIssuer.filter(({ audience }) => audiences.some((each) => audience.includes(each)));
    const found =
      own.length > 0
        ? own.map(ofConfiguration)
        : oidcProvidersFor(tx, issuer, audiences).map((key) => ofTenant(context, getOidcProvider(tx, key)!));
    return theOne(found, token.parties);
  });
}

/** Where the token's audiences are those of several, whom it was issued to decides. */
function theOne(found: readonly KnownProvider[], parties: readonly string[]): KnownProvider {
  if (found.length === 0) {
    throw new DbError(
      "token_audience_wrong",
      "The token is meant for somebody else: none of its audiences is configured here.",
    );
  }
  if (found.length === 1) return found[0]!;
  const [provider, another] = found.filter(({ spec }) =>
    parties.some((party) => party === spec.client_id || spec.audience.includes(party)),
  );
  if (provider !== undefined && another === undefined) return provider;
  throw new DbError("token_audience_wrong", "The token is meant for several providers of this installation at once.");
}

/**
 * All that say they are one of those clients of the issuer: nothing keeps two tenants from naming the same one. Throws
 * `token_issuer_unknown`.
 */
export function providersOfClient(
  context: DirectoryContext,
  issuer: string,
  clients: readonly string[],
): readonly KnownProvider[] {
  const isMeant = ({ spec }: { readonly spec: OidcProviderSpec }) =>
    spec.issuer === issuer && spec.client_id !== undefined && clients.includes(spec.client_id);
  const described = read(context, (tx) => listAllOidcProviders(tx).filter(isMeant));
  const found = [
    ...configured(context).map(ofConfiguration).filter(isMeant),
    ...described.map((record) => ofTenant(context, record)),
  ];
  if (found.length === 0) throw new DbError("token_issuer_unknown");
  return found;
}

export function providerByKey(context: DirectoryContext, key: string): KnownProvider {
  const spec = configured(context).find(({ name }) => name === key);
  if (spec !== undefined) return ofConfiguration(spec);
  const record = read(context, (tx) => getOidcProvider(tx, key));
  if (record === undefined) throw new DbError("not_found", `There is no provider "${key}".`, { field: "provider" });
  return ofTenant(context, record);
}

/** Whether whoever vouched for a user is still configured, under the same name and issuer. */
export function isProviderThere(
  context: DirectoryContext,
  tx: Transaction,
  { provider, issuer }: Pick<FederatedRecord, "provider" | "issuer">,
): boolean {
  const known = configured(context).find(({ name }) => name === provider) ?? getOidcProvider(tx, provider)?.spec;
  return known?.issuer === issuer;
}

/** Whether the provider is described as it was then; its client's secret is no matter of claims. */
export function isAsDescribed(context: DirectoryContext, tx: Transaction, { key, spec }: KnownProvider): boolean {
  const now = configured(context).find(({ name }) => name === key) ?? getOidcProvider(tx, key)?.spec;
  return now !== undefined && textOf(now) === textOf(spec);
}

function textOf({ client_secret: _, ...spec }: OidcProviderSpec): string {
  return JSON.stringify(spec);
}

export function signInProviders(context: DirectoryContext, tenantId: string | null): { id: string; label: string }[] {
  const shown = (id: string, { label, name, client_id }: OidcProviderSpec) =>
    client_id === undefined ? [] : [{ id, label: label ?? name }];
  const own = tenantId === null ? [] : read(context, (tx) => listOidcProviders(tx, tenantId));
  return [
    ...configured(context).flatMap((spec) => shown(spec.name, spec)),
    ...own.flatMap(({ spec }) => shown(`${tenantId}/${spec.name}`, spec)),
  ];
}
