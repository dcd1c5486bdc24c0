/** Folders of files as collections. */
import type { Feature } from "../feature.js";
import { fileJobs } from "./file-jobs.js";
import { fileHandlers } from "./file-routes.js";
import { FOLDER_FUNCTIONS } from "./folder-functions.js";
import { OWN_FOLDERS } from "./own-folders.js";

export const filesFeature = {
  name: "files",
  ownRelations: OWN_FOLDERS,
  handlers: fileHandlers,
  functions: FOLDER_FUNCTIONS,
  jobs: [fileJobs],
} satisfies Feature;
