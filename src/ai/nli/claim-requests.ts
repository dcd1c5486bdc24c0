/**
 * Checks clients' requests about claims: every limit is in UTF-8 bytes, and every error names the field (or the item:
 * truth_anchors[3]) and the remedy. For routes and SQL alike; pure. All errors are `invalid_nli_request`.
 */
import { DbError } from "../../protocol/errors.js";
import {
  NLI_ALIAS_CHARACTERS_MAX,
  NLI_ANCHORS_MAX,
  NLI_PAIRS_MAX,
  NLI_TEXT_BYTES_MAX,
  NLI_THRESHOLD_DEFAULT,
} from "../../protocol/limits.js";
import type { TextPair } from "../inference-messages.js";
import type { VerdictRules } from "./verdict.js";

export interface VerifyRequest {
  /** Null: the default one. */
  readonly model: string | null;
  readonly statement: string;
  readonly anchors: readonly string[];
  readonly rules: VerdictRules;
  /** The anchors are known to be about what the statement is about; by default they may be about anything. */
  readonly sameSubject?: boolean;
}

export interface PairsRequest {
  readonly model: string | null;
  readonly pairs: readonly TextPair[];
  /** The texts of each pair are known to be about the same thing or scene. */
  readonly sameSubject?: boolean;
}

/** Options of NLI_VERIFY. */
export type VerifyOptions = Required<Pick<VerifyRequest, "rules" | "sameSubject">>;

const RULE_FIELDS = ["closed_world", "contradiction_threshold", "entailment_threshold"] as const;
const VERIFY_OPTIONS = [...RULE_FIELDS, "same_subject"] as const;
const VERIFY_FIELDS = ["statement", "truth_anchors", "model", ...VERIFY_OPTIONS] as const;
const PAIRS_OPTIONS = ["same_subject"] as const;
const PAIRS_FIELDS = ["pairs", "model", ...PAIRS_OPTIONS] as const;
const PAIR_FIELDS = ["premise", "hypothesis"] as const;

/** Names that are taken for fields, as lower-case letters. */
const MISNOMERS: Readonly<Record<string, string>> = {
  anchors: "truth_anchors",
  anchor: "truth_anchors",
  truthanchor: "truth_anchors",
  evidence: "truth_anchors",
  facts: "truth_anchors",
  claim: "statement",
  modelname: "model",
  alias: "model",
  threshold: "entailment_threshold",
  pair: "pairs",
  evidencetext: "premise",
};

/** The body of POST /v1/ai/nli/verify. */
export function verifyRequest(body: unknown): VerifyRequest {
  const fields = objectOf(body, "The body", VERIFY_FIELDS, "");
  return {
    model: modelName(fields.model),
    statement: textOf(required(fields, "statement", ""), "statement"),
    anchors: anchorTexts(required(fields, "truth_anchors", "")),
    rules: rulesOf(fields),
    sameSubject: sameSubjectOf(fields),
  };
}

/** The body of POST /v1/ai/nli/pairs. */
export function pairsRequest(body: unknown): PairsRequest {
  const fields = objectOf(body, "The body", PAIRS_FIELDS, "");
  const pairs = listOf(required(fields, "pairs", ""), "pairs", NLI_PAIRS_MAX, "pairs");
  return {
    model: modelName(fields.model),
    sameSubject: sameSubjectOf(fields),
    pairs: pairs.map((pair, i) => {
      const place = `pairs[${i}]`;
      const { premise, hypothesis } = objectOf(pair, place, PAIR_FIELDS, `${place}.`);
      const both = { premise, hypothesis };
      return pairOf(required(both, "premise", `${place}.`), required(both, "hypothesis", `${place}.`), `${place}.`);
    }),
  };
}

export function pairOf(premise: unknown, hypothesis: unknown, prefix = ""): TextPair {
  return { premise: textOf(premise, `${prefix}premise`), hypothesis: textOf(hypothesis, `${prefix}hypothesis`) };
}

export function statementOf(value: unknown): string {
  return textOf(value, "statement");
}

/** A JSON array of texts. */
export function anchorTexts(value: unknown): readonly string[] {
  return listOf(value, "truth_anchors", NLI_ANCHORS_MAX, "anchors").map((anchor, i) =>
    textOf(anchor, `truth_anchors[${i}]`),
  );
}

/** Options of NLI_VERIFY: a JSON object. */
export function verifyOptions(value: unknown): VerifyOptions {
  const fields = objectOf(value, "options_json", VERIFY_OPTIONS, "");
  return { rules: rulesOf(fields), sameSubject: sameSubjectOf(fields) };
}

