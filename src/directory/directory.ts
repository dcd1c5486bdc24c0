/**
 * The directory of accounts: tenants, users, API keys, sign-in. It runs in the actor of partition 0 and keeps
 * everything as records in that partition's shard; the only other state is the login throttle. The actor calls it for
 * the account routes and to tell the gateway who a token or key stands for. It checks what the data allows; whether the
 * caller may ask at all (role, tenant in the path) was checked at admission.
 */

import type * as accounts from "../protocol/accounts.js";
import type { AuthConfig } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import type { Identity, IdentityChange, RateLimit } from "../protocol/identity.js";
import type { OidcProviderSpec } from "../protocol/oidc.js";
import type { PartitionLoad } from "../protocol/placement.js";
import type { Transaction } from "../storage/store.js";
import * as apiKeys from "./api-keys.js";
import { clientSecrets } from "./client-secrets.js";
import type { DeriveKey, PasswordCost } from "./derive-key.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  getSchedule,
  getUser,
  listDeletions,
  listMoves,
  listSchedules,
  putDeletion,
  putMove,
  putSchedule,
  removeDeletion,
  removeMove,
  removeSchedule,
} from "./directory-store.js";
import { factorSecrets, sealStoredFactors } from "./factor-secrets.js";
import * as federated from "./federated-users.js";
import { identityOfKeyHash, identityOfUser } from "./identities.js";
import { LoginThrottle } from "./login-throttle.js";
import * as mfa from "./mfa.js";
import { NewUserPace } from "./new-user-pace.js";
import * as oidc from "./oidc-providers.js";
import { passwordCost, passwordHasher } from "./password.js";
import * as placement from "./placement.js";
import type { DeletionRecord, MoveRecord, ScheduleRecord } from "./records.js";
import { scramVerifiers } from "./scram.js";
import * as scramSignIn from "./scram-sign-in.js";
import * as signIn from "./sign-in.js";
import { signInTokens } from "./sign-in-tokens.js";
import * as deletion from "./tenant-deletion.js";
import * as tenants from "./tenants.js";
import * as users from "./users.js";
import { userView } from "./views.js";
import * as wholeRecords from "./whole-records.js";

export interface DirectoryOptions {
  /** A transaction on partition 0's shard. Every method commits or rolls back what it begins before it awaits. */
  readonly begin: (readOnly: boolean) => Transaction;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The installation's secret (config/data-lock.ts), which signs tokens. */
  readonly secret: Uint8Array;
  /** Second factors are stored sealed, those that are not yet at the next `bootstrap`; so are new SCRAM verifiers. */
  readonly sealsFactors?: boolean;
  readonly config: AuthConfig;
  /** How many partitions new tenants are placed on. */
  readonly partitions: number;
  /** Called after the commit and before the method returns. */
  readonly onIdentityChanged: (change: IdentityChange) => void;
  /** Runs scrypt and PBKDF2 on another thread. */
  readonly deriveKey: DeriveKey;
  /** scrypt's parameters; absent: those of the configuration. */
  readonly passwordCost?: PasswordCost;
  /** PBKDF2's; absent: those of the configuration. */
  readonly scramIterations?: number;
  /** How fast issuers' users are stored, for tenants without a limit of their own; absent: as they come. */
  readonly newUserRate?: RateLimit;
  /** Milliseconds of a steady clock, for that; absent: the process's. */
  readonly steadyNow?: () => number;
}

const NO_LIMIT: RateLimit = { perSecond: 0, burst: 0 };

export class Directory {
  private readonly context: DirectoryContext;
  private readonly sealsFactors: boolean;

  constructor(options: DirectoryOptions) {
    const { begin, now, config, partitions, onIdentityChanged } = options;
    this.context = {
      begin,
      now,
      config,
      partitions,
      onIdentityChanged,
      hasher: passwordHasher({
        cost: options.passwordCost ?? passwordCost(config.passwordCost),
        deriveKey: options.deriveKey,
      }),
      verifiers: scramVerifiers({
        secret: options.secret,
        sealsNew: options.sealsFactors === true,
        iterations: options.scramIterations ?? config.scramIterations,
        deriveKey: options.deriveKey,
      }),
      throttle: new LoginThrottle({ ...config.login, now }),
      newUsers: new NewUserPace(options.newUserRate ?? NO_LIMIT, options.steadyNow ?? (() => performance.now())),
      tokens: signInTokens(options.secret),
      factors: factorSecrets(options.secret, options.sealsFactors === true),
      clientSecrets: clientSecrets(options.secret),
    };
    this.sealsFactors = options.sealsFactors === true;
  }

  /**
   * At first boot: makes the tenant `system` (number 1, partition 0) and the user `admin` in it. Answers the password
   * that was made up, to be printed once; null when one was given or the installation exists already. A password
   * given here is the operator's own choice and may be shorter than others.
   */
  bootstrap(options: { readonly adminPassword?: string }): Promise<{ password: string } | null> {
    if (this.sealsFactors) write(this.context, (tx) => sealStoredFactors(tx, this.context.factors));
    return tenants.bootstrap(this.context, options);
  }

