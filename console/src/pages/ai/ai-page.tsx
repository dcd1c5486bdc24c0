/** What models do with the tenant's data: one tab for each. */
import { goTo } from "../../lib/router.js";
import { session } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { AI_TABS, tabNamed, tabsFor } from "../../shell/page-tabs.js";
import type { PageProps } from "../../shell/pages.js";
import { ForOperators } from "../../ui/notice.js";
import { Page } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { Agents } from "./agents.js";
import { Ask } from "./ask.js";
import { Chats } from "./chats.js";
import { Claims } from "./claims.js";
import { ModelLibrary } from "./library.js";
import { Memories } from "./memories.js";

type Shown = (typeof AI_TABS)[number]["id"];

export function AiPage({ path }: PageProps) {
  const current = useStore(session);
  if (current.state !== "in") return null;
  const tabs = tabsFor<Shown>(AI_TABS, current.user);
  const shown = tabNamed<Shown>(AI_TABS, current.user, path[0]);
  return (
    <Page title="AI">
      <Tabs label="What to do" tabs={tabs} current={shown} onChange={(id) => goTo(["ai", id])} />
      {shown === undefined && <ForOperators />}
      {shown === "chat" && <Chats id={path[1] ?? null} />}
      {shown === "ask" && <Ask />}
      {shown === "claims" && <Claims />}
      {shown === "memory" && <Memories namespace={path[1] ?? null} />}
      {shown === "agents" && <Agents run={path[1] ?? null} />}
      {shown === "models" && <ModelLibrary />}
    </Page>
  );
}
