/** A small file system of its own, which tests fill and make read-only. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Large enough for what RocksDB and the log keep, small enough to be filled at once. */
const SMALL_DISK = "400m";

/** A file system of its own for the data; null: this user may not mount one. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  static mount(size = SMALL_DISK): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), "tessera-disk-"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path], { stdio: "ignore" });
      return new SmallDisk(path);
    } catch {
      rmSync(path, { recursive: true });
      return null;
    }
  }

  /** Leaves no room at all; what is returned makes room again. */
  fill(): () => void {
    const filler = join(this.path, "filler");
    const { bavail, bsize } = statfsSync(this.path);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The server may have taken some meanwhile: full it is.
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
    return () => rmSync(filler, { force: true });
  }

  readOnly(on: boolean): void {
    execFileSync("mount", ["-o", `remount,${on ? "ro" : "rw"}`, this.path], { stdio: "ignore" });
  }

  unmount(): void {
    execFileSync("umount", ["-l", this.path], { stdio: "ignore" });
    rmSync(this.path, { recursive: true });
  }
}
