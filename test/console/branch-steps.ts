/** Steps of the console's test about branches and the past. */
import type { Page } from "playwright-core";
import type { Test } from "tap";
import type { TestServer } from "../e2e/server.js";
import { openPage, runText, type Watch } from "./browser.js";

export interface Tools {
  readonly step: (name: string, work: (t: Test) => Promise<void>) => Promise<void>;
  readonly page: Page;
  readonly watch: Watch;
  readonly server: TestServer;
  /** What axe finds in the page. */
  readonly violations: () => Promise<string[]>;
  /** Elements that came out of a stored text. */
  readonly strangers: () => Promise<number>;
  /** Nothing reaches over the sides. */
  readonly fits: () => Promise<boolean>;
  /** Of files that the server may read. */
  readonly folder: string;
  /** Texts that would do something as markup; rows of the table `hostile`. */
  readonly corpus: readonly string[];
}

export async function branchSteps(tools: Tools): Promise<void> {
  await workStep(tools);
  await differenceStep(tools);
  await mergeStep(tools);
  await databaseStep(tools);
  await pastStep(tools);
}

async function workStep({ step, page, watch, server, violations, corpus }: Tools): Promise<void> {
  await step("a branch is made, and all pages are about it", async (t) => {
    await server.rows("CREATE TABLE guest (id integer PRIMARY KEY, name text, city text)");
    await server.rows("INSERT INTO guest SELECT i, 'guest ' || i, 'berlin' FROM generate_series(1, 30) i");
    await openPage(page, "#/branches");
    await page.getByText("There are none. A branch takes no time").waitFor();
    await page.getByRole("button", { name: "Branch", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Not A Name");
    await dialog.getByRole("button", { name: "Make" }).click();
    await dialog.getByRole("alert").waitFor();
    watch.forget(/400/);
    t.same(await violations(), [], "of the form of a fork");
    await dialog.getByLabel("Name").fill("cleanup");
    await dialog.getByLabel("It stays").selectOption("an hour");
    await dialog.getByText("Limits and who may enter").click();
    await dialog.getByLabel("Megabytes of its own").fill("20");
    await dialog.getByLabel("Users").fill("ann, bob");
    await dialog.getByLabel("API keys").fill("key_1");
    await dialog.getByRole("switch", { name: "Only its own roles and policies" }).click();
    t.same(await violations(), [], "of all that the form asks");
    await dialog.getByRole("button", { name: "Make" }).click();
    await page.locator(".branch-bar", { hasText: "cleanup" }).waitFor();
    const made = (await server.expect(200, "GET", "/v1/branches/cleanup")).body.data;
    t.match(made, { quota_bytes: 20e6, users: ["ann", "bob"], keys: ["key_1"], policies: "branch" });
    t.ok(Date.parse(made.expires_at) - Date.now() < 3_600_001, "it ends");
    await page.getByText("ann, bob, administrators").waitFor();
    await page.getByText("of 20.0 MB").waitFor();
    await page.getByText("No row of the branch differs").waitFor();
    await openPage(page, "#/query");
    await page.getByRole("button", { name: "New query" }).first().click();
    await runText(page, `UPDATE guest SET name = '${corpus[0]}' WHERE id <= 27`);
    await page.getByText("27 rows changed.").waitFor();
    await runText(page, "DELETE FROM guest WHERE id > 28");
    await page.getByText("2 rows changed.").waitFor();
    await runText(page, "DELETE FROM hostile WHERE id = 1");
    await page.getByText("1 row changed.").waitFor();
    t.same(await server.rows("SELECT count(*) FROM guest WHERE city = 'berlin' AND name LIKE 'guest%'"), [[30]]);
    await page.reload();
    await page.locator(".branch-bar", { hasText: "cleanup" }).waitFor();
  });
}

async function differenceStep({ step, page, violations, strangers, corpus }: Tools): Promise<void> {
  await step("its difference is shown page by page", async (t) => {
    await page.locator(".branch-bar a", { hasText: "Changes" }).click();
    await page.locator(".row-sides", { hasText: "guest 1" }).first().waitFor();
    t.equal(await page.locator(".row-sides").count(), 25, "a page of rows");
    await page.locator(".row-sides", { hasText: corpus[1]! }).waitFor();
    t.match(await page.locator(".row-sides", { hasText: "guest 1" }).first().textContent(), `nameguest 1${corpus[0]}`);
    t.same(await violations(), [], "of a difference");
    await page.getByRole("button", { name: "Next rows" }).click();
    await page.getByText("26 to 30").waitFor();
    await page.locator(".row-sides", { hasText: "guest 30" }).waitFor();
    t.equal(await strangers(), 0);
    await page.getByLabel("Kind of change").selectOption("removed");
    await page.getByRole("heading", { name: "3 rows" }).waitFor();
    await page.getByLabel("Table", { exact: true }).selectOption("guest");
    await page.getByRole("heading", { name: "2 rows" }).waitFor();
    await page.locator(".row-sides", { hasText: "guest 30" }).waitFor();
  });
  await step("it is compared with the tenant as it is", async (t) => {
    await page.getByLabel("Compare with").selectOption("the tenant as it is");
    await page.getByRole("columnheader", { name: "The tenant" }).first().waitFor();
    t.match(page.url(), /against=%40tenant/, "the address has it");
    t.equal(await page.getByRole("button", { name: "Merge …" }).count(), 0, "only what it began with is merged");
    t.same(await violations(), [], "of a comparison");
    await page.getByLabel("Compare with").selectOption("what it began with");
    await page.getByRole("columnheader", { name: "In the branch" }).first().waitFor();
    await page.getByLabel("Table", { exact: true }).selectOption("guest");
    await page.getByLabel("Kind of change").selectOption("removed");
    await page.getByRole("heading", { name: "2 rows" }).waitFor();
  });
}

async function mergeStep({ step, page, server, violations, fits, corpus }: Tools): Promise<void> {
  await step("a part of it is merged, and it is deleted", async (t) => {
    await server.rows("UPDATE guest SET name = 'of the tenant' WHERE id = 2");
    await page.getByRole("button", { name: "Merge …" }).click();
    await page.getByText("Nothing is merged: both have changed 1 row").waitFor();
    const conflict = page.locator(".row-sides", { hasText: "Theirs" });
    t.match(await conflict.textContent(), `nameguest 2of the tenant${corpus[0]}`);
    t.ok(await page.getByRole("button", { name: "Merge", exact: true }).isDisabled(), "not with a conflict");
    t.same(await violations(), [], "of a conflict");
    await page.getByRole("switch", { name: "Only some tables" }).click();
    await page.getByText("Choose tables.").waitFor();
    await page.getByRole("checkbox", { name: "guest" }).click();
    await page.getByLabel("Rows that both have changed").selectOption("ours");
    await page.getByText("26 changed rows and 2 removals").waitFor();
    await page.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByText("Merged:").waitFor();
    t.same(await server.rows("SELECT count(*), max(name) FILTER (WHERE id = 2) FROM guest"), [[28, "of the tenant"]]);
    t.same(await server.rows("SELECT count(*) FROM hostile"), [[corpus.length]], "the other table is not merged");
    await page.getByRole("row", { name: "guest 0 27 2 28" }).waitFor();
    t.equal(await page.locator(".row-sides", { hasText: "merged already" }).count(), 2, "both removals");
    await page.setViewportSize({ width: 360, height: 740 });
    t.ok(await fits(), "a difference and the bar fit a phone");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator(".branch-bar").getByRole("button", { name: "Leave" }).click();
    await page.locator(".branch-bar").waitFor({ state: "detached" });
    await page.getByRole("row", { name: "guest 0 27 2 28" }).waitFor();
    await page.getByRole("button", { name: "Delete cleanup" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("There are none. A branch takes no time").waitFor();
  });
}

async function databaseStep({ step, page, watch, server, violations }: Tools): Promise<void> {
  await step("a database is a branch, which may have begun empty", async (t) => {
    await openPage(page, "#/query");
    await runText(page, "CREATE DATABASE shop");
    await page
      .getByText("Done")
      .or(page.getByText("CREATE DATABASE", { exact: true }))
      .first()
      .waitFor();
    await openPage(page, "#/branches");
    await page.getByRole("row").filter({ hasText: "shop" }).filter({ hasText: "nothing" }).waitFor();
    await page.getByRole("link", { name: "shop" }).click();
    await page.getByText("It began empty, so there is nothing to compare").waitFor();
    await page.getByText("dbname=shop").waitFor();
    t.same(await violations(), [], "of a database");
    await page.locator(".tenant-button").click();
    await page.getByRole("button", { name: "shop branch" }).click();
    await page.locator(".branch-bar", { hasText: "shop" }).waitFor();
    await openPage(page, "#/query");
    await runText(page, "CREATE TABLE ware (id integer PRIMARY KEY)");
    const headers = { authorization: `Bearer ${server.token}`, "x-tessera-branch": "shop" };
    while (!(await fetch(`${server.url}/v1/schema/tables/ware`, { headers })).ok) await page.waitForTimeout(50);
    await openPage(page, "#/data");
    await page.locator("a.side-entry", { hasText: "ware" }).waitFor();
    t.equal(await page.locator("a.side-entry", { hasText: "guest" }).count(), 0, "the tenant's tables are not there");
    await page.locator(".tenant-button").click();
    await page.getByRole("button", { name: "itself" }).click();
    await page.locator(".branch-bar").waitFor({ state: "detached" });
    await openPage(page, "#/branches");
    await page.getByRole("button", { name: "Branch", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("stock");
    await dialog.getByLabel("From").selectOption("nothing: an empty database");
    await dialog.getByRole("switch", { name: "Work in it at once" }).click();
    await dialog.getByRole("button", { name: "Make" }).click();
    await page.getByText("dbname=stock").waitFor();
    t.match((await server.expect(200, "GET", "/v1/branches/stock")).body.data, { empty: true });
    for (const name of ["shop", "stock"]) await server.expect(204, "DELETE", `/v1/branches/${name}`);
    watch.forget(/404/);
  });
}

async function pastStep({ step, page, server, violations, strangers, corpus }: Tools): Promise<void> {
  await step("the past is kept, and a table made what it was", async (t) => {
    await openPage(page, "#/branches/past");
    await page.getByText("not at all").waitFor();
    await page.getByRole("button", { name: "Keep the past" }).click();
    t.same(await violations(), [], "of the window");
    await page.getByRole("dialog").getByRole("button", { name: "Keep", exact: true }).click();
    await page.getByText("7 days").waitFor();
    const { body } = await server.expect(200, "GET", "/v1/history");
    await server.rows("DELETE FROM hostile WHERE id < 3");
    await page.getByLabel("Table", { exact: true }).selectOption("hostile");
    await page.getByLabel("As it was at").fill(String(body.data.newest.sequence));
    await page.getByLabel("Only rows with").fill("id > 0");
    await page.getByRole("button", { name: "Show the rows" }).click();
    await page.getByText("2 rows to bring back").waitFor();
    await page.locator(".row-sides", { hasText: corpus[2]! }).waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of an undo");
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByText("hostile is as it was.").waitFor();
    t.same(await server.rows("SELECT count(*) FROM hostile"), [[corpus.length - 1]], "only rows with that");
    await page.getByLabel("From", { exact: true }).fill(String(body.data.newest.sequence));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByRole("row", { name: "hostile 0 0 1" }).waitFor();
    await page.getByRole("columnheader", { name: "Then" }).waitFor();
    t.same(await violations(), [], "of two moments");
    await page.getByRole("button", { name: "Forget", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await page.getByText("not at all").waitFor();
  });
}
