/** Sentiment, entities, summaries, categories and answers. */

import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { LANGUAGE, LANGUAGE_FUNCTIONS, statementLanguage } from "./language-functions.js";
import { languageHandlers } from "./language-routes.js";

export const languageFeature = {
  name: "language",
  handlers: languageHandlers,
  functions: LANGUAGE_FUNCTIONS,
  provide: () => provideCapability(LANGUAGE, statementLanguage),
} satisfies Feature;
