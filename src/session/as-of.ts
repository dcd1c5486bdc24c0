/**
 * `SELECT … AS OF moment`: a statement of SQL or Cypher that reads all data and definitions as they were. A moment is a
 * time (any constant expression that gives one) or `SEQUENCE n`, the number of a commit. The session takes the clause
 * off and runs the rest on `pastTenant`.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import { PastCatalog } from "../catalog/past-catalog.js";
import type { Sequences } from "../catalog/sequences.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { SegmentCache } from "../query/exec/segments/segment-cache.js";
import { isRestoreStatement } from "../sql/parse/restore-statements.js";
import { isSymbol, isWord, type Token, tokenize } from "../sql/parse/tokens.js";
import type { LayeredEngine } from "../storage/layered-engine.js";
import type { CommitStamp } from "../storage/operation.js";
import { PastShard, type ReadableShard } from "../storage/past-shard.js";
import type { Shard } from "../storage/shard.js";
import { type Outcome, plainRows } from "./sql-result.js";
import type { Client, ParameterValues, StatementRun, StatementText } from "./statement-run.js";
import { Planned, Tenant, type TenantHost } from "./tenant.js";

/** For how long plans of the past are used: at another moment, tables may have many more rows. */
const PAST_PLANS_MS = 60_000;

/** A statement that has the clause. */
export interface AsOfStatement {
  /** Without the clause. */
  readonly sql: string;
  readonly params: ParameterValues;
  readonly moment: Moment;
}

export type Moment =
  | { readonly kind: "sequence"; readonly sequence: number }
  /** Text of an expression, or what the client sent for it. */
  | { readonly kind: "time"; readonly expression: string }
  | { readonly kind: "value"; readonly value: unknown };

const SUSPECT = /\bas\s+of\b/i;
const TIME_WORDS = ["timestamp", "timestamptz", "date", "now", "current_timestamp", "cast", "to_timestamp"];

/** Null: it has no such clause. `of` is a name that a column may have, so the clause is told by what comes after it. */
export function asOfStatement({ sql, params }: Pick<StatementText, "sql" | "params">): AsOfStatement | null {
  if (!SUSPECT.test(sql)) return null;
  const tokens = tokenize(sql);
  if (isRestoreStatement(tokens)) return null;
  while (isSymbol(tokens.at(-1), ";")) tokens.pop();
  for (let i = tokens.length - 3; i > 0; i--) {
    if (tokens[i]!.depth > 0 || !isWord(tokens[i], "as") || !isWord(tokens[i + 1], "of")) continue;
    const rest = tokens.slice(i + 2);
    const moment = momentOf(sql, rest, params);
    if (moment === null) return null;
    return { sql: sql.slice(0, tokens[i]!.start), params: paramsWithout(rest, params), moment };
  }
  return null;
}

function momentOf(sql: string, rest: readonly Token[], params: ParameterValues): Moment | null {
  const [first, second] = rest;
  if (first === undefined) return null;
  if (isWord(first, "sequence")) {
    if (second === undefined || rest.length !== 2) return null;
    const value = second.kind === "parameter" ? parameter(second, params) : second.text;
    return { kind: "sequence", sequence: sequenceOf(value, second) };
  }
  if (first.kind === "parameter" && rest.length === 1) return { kind: "value", value: parameter(first, params) };
  if (first.kind !== "string" && !isWord(first, ...TIME_WORDS)) return null;
  return { kind: "time", expression: sql.slice(first.start, rest.at(-1)!.end) };
}

function sequenceOf(value: unknown, { start }: Token): number {
  const sequence = Number(value);
  if (Number.isSafeInteger(sequence) && sequence >= 0) return sequence;
  throw sqlError("42601", "AS OF SEQUENCE needs the number of a commit", { position: start + 1 });
}

function parameter({ text, start }: Token, params: ParameterValues): unknown {
  const name = text.slice(1);
  const value = Array.isArray(params) ? params[Number(name) - 1] : (params as Readonly<Record<string, unknown>>)[name];
  if (value === undefined || value === null) {
    throw sqlError("22004", `the moment ${text} of AS OF must not be null`, { position: start + 1 });
  }
  return value;
}

/** A last parameter that only the clause uses is none of the statement's. */
function paramsWithout(rest: readonly Token[], params: ParameterValues): ParameterValues {
  const last = rest.at(-1)!;
  if (!Array.isArray(params) || last.kind !== "parameter" || Number(last.text.slice(1)) !== params.length)
    return params;
  return params.slice(0, -1);
}

