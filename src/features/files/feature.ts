/** Folders of files as collections. */
import type { Feature } from "../feature.js";
import { fileJobs } from "./file-jobs.js";
import { fileHandlers } from "./file-routes.js";
import { FOLDER_FUNCTIONS } from "./folder-functions.js";

export const filesFeature = {
  name: "files",
  handlers: fileHandlers,
  functions: FOLDER_FUNCTIONS,
  jobs: [fileJobs],
} satisfies Feature;
