/** The commands `upgrade` and `accept-loss`, for a data directory that no server uses. Called by the command line. */
import { FORMAT_VERSION } from "../storage/format.js";
import { formatOf, hasCopy, removeCopy, rollBack, upgradeDataDirectory } from "../storage/format-upgrade.js";
import { acceptLoss, InstallationError, rebuildInstallation } from "../storage/installation.js";
import { lockDataDirectory, writeNewSecret } from "./data-lock.js";
import { secretFile } from "./sealed-secret.js";

export interface UpgradeOrder {
  readonly check?: boolean;
  readonly commit?: boolean;
  readonly rollback?: boolean;
}

/** What was done, or what there is. */
export interface UpgradeOutcome {
  /** For the operator. */
  readonly message: string;
  readonly directory: string;
  /** Of the directory; null: it is empty. */
  readonly format: number | null;
  /** That this release reads and writes. */
  readonly current_format: number;
  /** A copy of the form before the last upgrade is there, so that a rollback is possible. */
  readonly has_copy: boolean;
}

/** Throws `DataDirectoryError` and `InstallationError`. */
export async function runUpgrade(dir: string, keepsCopy: boolean, order: UpgradeOrder): Promise<UpgradeOutcome> {
  if ([order.check, order.commit, order.rollback].filter(Boolean).length > 1) {
    throw new InstallationError("Give at most one of --check, --commit and --rollback.");
  }
  const unlock = lockDataDirectory(dir);
  const outcome = (format: number | null, message: string): UpgradeOutcome => {
    return {
      message,
      directory: dir,
      format,
      current_format: FORMAT_VERSION,
      has_copy: format !== null && hasCopy(dir),
    };
  };
  try {
    if (order.rollback) {
      const format = rollBack(dir);
      const next = "Start the release that wrote it. This release would upgrade it again.";
      return outcome(format, `${dir} has format ${format} again. ${next}`);
    }
    const found = formatOf(dir);
    if (found === null) return outcome(null, `${dir} is empty.`);
    if (order.commit) {
      if (found.installation.upgradingTo !== undefined || found.installation.rollingBackTo !== undefined) {
        throw new InstallationError(`An upgrade of ${dir} or its rollback was interrupted. Finish that first.`);
      }
      if (!hasCopy(dir)) return outcome(found.oldest, "There is no copy of an older format.");
      removeCopy(dir);
      return outcome(found.oldest, "The copy of the older format was removed.");
    }
    if (!order.check) await upgradeDataDirectory(dir, { keepsCopy, log: () => undefined });
    const format = order.check ? found.oldest : FORMAT_VERSION;
    const wayBack = hasCopy(dir)
      ? "a copy of the form before the last upgrade is kept"
      : "no copy of an older form is kept";
    const message = `${dir} has format ${format}; this release reads and writes ${FORMAT_VERSION}; ${wayBack}.`;
    return outcome(format, message);
  } finally {
    unlock();
  }
}

/** `what`: as it was typed. */
export function runAcceptLoss(dir: string, what: string): string {
  if (!/^(?:\d{1,5}|secret|installation)$/.test(what)) {
    throw new InstallationError(`"${what}" is neither the number of a partition nor "secret" or "installation".`);
  }
  const unlock = lockDataDirectory(dir);
  try {
    if (what === "secret") return acceptLossOfSecret(dir);
    if (what === "installation") {
      const { partitions } = rebuildInstallation(dir);
      return `INSTALLATION was rebuilt from the ${partitions} existing partitions.`;
    }
    const aside = acceptLoss(dir, Number(what));
    const left = aside === null ? "" : ` What was left of it is in ${aside}.`;
    return `Partition ${what} starts empty.${left}`;
  } finally {
    unlock();
  }
}

function acceptLossOfSecret(dir: string): string {
  const path = secretFile(dir);
  if (path !== null) throw new InstallationError(`${path} exists: nothing was lost.`);
  writeNewSecret(dir);
  return "A new secret was made. Everybody must sign in again, and encrypted settings must be entered again.";
}
