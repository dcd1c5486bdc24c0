/**
 * The file INSTALLATION of a data directory: its format, its id, and its number of partitions, by which a missing
 * partition is noticed. Called before any actor starts, under the directory's lock. The file is the only state.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { writeFileDurably } from "./disk.js";
import { createShardDirectory, FORMAT_VERSION, isServed, readShardFormat, type ShardFormat } from "./format.js";
import { partitionDirectory } from "./partition-directory.js";

const FILE_NAME = "INSTALLATION";

export interface Installation {
  readonly product: "tessera";
  readonly format: number;
  /** Tells this installation from every other one. */
  readonly id: string;
  /** They are numbered from 0. */
  readonly partitions: number;
  /** An upgrade to that format has begun: some partitions may have it already. */
  readonly upgradingTo?: number;
  /** A rollback of an upgrade has begun; what this file was before that upgrade (null: there was none). */
  readonly rollingBackTo?: { readonly format: number; readonly partitions: number; readonly before: string | null };
}

/** The directory cannot be used as it is; the message is for the operator. */
export class InstallationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InstallationError";
  }
}

export function installationPath(dataDirectory: string): string {
  return join(dataDirectory, FILE_NAME);
}

/** Undefined: there is no such file. Throws `InstallationError` when it is damaged. */
export function readInstallation(dataDirectory: string): Installation | undefined {
  const path = installationPath(dataDirectory);
  if (!existsSync(path)) return undefined;
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Partial<Installation>;
    const { product, format, id, partitions } = found;
    const numbers = [format, partitions].every(Number.isSafeInteger);
    if (product === "tessera" && numbers && typeof id === "string") return found as Installation;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InstallationError(`${path} is damaged: restore it from a backup of the data directory.`);
}

export function writeInstallation(dataDirectory: string, installation: Installation): void {
  writeFileDurably(installationPath(dataDirectory), `${JSON.stringify(installation)}\n`);
}

/**
 * Of a data directory of the first release, which had no such file; or of a new one, which has no partitions. Where the
 * file was lost, the partitions know what it said, but not whether there were more of them.
 */
export function unwrittenInstallation(dataDirectory: string): Installation {
  const numbers = partitionsOnDisk(dataDirectory);
  const partitions = Math.max(0, ...numbers.map((number) => number + 1));
  const known = numbers.map((number) => shardFormatOf(dataDirectory, number)).find((found) => found?.installation);
  const format = known?.format ?? (partitions === 0 ? FORMAT_VERSION : 1);
  return { product: "tessera", format, id: known?.installation ?? randomUUID(), partitions };
}

/** Throws `InstallationError` where the file is missing and there was one: the partitions know of it. */
export function requireInstallation(dataDirectory: string): void {
  if (existsSync(installationPath(dataDirectory)) || !partitionsOnDisk(dataDirectory).some(knowsInstallation)) return;
  throw new InstallationError(
    `${installationPath(dataDirectory)} is missing, and ${dataDirectory} has partitions: restore the file from a copy of the data ` +
      "directory. Or, where all partitions are there, have it made of them: `tessera accept-loss installation`.",
  );

  function knowsInstallation(partition: number): boolean {
    return shardFormatOf(dataDirectory, partition)?.installation !== undefined;
  }
}

/** Rewrites the file from the existing partitions. Returns its content. */
export function rebuildInstallation(dataDirectory: string): Installation {
  if (existsSync(installationPath(dataDirectory))) {
    throw new InstallationError(`${installationPath(dataDirectory)} exists: nothing was lost.`);
  }
  const installation = unwrittenInstallation(dataDirectory);
  writeInstallation(dataDirectory, installation);
  return installation;
}

/** Makes an empty data directory one of an installation that is there already, on other nodes. */
export function joinInstallation(
  dataDirectory: string,
  { id, partitions, format }: Pick<Installation, "id" | "partitions" | "format">,
): Installation {
  const installation = { product: "tessera", format, id, partitions: 0 } as const;
  const found = readInstallation(dataDirectory);
  const isUsed = (number: number): boolean => existsSync(join(partitionDirectory(dataDirectory, number), "log"));
  // Without the file nothing was ever opened, unless the file was lost.
  if (found === undefined && partitionsOnDisk(dataDirectory).some(isUsed))
    throw new InstallationError(`${dataDirectory} is not empty: begin with an empty data directory.`);
  if (found !== undefined && found.id !== id) {
    throw new InstallationError(
      `${dataDirectory} belongs to another installation than the cluster: begin with an empty data directory.`,
    );
  }
  return addPartitions(dataDirectory, found ?? installation, partitions);
}

/** Adds partitions to a directory that this release can open, up to the given number; returns its new description. */
export function addPartitions(dataDirectory: string, installation: Installation, partitions: number): Installation {
  if (partitions <= installation.partitions) return installation;
  for (let partition = installation.partitions; partition < partitions; partition++) {
    const identity = { installation: installation.id, partition };
    createShardDirectory(partitionDirectory(dataDirectory, partition), identity, installation.format);
  }
  // Until here they are not known, and are made again after a crash: nothing was ever in them.
  const grown = { ...installation, partitions };
  writeInstallation(dataDirectory, grown);
  return grown;
}

/**
 * Puts an empty partition in the place of a lost one, and sets the remains aside. Returns their place, or null. Throws
 * `InstallationError` if there is no such partition, or if it is the one that holds the accounts.
 */
export function acceptLoss(dataDirectory: string, partition: number): string | null {
  const installation = readInstallation(dataDirectory);
  if (installation === undefined || !isServed(installation.format)) {
    throw new InstallationError(`${dataDirectory} is not a data directory of this release. Start the server once.`);
  }
  if (partition === 0) {
    throw new InstallationError(
      "Partition 0 holds the accounts of all tenants: restore it from a backup, or begin with a new data directory.",
    );
  }
  if (partition >= installation.partitions) {
    throw new InstallationError(
      `There is no partition ${partition}: they are numbered 0 to ${installation.partitions - 1}.`,
    );
  }
  const directory = partitionDirectory(dataDirectory, partition);
  let aside: string | null = null;
  if (existsSync(directory)) {
    aside = freeName(`${directory}.lost`);
    renameSync(directory, aside);
  }
  createShardDirectory(directory, { installation: installation.id, partition }, installation.format);
  return aside;
}

/** The numbers of the directories that are there. */
export function partitionsOnDisk(dataDirectory: string): number[] {
  mkdirSync(dataDirectory, { recursive: true });
  return readdirSync(dataDirectory)
    .map((name) => /^partition-(\d+)$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number);
}

/** The format of a partition's directory; null if it is unknown: opening it then reports why. */
export function formatOfPartition(dataDirectory: string, partition: number): number | null {
  return shardFormatOf(dataDirectory, partition)?.format ?? null;
}

function shardFormatOf(dataDirectory: string, partition: number): ShardFormat | undefined {
  try {
    return readShardFormat(partitionDirectory(dataDirectory, partition));
  } catch (error) {
    if (error instanceof DbError) return undefined;
    throw error;
  }
}

function freeName(wanted: string): string {
  for (let i = 1; ; i++) if (!existsSync(`${wanted}-${i}`)) return `${wanted}-${i}`;
}
