/** Steps of the console's test about a server that does not answer, or is a newer one than the page. */
import type { Route } from "playwright-core";
import { ADMIN_PASSWORD } from "../e2e/server.js";
import type { Tools } from "./branch-steps.js";
import { openPage, signIn } from "./browser.js";

const RESTORED = {
  ...{ tenant: "system", backup: "bak_1", state: "restoring", entries: 7, verified: null },
  ...{ started_at: "2026-11-28T05:00:00.000Z", finished_at: null, error: null },
};

/** As a tenant answers that is being restored. */
async function away(route: Route): Promise<void> {
  const error = { code: "partition_unavailable", message: "The tenant is being restored." };
  await route.fulfill({ status: 503, headers: { "retry-after": "1" }, json: { error } });
}

export async function outageSteps(tools: Tools): Promise<void> {
  const { step, page, server } = tools;
  await step("what a tenant did not answer is asked again, and its restore is followed", async (t) => {
    await page.route("**/v1/branches?*", away);
    await openPage(page, "#/branches");
    await page.getByRole("alert").getByText("The tenant is being restored.").waitFor();
    t.same(await tools.violations(), [], "of a page without its data");
    // It is still there afterwards: the page may ask by itself at the same moment.
    await page.getByRole("button", { name: "Try again" }).click();
    await page.unroute("**/v1/branches?*");
    await page.getByRole("button", { name: "Branch", exact: true }).waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
    const error = { code: "rate_limited", message: "Too many requests." };
    await page.route(
      "**/v1/branches?*",
      (route) => route.fulfill({ status: 429, headers: { "retry-after": "2" }, json: { error } }),
      { times: 1 },
    );
    await openPage(page, "#/home");
    await page.getByRole("heading", { name: /^Welcome/ }).waitFor();
    await openPage(page, "#/branches");
    await page.getByText("There were too many requests. The page goes on in 2 seconds.").waitFor();
    t.same(await tools.violations(), [], "while the page waits");
    await page.getByRole("button", { name: "Branch", exact: true }).waitFor();
    await page.getByText("There were too many requests.").waitFor({ state: "detached" });
    tools.watch.forget(/429/);
    // Somebody else begins a restore while the page is open.
    await openPage(page, "#/operate/backups");
    await page.locator(".badge", { hasText: "completed" }).waitFor();
    await page.route("**/admin/tenants/system/restore", (route) =>
      route.fulfill({ json: { data: RESTORED, meta: {} } }),
    );
    await page.route("**/v1/backups", (route) =>
      route.fulfill({ json: { data: { backups: [], total: 0, restoring: true }, meta: {} } }),
    );
    await page.getByRole("region", { name: "The newest restore" }).getByText("restoring").waitFor();
    await page.unroute("**/v1/backups");
    await page.route("**/v1/backups", away);
    await page.getByRole("alert").getByText("The tenant is being restored.").waitFor();
    await page.unroute("**/v1/backups");
    await page.locator(".badge", { hasText: "completed" }).waitFor();
    await page.unroute("**/admin/tenants/system/restore");
  });

  await step("a page that is opened meanwhile stays signed in", async (t) => {
    await page.route("**/v1/users/me", away);
    await page.reload();
    await page.getByRole("alert").getByText("The tenant is being restored.").waitFor();
    await page.unroute("**/v1/users/me");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Operate" }).waitFor();
    tools.watch.forget(/503|404/);
    t.pass();
  });

  await step("a page whose parts a new version has replaced offers to load itself anew", async (t) => {
    const old = await page.context().newPage();
    await old.goto(`${server.url}/console/`);
    await signIn(old, { username: "admin", password: ADMIN_PASSWORD });
    await old.getByRole("heading", { name: "Welcome, admin" }).waitFor();
    await old.route("**/console/part-*", (route) => route.fulfill({ status: 404 }));
    await openPage(old, "#/branches");
    const again = old.getByRole("button", { name: "Load the page again" });
    await again.waitFor();
    await old.unroute("**/console/part-*");
    await again.click();
    await old.getByRole("heading", { name: "Branches", exact: true }).waitFor();
    await old.close();
    // The page that followed the restore may have asked for it once more after its end.
    tools.watch.forget(/404 .*\/restore$/);
    t.pass();
  });
}
