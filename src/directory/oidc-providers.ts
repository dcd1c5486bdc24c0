/**
 * The providers of OpenID Connect that the directory knows: those of the configuration, and those that administrators
 * have described for their tenants. An issuer and an audience together belong to one provider only, so a token never
 * has to be guessed about. Called by the `Directory`; state is in the records.
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
  listOidcProviders,
  oidcProviderFor,
  removeOidcProvider,
} from "./directory-store.js";
import type { FederatedRecord, OidcProviderRecord } from "./records.js";
import { existingTenant } from "./users.js";

const PER_TENANT_MAX = 20;

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

/** Throws `token_issuer_unknown`, `token_audience_wrong`. */
export function providerOfToken(
  context: DirectoryContext,
  issuer: string,
  audiences: readonly string[],
): KnownProvider {
  return read(context, (tx) => {
    const found = new Map<string, KnownProvider>();
    for (const spec of configured(context)) {
      if (spec.issuer === issuer && audiences.some((each) => spec.audience.includes(each))) {
        found.set(spec.name, ofConfiguration(spec));
      }
    }
    for (const key of audiences.flatMap((each) => oidcProviderFor(tx, issuer, each) ?? [])) {
      found.set(key, ofTenant(context, getOidcProvider(tx, key)!));
    }
    const [provider, another] = found.values();
    if (provider === undefined) throw unknownTo(context, tx, issuer);
    if (another === undefined) return provider;
    throw new DbError("token_audience_wrong", "The token is meant for several providers of this installation at once.");
  });
}

function unknownTo(context: DirectoryContext, tx: Transaction, issuer: string): DbError {
  const isKnown = configured(context).some((spec) => spec.issuer === issuer) || isOidcIssuer(tx, issuer);
  return isKnown
    ? new DbError(
        "token_audience_wrong",
        "The token is meant for somebody else: none of its audiences is configured here.",
      )
    : new DbError("token_issuer_unknown");
}

/** Throws `not_found`. */
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

export function signInProviders(context: DirectoryContext, tenantId: string | null): { id: string; label: string }[] {
  const shown = (id: string, { label, name, client_id }: OidcProviderSpec) =>
    client_id === undefined ? [] : [{ id, label: label ?? name }];
  const own = tenantId === null ? [] : read(context, (tx) => listOidcProviders(tx, tenantId));
  return [
    ...configured(context).flatMap((spec) => shown(spec.name, spec)),
    ...own.flatMap(({ spec }) => shown(`${tenantId}/${spec.name}`, spec)),
  ];
}
