/** Which handlers' answers the compiler checks. */
import type { EndpointName } from "../protocol/endpoints.js";

/** Refuses a name that no endpoint has. */
type Names<N extends EndpointName> = N;

/**
 * Endpoints whose handlers' answers have the type of the endpoint's response: a wrong or a missing field is a compile error. An
 * endpoint comes here as soon as its handler compiles with it (docs/decisions/answers-not-typed.md).
 */
export type TypedAnswer = Names<
  | "admin.audit.list"
  | "admin.backups.create"
  | "admin.backups.get"
  | "admin.backups.list"
  | "admin.backups.restore"
  | "admin.backups.restore.get"
  | "admin.backups.verify"
  | "admin.log-level.set"
  | "admin.tenants.backups.import"
  | "admin.tenants.create"
  | "admin.tenants.get"
  | "admin.tenants.list"
  | "admin.tenants.move"
  | "admin.tenants.move.cancel"
  | "admin.tenants.move.get"
  | "admin.tenants.restore"
  | "admin.tenants.restore.get"
  | "admin.tenants.update"
  | "admin.users.create"
  | "admin.users.list"
  | "admin.users.reset"
  | "admin.users.update"
  | "apikeys.create"
  | "apikeys.list"
  | "auth.login"
  | "auth.mfa.confirm"
  | "auth.mfa.disable"
  | "auth.mfa.enroll"
  | "auth.mfa.verify"
  | "auth.register"
  | "automl.webhook_secret"
  | "backups.create"
  | "backups.get"
  | "backups.list"
  | "backups.verify"
  | "chat.sessions.get"
  | "chat.sessions.list"
  | "language.entities"
  | "openai.models.get"
  | "openai.models.list"
  | "query.close"
  | "query.script"
  | "recipes.execution"
  | "recipes.executions"
  | "server.echo"
  | "socket.ticket"
  | "socket.ticket.revoke"
  | "users.me"
  | "vectors.collections.count"
>;
