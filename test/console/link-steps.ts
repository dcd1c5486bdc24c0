/** Steps of the console's test about addresses that say all that is shown, files that go in and out, and names. */
import { readFileSync } from "node:fs";
import type { Tools } from "./branch-steps.js";
import { openPage, runText } from "./browser.js";

export async function linkSteps({ step, page, server, violations }: Tools): Promise<void> {
  /** What the download of a result as that format holds. */
  const exported = async (format: string): Promise<Buffer> => {
    await page.getByRole("button", { name: "Export" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: format, exact: true }).click(),
    ]);
    return readFileSync(await file.path());
  };
  /** As a file that is let go over the Data page. */
  const drop = async (name: string, content: Buffer): Promise<void> => {
    const data = await page.evaluateHandle(
      `(() => {
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob(${JSON.stringify(content.toString("base64"))}), (c) => c.charCodeAt(0));
        data.items.add(new File([bytes], ${JSON.stringify(name)}));
        return data;
      })()`,
    );
    await page.dispatchEvent(".data", "drop", { dataTransfer: data });
  };

  await step("a result leaves as JSON and Parquet, and a dropped Parquet file is previewed and imported", async (t) => {
    await openPage(page, "#/query");
    await runText(page, "SELECT id, name, people * 1000000007 AS big FROM city WHERE id <= $1 ORDER BY id");
    await page.locator(".parameters input").fill("3");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("3 rows").waitFor();
    const parsed = JSON.parse((await exported("JSON")).toString());
    t.match(parsed, [{ id: 1, name: "city 1" }, { name: "Lisbon" }, { name: "Porto" }]);
    t.equal(String(parsed[0].big), "1000000007000");
    const parquet = await exported("Parquet");
    await openPage(page, "#/data");
    await page.locator("a.side-entry", { hasText: "city" }).waitFor();
    await drop("towns.parquet", parquet);
    const dialog = page.getByRole("dialog");
    await dialog.locator(".grid-cell", { hasText: "Lisbon" }).waitFor();
    await dialog.getByText("1000000007000", { exact: false }).waitFor();
    t.same(await violations(), [], "of the preview");
    await dialog.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("3 rows imported into towns.").waitFor();
    t.same(await server.rows("SELECT name, big FROM towns WHERE id = 1"), [["city 1", 1000000007000]]);
  });

  await step("a live statement may be Cypher", async (t) => {
    await openPage(page, "#/query");
    await page.getByLabel("Language").selectOption("cypher");
    await runText(page, "MATCH (n:Ferry) RETURN n.name AS name");
    await page.getByRole("switch", { name: "Live" }).click();
    await page.locator(".result-status", { hasText: "Live" }).waitFor();
    await server.expect(200, "POST", "/v1/graph/match", { cypher: "CREATE (:Ferry {name: 'Elsa'})" });
    await page.locator(".grid-row.fresh", { hasText: "Elsa" }).waitFor();
    await page.getByRole("switch", { name: "Live" }).click();
    await page.getByLabel("Language").selectOption("sql");
    t.pass();
  });

  await step("an import says how far it is, and one that is cancelled ends", async (t) => {
    await openPage(page, "#/data");
    await page.locator("a.side-entry", { hasText: "city" }).waitFor();
    // With a rule for conflicts rows go one by one, and each is looked for four times, so that there is time to look.
    const lines = Array.from({ length: 300_000 }, (_, i) => `${i},name ${i}\n`);
    await server.rows(
      "CREATE TABLE slow (id integer PRIMARY KEY, name text UNIQUE, UNIQUE (id, name), UNIQUE (name, id))",
    );
    await drop("slow.csv", Buffer.from(`id,name\n${lines.join("")}`));
    const dialog = page.getByRole("dialog");
    await dialog.getByText("guessed types").waitFor();
    await dialog.getByLabel("If a key exists already").selectOption("ignore");
    // What stands there for a moment only is seen, too.
    await page.evaluate(`(() => {
      globalThis.told = new Set();
      const look = () => told.add(document.querySelector("dialog [role=status]")?.textContent);
      new MutationObserver(look).observe(document.querySelector("dialog"), { childList: true, subtree: true, characterData: true });
    })()`);
    await dialog.getByRole("button", { name: "Import", exact: true }).click();
    await dialog
      .getByRole("status")
      .getByText(/^[1-9][\d,]* rows$/)
      .waitFor();
    t.ok(Number(await dialog.getByRole("progressbar", { name: "Imported" }).getAttribute("value")) > 0);
    const isWhole = "[...told].some((text) => /^(.+B) of \\1 sent$/.test(text))";
    t.ok(await page.evaluate(isWhole), "how much of the file is on its way");
    const [ended] = await Promise.all([
      page.waitForEvent("requestfailed"),
      dialog.getByRole("button", { name: "Cancel" }).click(),
    ]);
    t.match(ended.url(), "/v1/data/import/csv");
    await page.getByText("The import is stopped.").waitFor();
    t.match(page.url(), /#\/data$/, "the page stays");
    t.same(await server.rows("SELECT count(*) FROM slow"), [[0]]);
  });

  await step("a chart is split by a column, and the address shows it again", async (t) => {
    await openPage(page, "#/query");
    await runText(page, "SELECT id, country, people FROM city ORDER BY id");
    await page.getByText("200 rows").waitFor();
    await page.getByRole("tab", { name: "Chart" }).click();
    await page.getByLabel("Split by").selectOption({ label: "country" });
    await page.locator(".chart-legend li", { hasText: "PT" }).waitFor();
    t.equal(await page.locator(".chart-legend li").count(), 2);
    t.match(page.url(), /view=chart$/);
    await openPage(page, "#/home");
    await page.getByRole("heading", { name: /^Welcome/ }).waitFor();
    await page.goBack();
    await page.getByRole("img", { name: /^people by/ }).waitFor();
    await page.getByRole("tab", { name: "Table", exact: true }).click();
    t.notMatch(page.url(), "view=");
  });

  await step("addresses of a search's map and of a graph's node show them again", async (t) => {
    await openPage(page, "#/search?collection=book&q=woods");
    await page.locator(".hit").first().waitFor();
    await page.getByRole("tab", { name: "Map" }).click();
    await page.locator(".map-told").waitFor();
    await page.reload();
    await page.locator(".map-told").waitFor();
    await openPage(page, "#/graph?graph=default");
    await page.getByLabel("Condition over n").fill("n.name = 'Cleo'");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator(".node-list li", { hasText: "BenPerson" }).waitFor();
    await page.locator(".node-list li", { hasText: "CleoPerson" }).waitFor();
    t.match(page.url(), "where=n.name+%3D+%27Cleo%27");
    await page.locator(".graph-canvas canvas").focus();
    await page.keyboard.press("Enter");
    const chosen = (await page.locator("aside[aria-label='The chosen node'] h2").textContent())!;
    await page.reload();
    await page.locator("aside[aria-label='The chosen node'] h2", { hasText: chosen }).waitFor();
    t.equal(await page.getByLabel("Condition over n").inputValue(), "n.name = 'Cleo'");
  });

  await step("a table with a dot in its name, made since the list was loaded, is shown and changed", async (t) => {
    await openPage(page, "#/data");
    await page.locator("a.side-entry", { hasText: "city" }).waitFor();
    await server.rows(`CREATE TABLE "dot.ted" (id integer PRIMARY KEY)`);
    await server.rows("CREATE SCHEMA sales");
    await server.rows(`CREATE TABLE sales."or.der" (id integer PRIMARY KEY)`);
    for (const [address, sql] of [
      ["%22dot.ted%22", `"dot.ted"`],
      ["%22sales%22.%22or.der%22", `sales."or.der"`],
    ] as const) {
      await openPage(page, `#/data/table/${address}`);
      await page.locator("a.side-entry", { hasText: decodeURIComponent(address) }).waitFor();
      await page.getByRole("button", { name: "Row", exact: true }).click();
      await page.getByRole("dialog").getByLabel(/^id/).fill("77");
      await page.getByRole("dialog").getByRole("button", { name: "Insert" }).click();
      await page.locator(".grid-cell", { hasText: /^77$/ }).waitFor();
      t.same(await server.rows(`SELECT id FROM ${sql}`), [[77]]);
    }
    t.equal((await server.call("GET", "/v1/schema/tables/dot.ted")).status, 200);
    t.equal((await server.call("GET", "/v1/schema/tables/sales.or.der")).status, 200);
  });
}
