/** tessera_evaluations and tessera_evaluation_scores: a user's own evaluations in SQL. */
import { INT8, JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { rowsOfUser } from "../statements/own-relation.js";

export const OWN_EVALUATIONS = [
  rowsOfUser("_evaluations", {
    id: TEXT,
    kind: TEXT,
    name: TEXT,
    about: TEXT,
    questions: INT8,
    result: JSONB,
    created_at: TIMESTAMPTZ,
  }),
  rowsOfUser(
    "_evaluation_scores",
    { evaluation_id: TEXT, scores: JSONB },
    `public."_evaluation_scores" AS kept JOIN public."_evaluations" AS evaluation
      ON evaluation.id = kept.evaluation_id WHERE evaluation.user_id = $1::text`,
  ),
];
