/**
 * The client of Tessera.
 *
 *     const db = connect({ url: "http://127.0.0.1:8080", apiKey });
 *     const pets = await db.sql<{ name: string }>`SELECT name FROM pet WHERE age > ${3}`;
 */
export type {
  Admin,
  ApiKey,
  ApiKeys,
  Backup,
  BackupOptions,
  Backups,
  NewApiKey,
  NewTenant,
  NewUser,
  Restore,
  RestoreOptions,
  Tenant,
  TenantChange,
  Tenants,
  User,
  Users,
  WaitOptions,
} from "./admin.js";
export type { Api } from "./api-types.js";
export type {
  AutoMl,
  Evaluation,
  EvaluationSource,
  FollowOptions,
  Predictions,
  PredictOptions,
  TrainedModel,
  Training,
  TrainOptions,
} from "./automl.js";
export type { Chat, ChatAnswer, ChatEvent, ChatMessage, Citation } from "./chat.js";
export { type Client, type CypherOptions, connect, type FetchOptions, type RequestOptions, signIn } from "./client.js";
export type {
  Collection,
  Found,
  SearchOptions,
  Stored,
  VectorCollection,
  VectorItem,
  VectorMatch,
  VectorSearch,
} from "./collections.js";
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ConstraintError,
  NotFoundError,
  PermissionError,
  QueryError,
  RateLimitError,
  RequestError,
  SerializationError,
  ServerError,
  TesseraError,
  TimeoutError,
} from "./errors.js";
export type {
  ExportOptions,
  Files,
  Folder,
  FolderChange,
  FolderFile,
  FolderOptions,
  Imported,
  ImportOptions,
  RowFormat,
} from "./files.js";
export { eventsOf, linesOf } from "./lines.js";
export type { Change, Followed } from "./live.js";
export type { LiveRows } from "./live-query.js";
export type {
  Mcp,
  McpCallOptions,
  McpContent,
  McpProgress,
  McpPrompt,
  McpPromptMessage,
  McpResource,
  McpResourceContent,
  McpTool,
  McpToolResult,
} from "./mcp.js";
export type {
  CallOptions,
  ConnectOptions,
  KeyOptions,
  PasswordOptions,
  SocketClass,
  SocketLike,
  WriteOptions,
} from "./options.js";
export type { Column, Result, Row } from "./result.js";
export type { AnswerOf, CallArguments, Route, RouteOptions, SentTo } from "./routes.js";
export type {
  AnySchema,
  ArgumentsOf,
  DocumentOf,
  FunctionName,
  FunctionRow,
  GraphName,
  GraphNode,
  GraphRelationship,
  InsertOf,
  LabelOf,
  NodeOf,
  ProcedureArguments,
  ProcedureName,
  RelationshipOf,
  RelationshipTypeOf,
  RowOf,
  Schema,
  TableName,
  UpdateOf,
} from "./schema.js";
export type { AccessToken } from "./sign-in.js";
export type { ResultPart } from "./socket.js";
export { Fragment, fragment, identifier } from "./sql-text.js";
export type { Parameters, QueryOptions, StreamOptions } from "./statements.js";
export type { SelectOptions, Table, Where } from "./table.js";
export type { Transaction, TransactionOptions } from "./transaction.js";
