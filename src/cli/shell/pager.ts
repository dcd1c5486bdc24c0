/** Shows long results in $PAGER, or in `less` where there is one. */
import { spawn } from "node:child_process";
import type { Interface } from "node:readline";
import type { Writable } from "node:stream";

/** Resolves when the reader has seen enough. PAGER= (empty) turns it off. */
export async function page(lines: readonly string[], terminal: Interface, output: Writable): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  const command = process.env.PAGER ?? "less";
  if (command === "") {
    output.write(text);
    return;
  }
  terminal.pause();
  const isShown = await new Promise<boolean>((resolve) => {
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { LESS: "-FRSX", ...process.env },
    });
    child.on("error", () => resolve(false));
    // 127: the shell has no such program.
    child.on("close", (code) => resolve(code !== 127));
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
  if (!isShown) output.write(text);
  terminal.resume();
}
