/**
 * The directory actor's part of backups: backups of the whole installation, their restores, and schedules. Made by
 * actor.ts.
 */
import { rmSync } from "node:fs";
import { Schedules, type SchedulesHost } from "./schedules.js";
import { WholeBackups, type WholeBackupsHost } from "./whole-backups.js";
import { WholeRestores, type WholeRestoresHost } from "./whole-restores.js";

export interface InstallationBackups {
  readonly backups: WholeBackups;
  readonly restores: WholeRestores;
  readonly schedules: Schedules;
  /** A backup or a restore is under way. */
  isBusy(): boolean;
  close(): Promise<void>;
}

export interface InstallationBackupsHost
  extends Omit<SchedulesHost, "whole">,
    Pick<WholeBackupsHost, "turn" | "stillHere">,
    Pick<WholeRestoresHost, "isEmpty"> {
  readonly restoreOrders: WholeRestoresHost["orders"];
}

export async function openInstallationBackups(host: InstallationBackupsHost): Promise<InstallationBackups> {
  const { directory, orders, restoreOrders, folder, wholeFolder, turn, isEmpty, durable, stillHere, log } = host;
  // Of uploads that a crash cut short.
  rmSync(folder.incoming, { recursive: true, force: true });
  const backups = new WholeBackups({ directory, orders, folder: wholeFolder, turn, stillHere, log });
  const schedules = await Schedules.open({ ...host, whole: backups });
  const restores = new WholeRestores({
    ...{ directory, backups, orders: restoreOrders, folder: wholeFolder, isEmpty, durable, log },
    accountsReplaced: () => schedules.reload(),
  });
  const close = async (): Promise<void> => {
    await Promise.all([schedules.close(), backups.close()]);
  };
  const isBusy = (): boolean => backups.isRunning || restores.isRunning || schedules.isBusy;
  return { backups, restores, schedules, isBusy, close };
}
