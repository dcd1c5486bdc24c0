/**
 * Evaluations as they are stored: in tables of the tenant, made with the first. Routes and SQL functions show an
 * evaluation to the user who made it; the tables are kept (catalog/kept-tables.ts). Holds no state.
 */
import { randomBytes } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { EVALUATIONS_KEPT_MAX } from "../../protocol/limits.js";
import { ownRowsOf, timeOf } from "../statements/run-alone.js";
import type { Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { type QuestionScores, readScores, type StoredScores, storedScores } from "./question-scores.js";

export const EVALUATIONS = `public."_evaluations"`;
/** Apart, so that lists of evaluations read none of it. */
const SCORES = `public."_evaluation_scores"`;
/** As the catalog knows it. */
export const EVALUATIONS_NAME = "_evaluations";
export const CREATE_EVALUATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${EVALUATIONS} (
    id text PRIMARY KEY, user_id text NOT NULL, kind text NOT NULL, name text, about text, questions bigint NOT NULL,
    result jsonb NOT NULL, created_at timestamptz NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS "_evaluations_user" ON ${EVALUATIONS} (user_id, created_at)`,
  `CREATE TABLE IF NOT EXISTS ${SCORES} (evaluation_id text PRIMARY KEY, scores jsonb NOT NULL)`,
];

export type EvaluationKind = "retrieval" | "answers" | "models";

/** What an evaluation found. */
export interface Evaluated<R extends object = object> {
  readonly kind: EvaluationKind;
  readonly about: string | null;
  /** Questions, answers or rows. */
  readonly questions: number;
  readonly result: R;
  /** Of each question, to be compared with another evaluation's. */
  readonly scores: QuestionScores;
}

export interface StoredEvaluation extends Evaluated {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: string;
}

/** Runs a statement; answers its rows. */
export type RunRows = (sql: string, params: readonly (string | null)[]) => Promise<readonly (readonly unknown[])[]>;

/** Stores it, and deletes the user's oldest ones where there are too many. `run` works in one transaction. */
export async function insertEvaluation(
  run: RunRows,
  userId: string,
  name: string | null,
  evaluated: Evaluated,
): Promise<StoredEvaluation> {
  const id = `eval_${Date.now().toString(36)}${randomBytes(10).toString("hex")}`;
  const createdAt = new Date().toISOString();
  const { kind, about, questions, result, scores } = evaluated;
  await run(
    `INSERT INTO ${EVALUATIONS} VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::int8,
       $7::text::jsonb, $8::text::timestamptz)`,
    [id, userId, kind, name, about, String(questions), JSON.stringify(result), createdAt],
  );
  await run(`INSERT INTO ${SCORES} VALUES ($1::text, $2::text::jsonb)`, [id, JSON.stringify(storedScores(scores))]);
  const oldest = `SELECT id FROM ${EVALUATIONS} WHERE user_id = $1::text
    ORDER BY created_at DESC, id DESC OFFSET ${EVALUATIONS_KEPT_MAX}`;
  await run(`DELETE FROM ${SCORES} WHERE evaluation_id IN (${oldest})`, [userId]);
  await run(`DELETE FROM ${EVALUATIONS} WHERE id IN (${oldest})`, [userId]);
  return { ...evaluated, id, name, createdAt };
}

export function hasEvaluations(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, EVALUATIONS_NAME)) !== null;
}

/** Throws not_found, also for another user's. */
export async function findEvaluation(request: Request, id: string): Promise<StoredEvaluation> {
  const [row] = hasEvaluations(request)
    ? await ownRowsOf(request, {
        sql: `SELECT id, kind, name, about, questions, result, scores, created_at
              FROM ${EVALUATIONS} JOIN ${SCORES} ON evaluation_id = id WHERE id = $1::text AND user_id = $2::text`,
        params: [id, request.head.userId],
      })
    : [];
  if (row === undefined) throw noEvaluation(id);
  const [, kind, name, about, questions, result, scores, createdAt] = row;
  return {
    id,
    kind: kind as EvaluationKind,
    name: name as string | null,
    about: about as string | null,
    questions: Number(questions),
    result: result as object,
    scores: readScores(scores as StoredScores),
    createdAt: timeOf(createdAt),
  };
}

type Listed = ResponseOf<"evaluation.list">;

/** Newest first. */
export async function listEvaluations(
  request: Request,
  wanted: {
    readonly kind: string | null;
    readonly name: string | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<Listed> {
  if (!hasEvaluations(request)) return { evaluations: [], total: 0 };
  const where = `user_id = $1::text AND ($2::text IS NULL OR kind = $2::text) AND ($3::text IS NULL OR name = $3::text)`;
  const params = [request.head.userId, wanted.kind, wanted.name];
  const rows = await ownRowsOf(request, {
    sql: `SELECT id, kind, name, about, questions, created_at FROM ${EVALUATIONS} WHERE ${where}
          ORDER BY created_at DESC, id DESC LIMIT $4::int8 OFFSET $5::int8`,
    params: [...params, wanted.limit, wanted.offset],
  });
  const [counted] = await ownRowsOf(request, { sql: `SELECT count(*) FROM ${EVALUATIONS} WHERE ${where}`, params });
  const evaluations = rows.map(([id, kind, name, about, questions, createdAt]) => ({
    id: id as string,
    kind: kind as string,
    name: name as string | null,
    about: about as string | null,
    created_at: timeOf(createdAt),
    questions: Number(questions),
  }));
  return { evaluations, total: Number(counted![0]) };
}

/** Throws not_found, also for another user's. */
export async function deleteEvaluation(run: Run, userId: string, id: string): Promise<void> {
  const sql = `DELETE FROM ${EVALUATIONS} WHERE id = $1::text AND user_id = $2::text`;
  if ((await run(sql, [id, userId])).affected === 0) throw noEvaluation(id);
  await run(`DELETE FROM ${SCORES} WHERE evaluation_id = $1::text`, [id]);
}

export function noEvaluation(id: string): DbError {
  return new DbError("not_found", `The evaluation "${id.slice(0, 100)}" does not exist.`, {
    field: "id",
    hint: "GET /v1/evaluations lists yours.",
  });
}
