/**
 * Finds the program's own files. It runs as modules (dist/src, dist/workers: tests) or bundled (dist/server, made by
 * scripts/bundle.mjs), so no module may look for files beside itself.
 */
const here = import.meta.url;
const dist = here.lastIndexOf("/dist/");

/** The project's folder, as a URL that ends with a slash. */
export const PROJECT = here.slice(0, dist + 1);

const isBundled = here.startsWith("/dist/server/", dist);

/** The entry of a kind of thread or process: a file of workers/. */
export function threadEntry(
  name:
    | "actor"
    | "checkpoints"
    | "compute-process"
    | "engine-writer"
    | "folder"
    | "inference"
    | "lease"
    | "library"
    | "task"
    | "watch",
): URL {
  return new URL(isBundled ? `dist/server/${name}.cjs` : `dist/workers/${name}.js`, PROJECT);
}
