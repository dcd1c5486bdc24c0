/**
 * A file of the backup folder that tells whether the nodes of a cluster share the folder. The node with the directory
 * writes it, once, and says with each order what is in it. Who gets the order looks whether that is there, too. Holds
 * no state.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DbError } from "../protocol/errors.js";
import { writeFileDurably } from "../storage/disk.js";

/** No tenant has such a name. */
const NAME = "_cluster";
const MARK = /^[0-9a-f]{32}$/;

export class FolderMark {
  private readonly top: string;

  /** `directory`: of all backups. `node`: this one, for messages. */
  constructor(
    directory: string,
    private readonly node: string,
  ) {
    this.top = resolve(directory);
  }

  /** What is there; made if need be. */
  made(): string {
    const found = this.read();
    if (found !== null) return found;
    mkdirSync(this.top, { recursive: true, mode: 0o700 });
    writeFileDurably(join(this.top, NAME), `${randomBytes(16).toString("hex")}\n`);
    return this.read()!;
  }

  /** Throws folder_not_shared. */
  requireSame(mark: string): void {
    if (this.read() === mark) return;
    throw new DbError(
      "folder_not_shared",
      `Node "${this.node}" does not see the backups that the node with the directory sees. Mount one folder on all nodes, and name it in backup.directory of each.`,
    );
  }

  /** Null: there is none. */
  private read(): string | null {
    try {
      const text = readFileSync(join(this.top, NAME), "utf8").trim();
      return MARK.test(text) ? text : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }
}
