/**
 * Under the top bar, while all pages are about a branch: across the whole page, so that nobody overlooks it. When the
 * branch has ended, the pages are about the tenant again.
 */
import { TesseraError } from "../../../clients/typescript/src/index.js";
import { useEvery } from "../lib/load.js";
import { linkTo } from "../lib/router.js";
import { branchShown, showBranch, tenantClient } from "../lib/session.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { tell } from "../ui/toast.js";

const LOOK_EVERY_MS = 30_000;

export function BranchBar({ tenant, branch }: { readonly tenant: string; readonly branch: string }) {
  useEvery(LOOK_EVERY_MS, () => void leaveEnded(branch));
  return (
    <section class="branch-bar" aria-label="Branch">
      <Icon name="branch" />
      <span class="branch-bar-name">
        Branch <strong>{branch}</strong>
      </span>
      <span class="branch-bar-told">Every page reads and writes this branch. {tenant} itself does not change.</span>
      <span class="spacer" />
      <a class="button plain" href={linkTo(["branches", "of", branch])}>
        Changes
      </a>
      <Button label="All pages are about the tenant again" onClick={() => showBranch(null)}>
        Leave
      </Button>
    </section>
  );
}

async function leaveEnded(branch: string): Promise<void> {
  try {
    await tenantClient().request("GET", `/v1/branches/${encodeURIComponent(branch)}`);
  } catch (failure) {
    const isEnded = failure instanceof TesseraError && failure.status === 404;
    // Any other failure shows where something is asked for. Somebody may have left the branch meanwhile.
    if (!isEnded || branchShown() !== branch) return;
    showBranch(null);
    tell(`The branch ${branch} has ended. All pages are about the tenant again.`);
  }
}
