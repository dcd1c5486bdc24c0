/** The client for Python: its own tests, against a real server. Skipped with a line where there is no Python. */
import { spawn, spawnSync } from "node:child_process";
import t from "tap";
import { ADMIN_PASSWORD, TestServer } from "../e2e/server.js";

const PACKAGE = new URL("../../../clients/python", import.meta.url).pathname;
const isThere = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;

t.test(
  "the tests of tessera_client",
  { skip: isThere ? false : "python3 (3.9 or later) is not installed" },
  async (t) => {
    const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_NLI_ENABLED: "true" });
    t.teardown(() => server.stop());
    const env = {
      ...process.env,
      TESSERA_CLIENT_URL: server.url,
      TESSERA_CLIENT_PASSWORD: ADMIN_PASSWORD,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const child = spawn("python3", ["-W", "error::DeprecationWarning", "-m", "unittest", "-v"], { cwd: PACKAGE, env });
    let printed = "";
    child.stderr.on("data", (bytes) => {
      printed += bytes;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    t.equal(code, 0, printed);
    // Warnings may stand between the name of a test and its "ok".
    const passed = Number(/^Ran (\d+) tests/m.exec(printed)?.[1]);
    t.ok(passed >= 8, `${passed} tests of Python`);
  },
);
