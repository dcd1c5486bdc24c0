/** The tenant's branches, what each has changed, and the past. */
import { goTo } from "../../lib/router.js";
import { isAdmin, session } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import type { PageProps } from "../../shell/pages.js";
import { Page } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { BranchDetail } from "./branch-detail.js";
import { BranchList } from "./branch-list.js";
import { Past } from "./past.js";

const TABS = [
  { id: "branches", label: "Branches" },
  { id: "past", label: "The past" },
] as const;

/** #/branches, #/branches/of/{name}, #/branches/past. */
export function BranchesPage({ path, query }: PageProps) {
  const current = useStore(session);
  if (current.state !== "in") return null;
  const { user, branch } = current;
  const [first, name] = path;
  const shown = first === "past" ? "past" : "branches";
  return (
    <Page
      title="Branches"
      lead="A branch is a copy of all data that takes no time. Change it, look at the difference, and keep it or throw it away. For PostgreSQL clients each is a database."
    >
      <Tabs
        label="What to look at"
        tabs={TABS}
        current={shown}
        onChange={(id) => goTo(id === "past" ? ["branches", "past"] : ["branches"])}
      />
      {shown === "past" && <Past mayChange={isAdmin(user)} query={query} />}
      {shown === "branches" && first === "of" && name !== undefined && (
        <BranchDetail key={name} name={name} shown={branch} mayChange={isAdmin(user)} query={query} />
      )}
      {shown === "branches" && first !== "of" && (
        <BranchList tenant={user.tenant} shown={branch} mayChange={isAdmin(user)} />
      )}
    </Page>
  );
}
