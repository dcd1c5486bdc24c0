/** A server for pictures and measurements of the console, and the way in. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const PASSWORD = "a password for pictures";

export async function startServer(directory) {
  const child = spawn("bin/tessera", ["serve"], {
    env: {
      ...process.env,
      TESSERA_PORT: "0",
      TESSERA_DATA_DIR: directory,
      TESSERA_ADMIN_PASSWORD: PASSWORD,
      TESSERA_RATE_LIMIT_PER_SECOND: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /^listening on (http:\S+)$/.exec(line);
      if (found !== null) resolve(found[1]);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
  });
  return { child, url };
}

export async function signIn(page, url) {
  await page.goto(`${url}/console/`);
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: /^Welcome/ }).waitFor();
}