  // Sign-in

  login(request: accounts.LoginRequest): Promise<accounts.SignedIn | accounts.MfaRequired> {
    return signIn.login(this.context, request);
  }

  scramChallenge(username: string): accounts.ScramChallenge | null {
    return scramSignIn.scramChallenge(this.context, username);
  }

  scramLogin(request: accounts.ScramLoginRequest): accounts.ScramSignedIn {
    return scramSignIn.scramLogin(this.context, request);
  }

  verifyMfa(request: accounts.VerifyMfaRequest): accounts.SignedIn {
    return signIn.verifyMfa(this.context, request);
  }

  register(request: accounts.RegisterRequest): Promise<accounts.UserView> {
    return signIn.register(this.context, request);
  }

  changePassword(userId: string, oldPassword: string, newPassword: string): Promise<void> {
    return signIn.changePassword(this.context, userId, oldPassword, newPassword);
  }

  // Second factor

  enrolMfa(userId: string): accounts.MfaEnrolment {
    return mfa.enrolMfa(this.context, userId);
  }

  confirmMfa(userId: string, code: string): accounts.UserView {
    return mfa.confirmMfa(this.context, userId, code);
  }

  disableMfa(userId: string, proof: { readonly code: string; readonly password: string }): Promise<accounts.UserView> {
    return mfa.disableMfa(this.context, userId, proof);
  }

  // API keys

  createApiKey(userId: string, request: accounts.CreateApiKeyRequest): accounts.ApiKeyCreated {
    return apiKeys.createApiKey(this.context, userId, request);
  }

  /** The tenant's keys for its administrators, the caller's own for others; newest first. */
  listApiKeys(caller: apiKeys.KeyOwner, page: accounts.Page = {}): accounts.Listed<accounts.ApiKeyView> {
    return apiKeys.listApiKeys(this.context, caller, page);
  }

  deleteApiKey(caller: apiKeys.KeyOwner, keyId: string): void {
    apiKeys.deleteApiKey(this.context, caller, keyId);
  }

  recordKeyUsage(usage: readonly accounts.KeyUsage[]): void {
    apiKeys.recordKeyUsage(this.context, usage);
  }

  // Tenants

  /** `loads`: of the partitions, as far as they are known. */
  createTenant(request: accounts.CreateTenantRequest, loads: readonly PartitionLoad[] = []): accounts.TenantView {
    return tenants.createTenant(this.context, request, loads);
  }

  listTenants(page: accounts.Page = {}): accounts.Listed<accounts.TenantView> {
    return tenants.listAllTenants(this.context, page);
  }

  getTenant(id: string): accounts.TenantView {
    return tenants.tenantById(this.context, id);
  }

  /** The tenant whose data has this number in its storage keys. */
  tenantOfNumber(number: number): accounts.TenantView | null {
    return tenants.tenantOfNumber(this.context, number);
  }

  /** Renames, disables or enables a tenant, or sets its rate limit. */
  updateTenant(id: string, update: accounts.UpdateTenantRequest): accounts.TenantView {
    return tenants.updateTenant(this.context, id, update);
  }

  /** Nobody finds the tenant any more; `left`: partitions that may have something of it. See tenant-deletion.ts. */
  beginDeletion(id: string, left: readonly number[]): DeletionRecord {
    return deletion.beginDeletion(this.context, id, left);
  }

  /** Removes some of its accounts; false: none is left. */
  removeSomeAccounts(tenantId: string): boolean {
    return deletion.removeSomeAccounts(this.context, tenantId);
  }

  forgetTenant(record: DeletionRecord): DeletionRecord {
    return deletion.forgetTenant(this.context, record);
  }

  saveDeletion(record: DeletionRecord): void {
    write(this.context, (tx) => putDeletion(tx, record));
  }

  forgetDeletion(tenant: number): void {
    write(this.context, (tx) => removeDeletion(tx, tenant));
  }

  /** In no particular order. */
  listDeletions(): DeletionRecord[] {
    return read(this.context, listDeletions);
  }

  // Placement

  placeOf(tenantId: string): placement.TenantPlace {
    return placement.placeOfTenant(this.context, tenantId);
  }

  partitionOfNumber(number: number): number | null {
    return placement.partitionOfNumber(this.context, number);
  }

  tenantsPerPartition(): readonly number[] {
    return placement.tenantsPerPartition(this.context);
  }

  /** Answers the function that announces it, to be called when it is on disk. */
  relocateTenant(tenantId: string, to: number): () => void {
    return placement.relocateTenant(this.context, tenantId, to);
  }

  /** Keeps how the newest move of a tenant stands. */
  saveMove(move: MoveRecord): void {
    write(this.context, (tx) => putMove(tx, move));
  }

  forgetMove(tenant: number): void {
    write(this.context, (tx) => removeMove(tx, tenant));
  }

  /** In no particular order. */
  listMoves(): MoveRecord[] {
    return read(this.context, listMoves);
  }

  // Backups

