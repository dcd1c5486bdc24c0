/** Verification of claims against texts that are known to be true (natural-language inference). */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  NLI_ALIAS_CHARACTERS_MAX,
  NLI_ANCHORS_MAX,
  NLI_PAIRS_MAX,
  NLI_TEXT_BYTES_MAX,
  NLI_THRESHOLD_DEFAULT,
} from "../limits.js";
import { Nullable, Strict } from "./schemas.js";

const Text = (description: string) =>
  Type.String({ minLength: 1, description: `${description} At most ${NLI_TEXT_BYTES_MAX} UTF-8 bytes.` });
const Threshold = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: NLI_THRESHOLD_DEFAULT, description }));
const Model = Type.Optional(
  Type.String({
    pattern: `^[A-Za-z0-9][A-Za-z0-9_-]{0,${NLI_ALIAS_CHARACTERS_MAX - 1}}$`,
    description: "A model that was installed when the server started. Default: the configured model.",
  }),
);

const SameSubject = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      "With true, the texts are known to be about the same thing or scene, so what cannot be true of it as well contradicts. Otherwise a text about something else is neutral.",
  }),
);

const answered = {
  model: Type.String(),
  bundle_sha256: Type.String({
    description: "SHA-256 of the bundle's manifest.json, which has the hash of each file.",
  }),
};

const piece = {
  text: Type.String(),
  start: Type.Integer({ description: "Where it begins in the text, in UTF-16 code units." }),
  end: Type.Integer(),
};
const details = {
  related: Type.Boolean({
    description: "False: the texts have nothing to do with each other, so neither decides the other.",
  }),
  evidence: Nullable(
    Type.Object(piece, {
      description: "The sentence that the scores are of, of a text of several. Null: not related.",
    }),
  ),
};

const Scores = Type.Object({
  contradiction: Type.Number(),
  entailment: Type.Number(),
  neutral: Type.Number(),
  ...details,
});

const Identity = Type.Object({
  alias: Type.String(),
  id: Type.String(),
  repository: Nullable(Type.String()),
  revision: Nullable(Type.String()),
  license: Nullable(Type.String()),
  bundle_sha256: Nullable(Type.String({ description: "Null: not installed." })),
  labels: Type.Array(Type.String()),
  max_length: Type.Integer(),
  bytes: Nullable(Type.Integer()),
  required_capabilities: Type.Array(Type.String()),
});

/** Whatever is wrong with a request or its credential has the code that clients of these routes know. */
const own = {
  checksBody: true,
  codes: {
    invalid_request: "invalid_nli_request",
    unauthorized: "missing_claims",
    missing_authorization: "missing_claims",
  },
} as const;

export const nliEndpoints = [
  {
    name: "nli.models",
    door: "none",
    method: "GET",
    path: "/v1/ai/nli/models",
    summary: "The claim models and their states.",
    tag: "ai",
    access: "member",
    home: "tenant",
    response: Type.Object({
      enabled: Type.Boolean(),
      default_model: Type.String(),
      restart_required_for_new_installs: Type.Boolean(),
      models: Type.Array(
        Type.Object({
          model: Type.String(),
          state: Type.Enum(["ready", "missing", "failed", "loading", "installed"], {
            description: "Only ready models answer. installed: not requested yet. loading: requests wait for it.",
          }),
          identity: Identity,
          loaded_bundle_sha256: Nullable(Type.String({ description: "Null: not loaded yet." })),
          problem: Nullable(Type.String({ description: "Why it failed." })),
        }),
      ),
    }),
    codes: own.codes,
  },
  {
    name: "nli.verify",
    door: "none",
    method: "POST",
    path: "/v1/ai/nli/verify",
    summary: "Decide whether a statement is the truth or a lie, from texts that are known to be true.",
    tag: "ai",
    access: "member",
    home: "tenant",
    body: Strict({
      statement: Text("The claim."),
      truth_anchors: Type.Array(Text("Texts that are known to be true."), { minItems: 1, maxItems: NLI_ANCHORS_MAX }),
      model: Model,
      closed_world: Type.Optional(
        Type.Boolean({ default: false, description: "With true, a statement that no anchor entails is a lie." }),
      ),
      contradiction_threshold: Threshold("Score at which an anchor contradicts the statement."),
      entailment_threshold: Threshold("Score at which an anchor entails it."),
      same_subject: SameSubject,
    }),
    example: {
      body: {
        statement: "Ann flew to Paris.",
        truth_anchors: ["Ann flew from Berlin to Paris.", "The soup was cold."],
      },
    },
    response: Type.Object({
      ...answered,
      verdict: Type.Enum(["TRUTH", "LIE", "UNVERIFIED_PLAUSIBLE"]),
      reason: Type.String(),
      confidence: Type.Number(),
      violated_anchor: Nullable(Type.String({ description: "The anchor that contradicts the statement." })),
      matched_anchor: Nullable(Type.String({ description: "The anchor that entails it." })),
      all_scores: Type.Array(Type.Array(Type.Number()), {
        description: "Scores per anchor: contradiction, entailment, neutral.",
      }),
      evidence: Nullable(
        Type.Object(
          { anchor: Type.Integer({ description: "The anchor's number, from 0." }), ...piece },
          { description: "The sentence that decided. Null: none did." },
        ),
      ),
      details: Type.Array(Type.Object(details), { description: "Of each anchor, in the order of the request." }),
    }),
    ...own,
  },
  {
    name: "nli.pairs",
    door: "none",
    method: "POST",
    path: "/v1/ai/nli/pairs",
    summary: "Compare each premise (evidence) with its hypothesis (claim).",
    tag: "ai",
    access: "member",
    home: "tenant",
    body: Strict({
      pairs: Type.Array(Strict({ premise: Text("The evidence."), hypothesis: Text("The claim.") }), {
        minItems: 1,
        maxItems: NLI_PAIRS_MAX,
      }),
      model: Model,
      same_subject: SameSubject,
    }),
    example: { body: { pairs: [{ premise: "Ann flew from Berlin to Paris.", hypothesis: "Ann flew to Paris." }] } },
    response: Type.Object({ ...answered, scores: Type.Array(Scores) }),
    ...own,
  },
] as const satisfies readonly EndpointSpec[];
