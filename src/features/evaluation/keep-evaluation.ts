/** Puts what an evaluation found into the history, unless its client does not want that. Called by routes and tools. */
import type { Request } from "../../actor/request.js";
import { ownTogether } from "../statements/run-together.js";
import { CREATE_EVALUATIONS, type Evaluated, type EvaluationKind, insertEvaluation } from "./evaluation-store.js";

/** As clients read it. */
export interface KeptEvaluation<R> {
  /** Null: it was not kept. */
  readonly id: string | null;
  readonly kind: EvaluationKind;
  readonly name: string | null;
  readonly about: string | null;
  readonly created_at: string;
  readonly result: R;
}

/** `commit` commits the transaction in which it is kept. */
export async function keepEvaluation<R extends object>(
  request: Request,
  { keep = true, name = null }: { readonly keep?: boolean; readonly name?: string | null },
  evaluated: Evaluated<R>,
  commit: (tx: Parameters<Request["commitPart"]>[0], kept: KeptEvaluation<R>) => void,
): Promise<KeptEvaluation<R>> {
  const { kind, about, result } = evaluated;
  const shown = (id: string | null, createdAt: string) => ({ id, kind, name, about, created_at: createdAt, result });
  if (!keep) return shown(null, new Date().toISOString());
  const { id, createdAt } = await ownTogether(
    request,
    request,
    async (run) => {
      for (const sql of CREATE_EVALUATIONS) await run(sql, []);
      const rows = async (sql: string, params: readonly unknown[]) => (await run(sql, params)).rows;
      return insertEvaluation(rows, request.head.userId, name, evaluated);
    },
    (tx, made) => commit(tx, shown(made.id, made.createdAt)),
  );
  return shown(id, createdAt);
}
