/** The table of kinds of jobs, which actor.ts hands to its partitions. */

import type { JobKind } from "../actor/background/job-kind.js";
import { trainingJobs } from "./automl/train-job.js";
import { webhookJobs } from "./automl/webhook.js";
import { fileJobs } from "./files/file-jobs.js";

export const JOB_KINDS: readonly JobKind[] = [trainingJobs, webhookJobs, fileJobs];
