/** What `data.upgrade` says of an older data directory, when a server starts. */
import type { Logger } from "pino";
import type { Config } from "../protocol/config.js";
import { formatOf, upgradeDataDirectory } from "../storage/format-upgrade.js";
import { type Installation, InstallationError } from "../storage/installation.js";

/** Brings the directory, which is locked, to that format. Throws `InstallationError` where it may not or cannot. */
export function upgradeAtStart(
  { dir, upgrade }: Config["data"],
  target: number,
  logger: Logger,
): Promise<Installation> {
  const found = formatOf(dir);
  if (upgrade === "refuse" && found !== null && found.oldest < target) {
    throw new InstallationError(
      `${dir} has format ${found.oldest} of an older release and data.upgrade is "refuse": start it once with "keep_copy", or run \`tessera upgrade\` first.`,
    );
  }
  const log = (message: string, fields: object): void => logger.info(fields, message);
  return upgradeDataDirectory(dir, { keepsCopy: upgrade === "keep_copy", log, target });
}
