/** What the programs in JavaScript share: one printed line for each thing that a client did. */
import { spawnSync } from "node:child_process";

/** Runs an action; the line says what it was and whether it went well. */
export async function step(what, action) {
  try {
    await action();
    console.log(`ok - ${what}`);
  } catch (error) {
    console.log(`not ok - ${what} # ${described(error)}`);
  }
}

export function equal(actual, expected) {
  const [own, other] = [actual, expected].map((value) => JSON.stringify(value));
  if (own !== other) throw new Error(`${own} where ${other} was expected`);
}

export function matches(text, pattern) {
  if (!pattern.test(text)) throw new Error(`${JSON.stringify(text)} does not match ${pattern}`);
}

/** The promise must reject with an error of this SQLSTATE; gives the error. */
export async function fails(promise, sqlstate) {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  if (error === null) throw new Error(`no error where ${sqlstate} was expected`);
  const code = error.code ?? error.original?.code ?? error.cause?.code ?? error.driverError?.code;
  if (code !== sqlstate) throw new Error(`${code} (${error.message}) where ${sqlstate} was expected`);
  return error;
}

/** Runs a program to its end; gives what it printed. Throws when it fails, unless `mayFail`. */
export function run(command, arguments_, { input = "", mayFail = false, env = {}, seconds = 50 } = {}) {
  const options = { input, encoding: "utf8", maxBuffer: 1 << 28, timeout: seconds * 1000 };
  const ended = spawnSync(command, arguments_, { ...options, env: { ...process.env, ...env } });
  if (ended.error !== undefined) throw ended.error;
  if (ended.status !== 0 && !mayFail) throw new Error(`${command}: ${(ended.stderr || ended.stdout).trim()}`);
  return { output: ended.stdout, errors: ended.stderr, status: ended.status };
}

function described(error) {
  const text =
    error?.errors?.length > 0
      ? error.errors.map(described).join("; ")
      : `${error?.code ?? ""} ${error?.message ?? error}`;
  return text.replace(/\s+/g, " ").trim();
}
