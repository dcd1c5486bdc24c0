/** The generated pages of docs/reference, by the names of their files. Written by scripts/reference-docs.mjs. */
import { metricsTable } from "../gateway/metrics-table.js";
import { authorizationPage } from "../security/authorization-table.js";
import { configurationPage } from "./configuration-page.js";
import { endpointsPage } from "./endpoints-page.js";
import { errorsPage } from "./errors-page.js";
import { limitsPage } from "./limits-page.js";
import { proceduresPage } from "./procedures-page.js";

export const REFERENCE_PAGES: Readonly<Record<string, () => string>> = {
  "authorization.md": authorizationPage,
  "configuration.md": configurationPage,
  "endpoints.md": endpointsPage,
  "errors.md": errorsPage,
  "limits.md": limitsPage,
  "metrics.md": metricsTable,
  "procedures.md": proceduresPage,
};
