/** The console in a real browser: its way in by a provider of OpenID Connect, and an agent that waits for its model. */
import t from "tap";
import { FakeProvider } from "../ai/fake-provider.js";
import { AUDIENCE, CLIENT, IdentityProvider } from "../e2e/identity-provider.js";
import { TestServer } from "../e2e/server.js";
import { openConsole, openPage, withoutBrowser } from "./browser.js";

t.setTimeout(120_000);

t.test("a person signs in with the provider and comes back to the page", { skip: withoutBrowser }, async (t) => {
  const provider = await IdentityProvider.start();
  t.teardown(() => provider.stop());
  // It says nothing for longer than the test lasts.
  const model = await FakeProvider.start(() => ({ pieces: [600_000] }));
  t.teardown(() => model.close());
  const server = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_QUERY_AI_SERVICE_PROVIDER: "openai",
    TESSERA_QUERY_AI_SERVICE_BASE_URL: `${model.url}/v1`,
    TESSERA_AUTH_OIDC_TENANT_PRIVATE_HOSTS: "127.0.0.1",
  });
  t.teardown(() => server.stop());
  const token = await server.tenant("acme");
  await server.rows("CREATE AGENT clerk WITH (instructions = 'Answer')", [], { token });
  const redirect_uri = `${server.url}/console/`;
  provider.allow(redirect_uri);
  const spec = {
    ...{ label: "Corp", issuer: provider.issuer, audience: [AUDIENCE], scopes: ["openid"] },
    ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uri },
    ...{ roles_claim: "groups", roles: { staff: "user" } },
  };
  await server.expect(200, "PUT", "/admin/tenants/acme/oidc/corp", spec);
  provider.accounts.set("ada", { groups: ["staff"] });
  provider.accounts.set("eve", { groups: ["strangers"] });

  const { browser, context, page, watch } = await openConsole(server);
  t.teardown(() => browser.close());
  await page.getByLabel("User name").waitFor();
  t.equal(
    await page.getByRole("button", { name: /Sign in with/ }).count(),
    0,
    "a tenant's own are for who asks for them",
  );

  await context.addCookies([{ name: "account", value: "eve", url: provider.issuer }]);
  await page.goto(`${server.url}/console/?tenant=acme`);
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  await page.getByText(/"strangers" of the claim groups stands for no role/).waitFor();
  t.notMatch(page.url(), /code=|state=/, "the code is in no address");
  watch.forget(/403/);

  await context.clearCookies();
  await context.addCookies([{ name: "account", value: "ada", url: provider.issuer }]);
  await page.goto(`${server.url}/console/?tenant=acme#/query`);
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  await page.locator(".cm-content").waitFor();
  t.match(page.url(), /\/console\/\?tenant=acme#\/query/, "back where it was");
  await page.route("**/v1/query/**", (route) =>
    route.fulfill({ status: 401, json: { error: { code: "unauthorized", message: "The token has expired." } } }),
  );
  await page.evaluate("location.hash = '#/data'");
  const ended = page.getByRole("dialog", { name: "Your session has ended" });
  await ended.getByRole("button", { name: "Sign in with Corp" }).waitFor();
  await page.unroute("**/v1/query/**");
  await ended.getByRole("button", { name: "Sign in with Corp" }).click();
  await page.getByRole("heading", { name: "Data", exact: true, level: 1 }).first().waitFor();
  t.match(page.url(), /\/console\/\?tenant=acme#\/data/, "the session goes on there");
  watch.forget(/401/);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with Corp" }).waitFor();
  await page.evaluate("location.hash = '#/query'");
  await page.getByRole("button", { name: "Sign in with Corp" }).click();
  await page.locator(".cm-content").waitFor();
  await page.goto(`${server.url}/console/?state=x&error=y&error_description=Call+this+number#/query`);
  await page.locator(".cm-content").waitFor();
  t.equal(await page.getByText(/Call this number/).count(), 0, "what nobody here has begun says nothing");
  await page.goto(`${server.url}/console/?state=x&code=y#/query`);
  await page.locator(".cm-content").waitFor();
  await page.reload();
  await page.locator(".cm-content").waitFor();
  const kept = await context.cookies(server.url);
  t.notOk(
    kept.some(({ name }) => name === "tessera_oidc"),
    "the sign-in's cookie is gone",
  );

  await openPage(page, "#/ai/agents");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Run clerk" });
  await dialog.getByLabel("Task").fill("How many are there?");
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await dialog.getByText("clerk is working").waitFor();
  while (model.asked.length === 0) await page.waitForTimeout(50);
  await dialog.getByRole("button", { name: "Stop" }).click();
  await dialog.getByText("You have stopped the run.").waitFor();
  await model.asked[0]!.gone;
  t.equal(model.asked.length, 1, "the agent has ended with the run");
  await dialog.getByRole("button", { name: "Run", exact: true }).waitFor();
  t.same(watch.faults, []);
});
