/** Entry of a task thread: each export is a task, run by name through a piscina pool (task-pool.ts). */
export { deriveKey } from "../src/directory/derive-key.js";
