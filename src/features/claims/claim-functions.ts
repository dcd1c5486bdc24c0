/** NLI_CLASSIFY and NLI_VERIFY: rows of arguments as requests about claims. */
import {
  anchorTexts,
  classifyOptions,
  DEFAULT_RULES,
  modelName,
  type PairsRequest,
  pairOf,
  statementOf,
  type VerifyRequest,
  verifyOptions,
} from "../../ai/nli/claim-requests.js";
import type { Asker, ClaimVerifier } from "../../ai/nli/claim-verifier.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import type { Claims } from "../../query/expr/functions/claims.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { parseJson } from "../../values/json-text.js";
import { Numeric } from "../../values/numeric.js";

/** The same errors as over HTTP, with what PostgreSQL would call them. */
const SQLSTATES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_nli_request: "22023",
  nli_model_not_found: "42704",
  nli_disabled: "55000",
  nli_model_not_installed: "55000",
  nli_model_unavailable: "58000",
};

export function statementClaims({ tenant, tenantName, client }: AskingStatement): Claims {
  const { claims } = tenant.partition;
  const user = { tenant: tenantName, budget: (client.origin ?? client).budget ?? null };
  return {
    checkModel: (model) => checkClaimModel(claims, model),
    classify: (rows, { signal }) => classifyClaims(claims, rows, { user, signal }),
    verify: (rows, { signal }) => verifyClaims(claims, rows, { user, signal }),
  };
}

/** Throws the error that a call with this model would end with. */
function checkClaimModel(claims: ClaimVerifier, model: string): void {
  try {
    claims.requireUsable(modelName(model)!);
  } catch (error) {
    throw asSqlError(error);
  }
}

/** Rows of model, premise, hypothesis and perhaps options; gives {model, bundle_sha256, scores}. */
function classifyClaims(
  claims: ClaimVerifier,
  rows: readonly (readonly unknown[])[],
  asker: Asker,
): Promise<readonly unknown[]> {
  return inSql(async () => {
    const requests = rows.map(
      ([model, premise, hypothesis, options = null]): PairsRequest => ({
        model: modelName(model),
        pairs: [pairOf(premise, hypothesis)],
        ...(options === null ? {} : classifyOptions(jsonOf(options, "options_json", '{"same_subject": true}'))),
      }),
    );
    const found = await claims.classifyAll(requests, asker);
    return found.map(({ model, bundle_sha256, scores: [scores] }) => ({ model, bundle_sha256, scores }));
  });
}

/** Rows of model, statement, anchors and perhaps options; gives what POST /v1/ai/nli/verify does. */
function verifyClaims(
  claims: ClaimVerifier,
  rows: readonly (readonly unknown[])[],
  asker: Asker,
): Promise<readonly unknown[]> {
  return inSql(() => claims.verifyAll(rows.map(requestOf), asker));
}

function requestOf([model, statement, anchors, options = null]: readonly unknown[]): VerifyRequest {
  return {
    model: modelName(model),
    statement: statementOf(statement),
    anchors: anchorTexts(jsonOf(anchors, "anchors_json", '["It rains.", "It is cold."]')),
    ...(options === null
      ? { rules: DEFAULT_RULES }
      : verifyOptions(jsonOf(options, "options_json", '{"closed_world": true}'))),
  };
}

/** A text is JSON; what has been parsed is it already. */
function jsonOf(value: unknown, name: string, example: string): unknown {
  if (typeof value !== "string") return withNumbers(value);
  try {
    return withNumbers(parseJson(value));
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw new DbError("invalid_nli_request", `${name} is not valid JSON: ${error.details?.detail ?? error.message}`, {
      field: name,
      hint: `Give JSON, such as ${example}.`,
    });
  }
}

/** Numbers that doubles do not spell alike (0.60) as doubles. */
function withNumbers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, member instanceof Numeric ? Number(member.toString()) : member]),
  );
}

async function inSql<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asSqlError(error);
  }
}

function asSqlError(error: unknown): unknown {
  if (!(error instanceof DbError)) return error;
  const sqlstate = SQLSTATES[error.code];
  return sqlstate === undefined ? error : new DbError(error.code, error.message, { sqlstate, ...error.details });
}
