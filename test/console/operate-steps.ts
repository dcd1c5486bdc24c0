/** Steps of the console's test about what administrators do. */
import { type TOTP, URI } from "otpauth";
import type { Tools } from "./branch-steps.js";
import { openPage, signIn } from "./browser.js";

export async function operateSteps(tools: Tools): Promise<void> {
  const { step, page, violations, strangers } = tools;
  const hostile = tools.corpus[0]!;
  await step("users, keys, backups, sessions, the audit trail and health", async (t) => {
    const tab = async (id: string, text: string): Promise<void> => {
      await openPage(page, `#/operate/${id}`);
      await page.getByText(text).first().waitFor();
      t.same(await violations(), [], id);
    };
    await tab("users", "eva");
    await page.getByRole("button", { name: "Delete eva" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("eva is gone.").waitFor();
    await tab("keys", "console");
    await page.getByRole("button", { name: "Key", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Name").fill(hostile);
    await page.getByRole("button", { name: "Make" }).click();
    await page.getByText("Copy it now").waitFor();
    await page.getByRole("dialog").locator(".dialog-actions button").click();
    await page.locator("td", { hasText: hostile }).waitFor();
    await tab("backups", "There is none yet.");
    await page.getByRole("button", { name: "Full backup" }).click();
    await page.locator(".badge", { hasText: "completed" }).waitFor();
    await tab("sessions", "Nobody is connected");
    await tab("audit", "auth.login");
    await tab("cluster", "This server runs alone.");
    await tab("settings", "slow_ms");
    await tab("diagnostics", "It has no data of tenants.");
    await tab("health", "Requests a second");
    const places = await page
      .locator(".chart-legend")
      .first()
      .locator("li")
      .evaluateAll((items) => items.map((item) => item.getBoundingClientRect().top));
    t.equal(places.length, 2);
    t.equal(new Set(places).size, 1, "a chart's legend is one line above it");
    t.equal(await strangers(), 0);
  });
  await accountStep(tools);
  await folderStep(tools);
  await tenantStep(tools);
  await limitsStep(tools);
  await returnStep(tools);
}

async function folderStep({ step, page, watch, folder, violations }: Tools): Promise<void> {
  await step("a folder of files is read, paused, read again and dropped", async (t) => {
    await openPage(page, "#/data");
    await page.getByRole("button", { name: "Make something new" }).click();
    await page.getByRole("button", { name: "Folder of files" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("manuals");
    await dialog.getByLabel("Folder of the server").fill("/nowhere");
    await dialog.getByRole("button", { name: "Make" }).click();
    await dialog.getByRole("alert").waitFor();
    watch.forget(/40[03] .*filesystem-collections/);
    await dialog.getByLabel("Folder of the server").fill(folder);
    await dialog.getByRole("button", { name: "Make" }).click();
    await page.getByRole("row").filter({ hasText: "ferry.md" }).getByText("indexed").waitFor();
    await page.locator(".badge", { hasText: "ready" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator(".badge", { hasText: "paused" }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("The folder is watched again.").waitFor();
    await page.getByRole("button", { name: "Read again" }).click();
    await page.getByText("All files are read.").waitFor();
    t.same(await violations(), [], "of a folder");
    await page.getByRole("button", { name: "Drop manuals" }).click();
    await dialog.getByRole("button", { name: "Drop", exact: true }).click();
    await page.getByText("manuals is gone.").waitFor();
  });
}

async function accountStep({ step, page, server, violations }: Tools): Promise<void> {
  await step("a forgotten password is reset; a user changes it, and turns the second factor on and off", async (t) => {
    const form = page.getByRole("dialog");
    const row = page.getByRole("row").filter({ hasText: "zoe" });
    await server.rows("CREATE ROLE clerk");
    await openPage(page, "#/operate/users");
    await page.getByRole("button", { name: "User", exact: true }).click();
    await form.getByLabel("Name").fill("zoe");
    await form.getByLabel("Password").fill("zoe has a password");
    await form.getByLabel("clerk").click();
    await form.getByText("CREATE USER zoe IN ROLE clerk;").waitFor();
    t.same(await violations(), [], "of the form of a user");
    await page.keyboard.press("Enter");
    await row.getByText("user, clerk").waitFor();
    await row.getByRole("button", { name: "Roles" }).click();
    await form.getByLabel("clerk").click();
    await form.getByText("REVOKE clerk FROM zoe;").waitFor();
    await form.getByRole("button", { name: "Change" }).click();
    await row.getByRole("cell", { name: "user", exact: true }).waitFor();
    for (const role of ["zoe", "clerk"]) await server.rows(`DROP ROLE ${role}`);
    await row.getByRole("button", { name: "Reset password" }).click();
    await form.getByRole("button", { name: "Reset", exact: true }).click();
    const given = (await form.locator("pre").textContent())!;
    await form.locator(".dialog-actions button").click();
    const own = await page.context().newPage();
    await own.goto(`${server.url}/console/`);
    await signIn(own, { username: "zoe", password: given });
    const dialog = own.getByRole("dialog");
    const account = async (button: string): Promise<void> => {
      await own.getByRole("button", { name: "zoe" }).click();
      await dialog.getByRole("button", { name: button }).click();
    };
    await account("Change the password");
    await dialog.getByLabel("Present password").fill(given);
    await dialog.getByLabel("New password", { exact: true }).fill("zoe has another one");
    await dialog.getByLabel("New password once more").fill("zoe has");
    t.ok(await dialog.getByRole("button", { name: "Change" }).isDisabled(), "the two are not the same");
    await dialog.getByLabel("New password once more").fill("zoe has another one");
    await dialog.getByRole("button", { name: "Change" }).click();
    await own.getByText("The password is changed.").waitFor();
    await account("Turn a second factor on");
    await dialog.getByRole("button", { name: "Begin" }).click();
    const authenticator = URI.parse((await dialog.locator("a").getAttribute("href"))!) as TOTP;
    await dialog.getByLabel("Code that").fill(authenticator.generate());
    await dialog.getByRole("button", { name: "Turn on" }).click();
    await own.getByText("The second factor is on.").waitFor();
    await account("Turn the second factor off");
    await dialog.getByLabel("Code of").fill(authenticator.generate({ timestamp: Date.now() + 30_000 }));
    await dialog.getByLabel("Password").fill("zoe has another one");
    await dialog.getByRole("button", { name: "Turn off" }).click();
    await own.getByText("The second factor is off.").waitFor();
    await own.close();
    await server.login("zoe", "zoe has another one");
  });
}

async function tenantStep({ step, page, server, violations }: Tools): Promise<void> {
  await step("a tenant is made, changed, and deleted once its name is typed", async (t) => {
    await openPage(page, "#/operate/tenants");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Tenant", exact: true }).click();
    await dialog.getByLabel("Tenant", { exact: true }).fill("left");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const row = page.getByRole("row").filter({ hasText: "left" });
    await row.getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Name").fill("Left Ltd");
    await dialog.getByLabel("Requests a second").fill("7000");
    t.same(await violations(), [], "of a tenant's form");
    await dialog.getByRole("button", { name: "Change" }).click();
    await row.filter({ hasText: "Left Ltd" }).filter({ hasText: "7,000" }).waitFor();
    await row.getByRole("button", { name: "Limits" }).click();
    const rows = page.getByRole("row").filter({ hasText: "Rows of results" });
    await page.getByText("What left may use in a day").waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Rows of results in a day").fill("8000000");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "8,000,000" }).getByRole("progressbar").waitFor();
    const bound = await server.expect(200, "GET", "/admin/tenants/left/budget");
    t.match(bound.body.data, { rows_per_day: 8_000_000, used_today: { rows: 0 } });
    await page.getByLabel("Tenant", { exact: true }).selectOption("system");
    await rows.filter({ hasText: "none" }).waitFor();
    await openPage(page, "#/operate/tenants");
    const { body } = await server.expect(200, "GET", "/admin/tenants/left");
    t.match(body.data, { name: "Left Ltd", rate_limit: { per_second: 7_000, burst: 14_000 } });
    await row.getByRole("button", { name: "Delete left" }).click();
    const remove = dialog.getByRole("button", { name: "Delete for ever" });
    await dialog.getByLabel("Type left to go on").fill("lef");
    t.ok(await remove.isDisabled(), "the name is not whole");
    t.same(await violations(), [], "of the question before a deletion");
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Type left to go on").fill("left");
    await remove.click();
    await page.getByText("left is being deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    await server.expect(404, "GET", "/admin/tenants/left");
  });
}

async function limitsStep({ step, page, watch, server, violations }: Tools): Promise<void> {
  await step("what a tenant may use in a day is set", async (t) => {
    await openPage(page, "#/operate/limits");
    const row = page.getByRole("row").filter({ hasText: "Tokens of models" });
    await row.filter({ hasText: "none" }).filter({ hasText: "not counted" }).waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    const tokens = page.getByRole("dialog").getByLabel("Tokens of models in a day");
    await tokens.fill("0");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("alert").getByText("tokens_per_day").waitFor();
    watch.forget(/400 .*budget/);
    await tokens.fill("5000000");
    t.same(await violations(), [], "of the form of limits");
    await page.keyboard.press("Enter");
    await row.filter({ hasText: "5,000,000" }).getByRole("progressbar").waitFor();
    t.same(await violations(), [], "of limits");
    const { body } = await server.expect(200, "GET", "/admin/budget");
    t.equal(body.data.tokens_per_day, 5_000_000);
    t.equal(body.data.rows_per_day, undefined);
    await server.expect(200, "PUT", "/admin/budget", {});
  });
}

async function returnStep({ step, page, server }: Tools): Promise<void> {
  await step("who comes back to a table sees what others, or a restore, have made of it", async (t) => {
    await server.rows("CREATE TABLE stale (id integer PRIMARY KEY, word text)");
    await server.rows("INSERT INTO stale VALUES (1, 'before')");
    await openPage(page, "#/data/table/stale");
    await page.locator(".grid-cell", { hasText: "before" }).waitFor();
    await server.rows("UPDATE stale SET word = 'after'");
    await server.rows("ALTER TABLE stale ADD COLUMN more integer DEFAULT 77");
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page.locator(".grid-cell", { hasText: "after" }).waitFor();
    await page.locator(".grid-cell", { hasText: "77" }).waitFor();
    await server.rows("DROP TABLE stale");
    t.pass();
  });
  await step("collections of documents and of vectors are made; what others have made of them is seen", async (t) => {
    const back = () => page.evaluate("window.dispatchEvent(new Event('focus'))");
    await openPage(page, "#/data");
    const make = async (kind: string, name: string, more: string, value: string): Promise<void> => {
      await page.getByRole("button", { name: "Make something new" }).click();
      await page.getByRole("button", { name: kind }).click();
      await page.getByRole("dialog").getByLabel("Name").fill(name);
      await page.getByRole("dialog").getByLabel(more).fill(value);
      await page.keyboard.press("Enter");
      await page.locator(".thing-head h2", { hasText: name }).waitFor();
    };
    await make("Collection of vectors", "points", "Dimensions", "2");
    await make("Collection of documents", "notes", "Fields to find by meaning", "word");
    await page.getByText("There are no documents.").waitFor();
    await server.expect(201, "POST", "/v1/collections/notes/documents", { word: "made elsewhere" });
    await back();
    await page.locator(".document", { hasText: "made elsewhere" }).waitFor();
    await page.locator("a.side-entry", { hasText: /^notes\d$/ }).waitFor();
    await openPage(page, "#/data/vectors/points");
    await page.getByText("There are no vectors.").waitFor();
    const vectors = [{ id: "p1", vector: [1, 2], metadata: { place: "here" } }];
    await server.expect(201, "POST", "/v1/vectors/collections/points/vectors/batch", { vectors });
    await back();
    await page.locator(".grid-cell", { hasText: "p1" }).waitFor();
    await page.locator(".facts > :first-child", { hasText: /^Vectors1$/ }).waitFor();
    await page.getByRole("button", { name: "Drop points" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop", exact: true }).click();
    await page.getByText("points is gone.").waitFor();
    await server.expect(404, "GET", "/v1/vectors/collections/points");
    t.pass();
    await server.expect(204, "DELETE", "/v1/collections/notes");
  });
}