/** `execute` runs a statement in a session of its own, which only reads, on the given tenant. */
export async function runAsOf(
  { sql, params, moment }: AsOfStatement,
  run: StatementRun,
  tenant: Tenant,
  hidesMemories: boolean,
  execute: (tenant: Tenant, run: StatementRun) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const ask = async (text: Question) => (await execute(tenant, { ...run, ...text, collector: plainRows })).rows.plain!;
  const sequence = sequenceOfMoment(tenant, await plainMoment(moment, ask));
  const past = await pastTenant(tenant, sequence, run.request, hidesMemories);
  return execute(past, { ...run, sql, params });
}

type Question = Pick<StatementText, "sql" | "params" | "language">;
type Rows = readonly (readonly unknown[])[];

/** A time is what SQL makes of it, in the time zone of who is asked. */
export async function plainMoment(
  moment: Moment,
  ask: (question: Question) => Rows | Promise<Rows>,
): Promise<PlainMoment> {
  if (moment.kind === "sequence") return moment;
  const [expression, params] = moment.kind === "time" ? [moment.expression, []] : ["$1", [moment.value]];
  const sql = `SELECT extract(epoch FROM (${expression})::timestamptz) * 1000000`;
  const [row] = await ask({ sql, params, language: "sql" });
  const value = row![0];
  if (value === null) throw sqlError("22004", "the moment of AS OF must not be null");
  return { micros: Math.round(Number(value)) };
}

/** The tenant as it was after a commit. It reads only. `hidesMemories`: as in CatalogView. */
export async function pastTenant(
  tenant: Tenant,
  sequence: number,
  client: Client,
  hidesMemories = false,
): Promise<Tenant> {
  const shard = tenant.partition.shard as Shard;
  while (shard.appliedSequence < sequence) {
    shard.flush();
    client.checkpoint();
    await client.yieldTurn();
  }
  return pastOf(tenant, sequence, hidesMemories);
}

/** The same of a commit that the engine has. */
function pastOf(tenant: Tenant, sequence: number, hidesMemories: boolean): Tenant {
  const { partition, number } = tenant;
  const shard = partition.shard as Shard;
  const layers = shard.layers!;
  const columns = partition.segments.pasts.get(layers)?.at(number, sequence) ?? null;
  const host = readingHost(partition, new PastShard(shard, layers, sequence), "AS OF an earlier moment", columns);
  const past = new Tenant(host, number, plannedOfPasts(tenant, hidesMemories));
  // An answer waits until what it has read is on disk.
  past.sawEverything();
  return past;
}

function plannedOfPasts(tenant: Tenant, hidesMemories: boolean): Planned {
  const { ofPasts, number } = tenant;
  const present = presentView(tenant);
  const last = ofPasts.get(hidesMemories);
  const found = last?.planned.catalog.holdsFor(present) === true ? last : undefined;
  const now = performance.now();
  if (found !== undefined && now < found.usableUntil) return found.planned;
  const catalog = found?.planned.catalog ?? new PastCatalog(number, hidesMemories, present);
  const planned = new Planned(catalog);
  ofPasts.set(hidesMemories, { planned, usableUntil: now + PAST_PLANS_MS });
  return planned;
}

function presentView(tenant: Tenant): CatalogView {
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    return tenant.catalog.view(tx);
  } finally {
    tenant.rollback(tx);
  }
}

/** The engine is taking what was committed up to a moment: ask again when `there` resolves. */
export class MomentNotThere extends DbError {
  constructor(readonly there: Promise<void> | null) {
    super("overloaded", "The moment is being written; retry.");
  }
}

/**
 * `text`: a time as in RFC 3339, or the number of a commit. Throws as `stampOfMoment` does, and MomentNotThere.
 * `field`: where it stands.
 */
export function pastAt(tenant: Tenant, text: string, hidesMemories: boolean, field = "X-Tessera-As-Of"): Tenant {
  const isSequence = /^\d+$/.test(text);
  const ms = Date.parse(text);
  if (!isSequence && Number.isNaN(ms)) {
    const message = `${field} must be a time such as 2026-11-20T10:00:00Z, or the number of a commit.`;
    throw new DbError("invalid_request", message, { field });
  }
  const sequence = sequenceOfMoment(tenant, isSequence ? { sequence: Number(text) } : { micros: ms * 1000 });
  const shard = tenant.partition.shard as Shard;
  shard.flush();
  if (shard.appliedSequence < sequence) throw new MomentNotThere(shard.hasBacklog ? shard.largeCommitDone() : null);
  return pastOf(tenant, sequence, hidesMemories);
}