/** Options of NLI_CLASSIFY: a JSON object. */
export function classifyOptions(value: unknown): { readonly sameSubject: boolean } {
  return { sameSubject: sameSubjectOf(objectOf(value, "options_json", PAIRS_OPTIONS, "")) };
}

export const DEFAULT_RULES: VerdictRules = Object.freeze({
  closedWorld: false,
  contradictionThreshold: NLI_THRESHOLD_DEFAULT,
  entailmentThreshold: NLI_THRESHOLD_DEFAULT,
});

const ALIAS = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,${NLI_ALIAS_CHARACTERS_MAX - 1}}$`);

/** Whether a model can be asked for by that name. */
export const isModelName = (name: string): boolean => ALIAS.test(name);

/** Null when there is none. */
export function modelName(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw wrongType("model", "a text", value);
  if (isModelName(value)) return value;
  throw invalid(
    "model",
    `model must be 1 to ${NLI_ALIAS_CHARACTERS_MAX} ASCII letters, digits, _ or -, the first a letter or digit.`,
    "GET /v1/ai/nli/models lists the models.",
  );
}

function rulesOf(fields: Readonly<Record<string, unknown>>): VerdictRules {
  return {
    closedWorld: flagOf(fields, "closed_world") ?? DEFAULT_RULES.closedWorld,
    contradictionThreshold: thresholdOf(fields, "contradiction_threshold"),
    entailmentThreshold: thresholdOf(fields, "entailment_threshold"),
  };
}

const sameSubjectOf = (fields: Readonly<Record<string, unknown>>): boolean => flagOf(fields, "same_subject") ?? false;

function flagOf(fields: Readonly<Record<string, unknown>>, name: string): boolean | null {
  const value = fields[name] ?? null;
  if (value === null || typeof value === "boolean") return value;
  throw wrongType(name, "true or false", value);
}

function thresholdOf(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name];
  if (value === undefined || value === null) return NLI_THRESHOLD_DEFAULT;
  if (typeof value !== "number") throw wrongType(name, "a number from 0 to 1", value);
  if (value >= 0 && value <= 1) return value;
  throw invalid(name, `${name} must be a number from 0 to 1, not ${value}.`);
}

/** An object without other fields than those. */
function objectOf(
  value: unknown,
  what: string,
  known: readonly string[],
  prefix: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const field = prefix === "" ? undefined : prefix.slice(0, -1);
    throw invalid(field, `${what} must be a JSON object with the fields ${known.join(", ")}, not ${kindOf(value)}.`);
  }
  for (const name of Object.keys(value)) if (!known.includes(name)) throw unknownField(name, known, prefix);
  return value as Record<string, unknown>;
}

function unknownField(name: string, known: readonly string[], prefix: string): DbError {
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  const meant =
    known.find((field) => field.replaceAll("_", "") === plain) ??
    known.find((field) => field === MISNOMERS[plain]) ??
    null;
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  return invalid(
    `${prefix}${shown}`,
    `Unknown field "${prefix}${shown}". Known: ${known.join(", ")}.`,
    meant === null ? "Remove the field or correct its name." : `Send it as "${prefix}${meant}".`,
  );
}

function required(fields: Readonly<Record<string, unknown>>, name: string, prefix: string): unknown {
  const value = fields[name];
  if (value !== undefined && value !== null) return value;
  throw invalid(`${prefix}${name}`, `Missing field "${prefix}${name}".`, `Send "${prefix}${name}".`);
}

function listOf(value: unknown, name: string, most: number, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(name, `an array of 1 to ${most} ${what}`, value);
  if (value.length >= 1 && value.length <= most) return value;
  const hint = value.length === 0 ? `Send at least one.` : `Split them over several calls.`;
  throw invalid(name, `${name} must hold 1 to ${most} ${what}; it holds ${value.length}.`, hint);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrongType(name, "a text", value);
  if (value.trim() === "") throw invalid(name, `${name} is empty.`, "Send a text with at least one letter.");
  const bytes = Buffer.byteLength(value);
  if (bytes <= NLI_TEXT_BYTES_MAX) return value;
  throw invalid(
    name,
    `${name} has ${bytes} UTF-8 bytes; at most ${NLI_TEXT_BYTES_MAX} are allowed.`,
    "Send a shorter text or split it.",
  );
}

const wrongType = (name: string, wanted: string, value: unknown): DbError =>
  invalid(name, `${name} must be ${wanted}, not ${kindOf(value)}.`);

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  return { string: "a text", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "an object";
}

function invalid(field: string | undefined, message: string, hint?: string): DbError {
  return new DbError("invalid_nli_request", message, {
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
  });
}
