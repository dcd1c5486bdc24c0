/**
 * `tessera backup …`: what operators do with backups, from a shell or a script. All but `verify FILE` asks a running
 * server. Called by the command line; holds no state. Exit codes: api-client.ts.
 */
import { createReadStream, existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { partPath, removeUnpacked, unpackArchive } from "../backup/backup-archive.js";
import { verifyBackups } from "../backup/read-backups.js";
import { CommandError, EXIT, secretOf } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";

interface Options extends ClientOptions {
  readonly passphraseFile?: string;
  readonly installation?: true;
  readonly incremental?: true;
  readonly tenant?: string[];
  readonly from?: string;
  readonly until?: string;
  readonly replace?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's fields are declared in protocol/endpoints
type Json = any;

export function addBackupCommands(program: Command): void {
  const backup = program
    .command("backup")
    .description("make, list, check, restore and carry backups; talks to a running server")
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  const add = (
    usage: string,
    description: string,
    work: (options: Options, args: readonly string[]) => Promise<Told>,
  ) => {
    return addClientCommand<Options>(backup, usage, description, work).option(
      "--passphrase-file <file>",
      "of the backup (default: $TESSERA_CLIENT_PASSPHRASE; without one it is not encrypted)",
    );
  };
  const ofInstallation = ["--installation", "of the whole installation (administrators of the system tenant)"] as const;
  add("create", "back up the tenant of who signs in", create)
    .option("--incremental", "only what was committed since the last backup")
    .option(...ofInstallation);
  add("list", "list backups, newest first", list).option(...ofInstallation);
  add(
    "verify <backup>",
    "read a backup to its end: one of the server's, or a downloaded file (without a server)",
    verify,
  ).option(...ofInstallation);
  add("restore [backup]", "put a backup's content in the place of a tenant's", restore)
    .option("--tenant <tenant...>", "the tenant, or with --installation those to restore (default: all)")
    .option("--from <tenant>", "whose backup it is (default: the tenant's own)")
    .option("--until <time>", "the moment, such as 2026-01-31T12:00:00Z (default: the backup's)")
    .option("--replace", "the tenant may have content, which is lost")
    .option(...ofInstallation);
  add("delete <backup>", "delete a backup; one that is being made is given up", remove).option(...ofInstallation);
  add("download <backup> <file>", "save a backup and those that it continues as one file", download);
  add("upload <file>", "take a downloaded file in as backups of a tenant, to be restored then", upload).requiredOption(
    "--tenant <tenant...>",
    "the tenant",
  );
}

/** Runs it, prints what it has to say, and exits. */
function passphraseOf({ passphraseFile }: Options): { passphrase?: string } {
  const passphrase = secretOf(passphraseFile, process.env.TESSERA_CLIENT_PASSPHRASE);
  return passphrase === null ? {} : { passphrase };
}

function pathOf({ installation }: Options): string {
  return installation ? "/admin/backups" : "/v1/backups";
}

const hasEnded = ({ finished_at }: Json): boolean => finished_at !== null;

/** What a server did in the background and could not finish is a failure of the command. */
function orFailed(data: Json): Json {
  if (data.error === null) return data;
  const { code, message } = data.error;
  throw new CommandError(code === "backup_damaged" ? EXIT.damaged : EXIT.failed, code, message);
}

async function create(options: Options): Promise<Told> {
  const client = await connect(options);
  const body = { incremental: options.incremental ?? false, ...passphraseOf(options) };
  const { id } = await client.call("POST", pathOf(options), body);
  const data = orFailed(await client.wait(`${pathOf(options)}/${id}`, hasEnded));
  return { data, lines: [lineOf(data), ...(data.note == null ? [] : [data.note])] };
}

async function list(options: Options): Promise<Told> {
  const client = await connect(options);
  const backups: Json[] = [];
  for (;;) {
    const page = await client.call("GET", `${pathOf(options)}?limit=100&offset=${backups.length}`);
    backups.push(...page.backups);
    if (page.backups.length === 0 || backups.length >= page.total) break;
  }
  return { data: { backups, total: backups.length }, lines: backups.map(lineOf) };
}

function lineOf(one: Json): string {
  const sealed = one.encrypted ? "encrypted" : "plain";
  const words = [one.id, one.kind, one.status, one.finished_at ?? one.started_at, `${one.entries} entries`];
  return [...words, `${one.bytes} bytes`, sealed, ...(one.verified_at === null ? [] : ["verified"])].join("  ");
}

async function verify(options: Options, [backup]: readonly string[]): Promise<Told> {
  const { passphrase = null } = passphraseOf(options);
  const data = existsSync(backup!)
    ? await verifyFile(backup!, passphrase)
    : await (await connect(options)).call("POST", `${pathOf(options)}/${backup}/verify`, passphraseOf(options));
  return { data, lines: [`whole: ${data.files} files, ${data.entries} entries, ${data.bytes} bytes`] };
}

/** Takes it apart in a temporary folder, as an upload does. */
async function verifyFile(file: string, passphrase: string | null): Promise<Json> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-verify-"));
  try {
    const parts = await unpackArchive(createReadStream(file), folder);
    return await verifyBackups(parts, { dataOf: (part) => partPath(folder, part), passphrase }, async () => undefined);
  } finally {
    await removeUnpacked(folder);
  }
}

async function restore(options: Options, [backup]: readonly string[]): Promise<Told> {
  const { tenant = [], from, until, replace = false, installation } = options;
  if (installation) return restoreInstallation(options, backup);
  if (tenant.length !== 1)
    throw new CommandError(EXIT.usage, "usage", "--tenant: name the tenant that is to be restored");
  const path = `/admin/tenants/${encodeURIComponent(tenant[0]!)}/restore`;
  const client = await connect(options);
  await client.call("POST", path, { ...passphraseOf(options), ...definedOf({ backup, from, until }), replace });
  const data = orFailed(await client.wait(path, hasEnded));
  const checked = data.verified === true ? "its digest is that of the backup" : "there is no digest of that moment";
  return { data, lines: [`${data.tenant} is restored from ${data.backup}: ${data.entries} entries; ${checked}`] };
}

async function restoreInstallation(options: Options, backup: string | undefined): Promise<Told> {
  if (backup === undefined) throw new CommandError(EXIT.usage, "usage", "name the backup that is to be restored");
  const { tenant: tenants, replace = false } = options;
  const path = `/admin/backups/${encodeURIComponent(backup)}/restore`;
  const client = await connect(options);
  await client.call("POST", path, { ...passphraseOf(options), ...definedOf({ tenants }), replace });
  const data = await client.wait(path, hasEnded).catch((error: unknown) => {
    // The last step replaces the accounts, ours as well: what was signed in with is not known any more.
    const isReplaced = tenants === undefined && error instanceof CommandError && error.code === "unauthorized";
    if (!isReplaced) throw error;
    return { backup, state: "completed", error: null };
  });
  const accounts = tenants === undefined ? "; users and keys are those of the backup now" : "";
  return { data: orFailed(data), lines: [`${backup} is restored${accounts}`] };
}

async function remove(options: Options, [backup]: readonly string[]): Promise<Told> {
  const client = await connect(options);
  await client.call("DELETE", `${pathOf(options)}/${encodeURIComponent(backup!)}`);
  return { data: { deleted: backup }, lines: [`${backup} is deleted`] };
}

async function download(options: Options, [backup, file]: readonly string[]): Promise<Told> {
  const client = await connect(options);
  await client.download(`/v1/backups/${encodeURIComponent(backup!)}/download`, file!);
  return { data: { backup, file }, lines: [`${backup} is in ${file}`] };
}

async function upload(options: Options, [file]: readonly string[]): Promise<Told> {
  const tenant = options.tenant![0]!;
  if (!existsSync(file!)) throw new CommandError(EXIT.usage, "no_such_file", `${file} is not there`);
  const client = await connect(options);
  const { passphrase } = passphraseOf(options);
  const headers: Record<string, string> =
    passphrase === undefined ? {} : { "x-backup-passphrase": encodeURIComponent(passphrase) };
  const data = await client.upload(`/admin/tenants/${encodeURIComponent(tenant)}/backups`, file!, headers);
  return {
    data,
    lines: [`${data.id} is now a backup of ${tenant}. Restore it with: backup restore ${data.id} --tenant ${tenant}`],
  };
}

function definedOf<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
