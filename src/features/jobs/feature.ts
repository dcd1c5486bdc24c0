/** Work that no client waits for. */
import type { Feature } from "../feature.js";
import { JOBS } from "./jobs.js";

export const jobsFeature = {
  name: "jobs",
  part: JOBS,
} satisfies Feature;
