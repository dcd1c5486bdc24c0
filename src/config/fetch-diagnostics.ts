/** `tessera diagnostics`: a running server's diagnostic bundle as a file. Called by command-line.ts. */
import { writeFileSync } from "node:fs";

export interface FetchDiagnostics {
  readonly url: string;
  readonly output: string;
  readonly profileSeconds: string;
  /** Of an administrator of the installation. */
  readonly token: string;
}

/** Throws with what the server said. */
export async function fetchDiagnostics({
  url,
  output,
  profileSeconds,
  token,
}: FetchDiagnostics): Promise<{ readonly file: string; readonly bytes: number }> {
  if (token === "") {
    throw new Error(
      "TESSERA_TOKEN is empty: sign in with POST /v1/auth/login as an administrator of the installation.",
    );
  }
  const query = `profile_seconds=${encodeURIComponent(profileSeconds)}`;
  const address = `${url.replace(/\/+$/, "")}/v1/admin/diagnostics?${query}`;
  const reply = await fetch(address, { headers: { authorization: `Bearer ${token}` } }).catch((error: Error) => {
    throw new Error(`${url} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  const bytes = Buffer.from(await reply.arrayBuffer());
  if (!reply.ok) throw new Error(`the server answered ${reply.status}: ${bytes.toString().slice(0, 500)}`);
  writeFileSync(output, bytes, { mode: 0o600 });
  return { file: output, bytes: bytes.length };
}