  /** Everything that another installation needs to be this one, but the tenants' content. */
  wholeRecords(): wholeRecords.WholeRecords {
    return wholeRecords.readWhole(this.context);
  }

  /** See whole-records.ts. */
  planRestore(records: wholeRecords.WholeRecords, plan: wholeRecords.RestorePlan): wholeRecords.PlannedTenant[] {
    return wholeRecords.planRestore(this.context, records, plan);
  }

  finishRestore(
    records: wholeRecords.WholeRecords,
    plan: wholeRecords.RestorePlan,
    planned: readonly wholeRecords.PlannedTenant[],
  ): void {
    wholeRecords.finishRestore(this.context, records, plan, planned);
  }

  /** In no particular order. */
  listSchedules(): ScheduleRecord[] {
    return read(this.context, listSchedules);
  }

  /** Undefined: there is none. */
  schedule(id: string): ScheduleRecord | undefined {
    return read(this.context, (tx) => getSchedule(tx, id));
  }

  saveSchedule(schedule: ScheduleRecord): void {
    write(this.context, (tx) => putSchedule(tx, schedule));
  }

  removeSchedule(id: string): void {
    write(this.context, (tx) => removeSchedule(tx, id));
  }

  // Users of a tenant; `user` is an id or a name

  createUser(tenantId: string, request: accounts.CreateUserRequest): Promise<accounts.UserView> {
    return users.createUser(this.context, tenantId, request, true);
  }

  listUsers(tenantId: string, page: accounts.Page = {}): accounts.Listed<accounts.UserView> {
    return users.listTenantUsers(this.context, tenantId, page);
  }

  setUserActive(tenantId: string, user: string, isActive: boolean): accounts.UserView {
    return users.setUserActive(this.context, tenantId, user, isActive);
  }

  /** With a made-up password unless one is given; `clearMfa` is for people who lost their authenticator. */
  resetUserPassword(
    tenantId: string,
    user: string,
    options: { readonly password?: string; readonly clearMfa?: boolean } = {},
  ): Promise<users.PasswordReset> {
    return users.resetUserPassword(this.context, tenantId, user, options);
  }

  deleteUser(tenantId: string, user: string): void {
    users.deleteUser(this.context, tenantId, user);
  }

  userById(id: string): accounts.UserView {
    const user = read(this.context, (tx) => getUser(tx, id));
    if (user === undefined) throw new DbError("not_found", "The user does not exist.");
    return userView(user);
  }

  // Providers of OpenID Connect, and their users

  listOidcProviders(tenantId: string): accounts.OidcProviderView[] {
    return oidc.listOidcProviderViews(this.context, tenantId);
  }

  /** Throws `tenant_not_found`, `invalid_request`, `conflict` (its issuer and audience are another one's). */
  putOidcProvider(tenantId: string, spec: OidcProviderSpec): accounts.OidcProviderView {
    return oidc.putOidcProvider(this.context, tenantId, spec);
  }

  deleteOidcProvider(tenantId: string, name: string): void {
    oidc.deleteOidcProvider(this.context, tenantId, name);
  }

  /** Throws `token_issuer_unknown`, `token_audience_wrong`. `parties`: whom the token was issued to. */
  providerOfToken(issuer: string, audiences: readonly string[], parties: readonly string[] = []): oidc.KnownProvider {
    return oidc.providerOfToken(this.context, { issuer, audiences, parties });
  }

  /** By their client, for what is said to that. Throws `token_issuer_unknown`. */
  providersOfClient(issuer: string, clients: readonly string[]): readonly oidc.KnownProvider[] {
    return oidc.providersOfClient(this.context, issuer, clients);
  }

  /** Throws `not_found`. */
  providerByKey(key: string): oidc.KnownProvider {
    return oidc.providerByKey(this.context, key);
  }

  /** Those that people can sign in with: the installation's, and the tenant's. */
  signInProviders(tenantId: string | null): { id: string; label: string }[] {
    return oidc.signInProviders(this.context, tenantId);
  }

  /**
   * Throws `claim_unknown`, `rate_limited`. `isNew`: it has just been stored. null: the provider's description has
   * changed since the claims were read by it.
   */
  federatedIdentity(who: federated.FederatedUser): { identity: Identity; isNew: boolean } | null {
    return federated.federatedIdentity(this.context, who);
  }

  /** Throws `claim_unknown`, `rate_limited`, `forbidden` (disabled), `sign_in_failed` (another description by now). */
  federatedLogin(who: federated.FederatedUser): accounts.SignedIn {
    return federated.federatedLogin(this.context, who);
  }

  endFederatedSessions(by: oidc.KnownProvider, subject: string): string | null {
    return federated.endFederatedSessions(this.context, by, subject);
  }

  // The owner of a credential

  identityOfUser(userId: string): Identity | null {
    return identityOfUser(this.context, userId);
  }

  /**
   * `hash` is the SHA-256 of the whole key, hex. Null when there is no such key; an expired one has its expiry in it.
   */
  identityOfKeyHash(hash: string): Identity | null {
    return identityOfKeyHash(this.context, hash);
  }
}