/**
 * Makes the same of a host, but for its shard, and for what is made from the newest entries only. `how`: what is said
 * of statements that write. `columns`: those that fit the shard.
 */
export function readingHost(
  host: TenantHost,
  shard: ReadableShard,
  how: string,
  columns: SegmentCache | null = null,
): TenantHost {
  const { config, rowNumbers, sequences, models, claims, providers } = host;
  const ofPast = {
    shard,
    readsPast: how,
    pastSegments: columns,
    definitionsChanged: () => {},
    wroteSomething: () => {},
  };
  return {
    ...{ config, rowNumbers, sequences: readOnlySequences(sequences, how), models, claims, providers },
    ...{ segments: host.segments, derived: host.derived, spill: host.spill, tasks: host.tasks },
    ...{ slowStatements: host.slowStatements, stopped: host.stopped ?? null },
    ...ofPast,
  };
}

/** Numbers that are given out are of now. */
function readOnlySequences(sequences: Sequences, how: string): Sequences {
  const refuse = (what: string) => (): never => {
    throw sqlError("25006", `cannot execute ${what} ${how}`);
  };
  const position = sequences.position.bind(sequences);
  return { position, next: refuse("nextval()"), set: refuse("setval()"), release: () => {}, forget: () => {} };
}

const ONE_MOMENT = "Leave AS OF (as_of) out, or the request's header X-Tessera-As-Of or X-Tessera-Consistency.";

type PlainMoment = { readonly sequence: number } | { readonly micros: number };

/** The commit that a time or a number means. Throws 55000 or 72000 where the tenant's past does not go back to it. */
export function stampOfMoment(tenant: Tenant, moment: PlainMoment): CommitStamp {
  const sequence = sequenceOfMoment(tenant, moment);
  const { layers, committedSequence, lastMicros } = tenant.partition.shard as Shard;
  if (sequence === committedSequence && !("sequence" in moment)) return { sequence, micros: lastMicros };
  const { micros } = layers!.stampOf(tenant.number, sequence) ?? layers!.oldestOf(tenant.number)!;
  return { sequence, micros };
}

/** The same, without its time. */
function sequenceOfMoment(tenant: Tenant, moment: PlainMoment): number {
  const { readsPast } = tenant.partition;
  if (readsPast !== undefined) throw sqlError("55000", `AS OF cannot be used ${readsPast}`, { hint: ONE_MOMENT });
  const shard = tenant.partition.shard as Shard;
  const { layers, committedSequence, lastMicros } = shard;
  const oldest = layers?.oldestOf(tenant.number) ?? null;
  if (layers === null || oldest === null) throw notKept();
  const newest = { sequence: committedSequence, micros: lastMicros };
  if ("sequence" in moment) {
    if (moment.sequence > newest.sequence) throw inFuture(`commit ${moment.sequence}`, `commit ${newest.sequence}`);
    if (moment.sequence < oldest.sequence) throw tooOld(`commit ${moment.sequence}`, oldest);
    return moment.sequence;
  }
  if (moment.micros > Math.max(newest.micros, Date.now() * 1000)) {
    throw inFuture(isoTime(moment.micros), isoTime(Date.now() * 1000));
  }
  if (moment.micros >= newest.micros) return newest.sequence;
  return sequenceBefore(tenant, layers, shard, moment.micros, oldest);
}

function sequenceBefore(
  { number }: Tenant,
  layers: LayeredEngine,
  shard: Shard,
  micros: number,
  oldest: CommitStamp,
): number {
  // Stamps come with their commits: those of this turn are not there yet.
  shard.flush();
  const stamp = micros < oldest.micros ? null : layers.commitAt(number, micros);
  if (stamp === null || stamp.sequence < oldest.sequence) throw tooOld(isoTime(micros), oldest);
  return stamp.sequence;
}

function notKept(): Error {
  return sqlError("55000", "the past of this tenant is not kept", {
    hint: 'Say how long with PUT /v1/history {"window_seconds": 86400}. From then on the past is kept.',
  });
}

function tooOld(asked: string, { sequence, micros }: CommitStamp): Error {
  const from = `The oldest moment that can be read is ${isoTime(micros)}, commit ${sequence}.`;
  return sqlError("72000", `the past is not kept as far back as ${asked}`, { hint: from });
}

function inFuture(asked: string, newest: string): Error {
  return sqlError("22023", `AS OF ${asked} lies in the future`, { hint: `The newest moment is ${newest}.` });
}

function isoTime(micros: number): string {
  const whole = new Date(Math.floor(micros / 1000)).toISOString();
  return `${whole.slice(0, -1)}${String(micros % 1000).padStart(3, "0")}Z`;
}
