/** Writes docs/METRICS.md from the declarations of the build. Called by `make docs`. */
import { writeFileSync } from "node:fs";
import { metricsTable } from "../dist/test/gateway/metrics-table.js";

writeFileSync("docs/METRICS.md", metricsTable());
