/** How the server is, and who may do what: one tab for each. */
import { goTo } from "../../lib/router.js";
import { isOperator, session, type User } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { OPERATE_TABS, tabNamed, tabsFor } from "../../shell/page-tabs.js";
import type { PageProps } from "../../shell/pages.js";
import { ForOperators } from "../../ui/notice.js";
import { Page } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { Audit } from "./audit.js";
import { Backups } from "./backups.js";
import { Cluster } from "./cluster.js";
import { Diagnostics } from "./diagnostics.js";
import { Health } from "./health.js";
import { Keys } from "./keys.js";
import { Limits } from "./limits.js";
import { Sessions } from "./sessions.js";
import { Settings } from "./settings.js";
import { Tenants } from "./tenants.js";
import { Users } from "./users.js";

type Shown = (typeof OPERATE_TABS)[number]["id"];

export function OperatePage({ path, query }: PageProps) {
  const current = useStore(session);
  if (current.state !== "in") return null;
  const { user } = current;
  const tabs = tabsFor<Shown>(OPERATE_TABS, user);
  const shown = tabNamed<Shown>(OPERATE_TABS, user, path[0]);
  return (
    <Page title="Operate">
      <Tabs label="What to look at" tabs={tabs} current={shown} onChange={(id) => goTo(["operate", id])} />
      <Part shown={shown} user={user} tenant={query.tenant ?? user.tenant} />
    </Page>
  );
}

interface PartProps {
  readonly shown: Shown | undefined;
  readonly user: User;
  /** Operators see users and limits of every tenant. */
  readonly tenant: string;
}

function Part({ shown, user, tenant }: PartProps) {
  if (shown === undefined) return <ForOperators />;
  if (shown === "sessions") return <Sessions />;
  if (shown === "users")
    return <Users key={tenant} tenant={tenant} canSwitch={isOperator(user)} isOwn={tenant === user.tenant} />;
  if (shown === "keys") return <Keys />;
  if (shown === "limits") return <Limits key={tenant} tenant={tenant} user={user} />;
  if (shown === "tenants") return <Tenants />;
  if (shown === "backups") return <Backups tenant={user.tenant} />;
  if (shown === "audit") return <Audit />;
  if (shown === "cluster") return <Cluster />;
  if (shown === "settings") return <Settings />;
  if (shown === "diagnostics") return <Diagnostics />;
  return <Health user={user} />;
}
