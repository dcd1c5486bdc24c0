/** As whom a login acts that is on a lead. */
import t from "tap";
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import { actingAs } from "../../src/catalog/rights.js";
import { PLAIN_ROLE, type RoleDef } from "../../src/catalog/role.js";

const roles: readonly RoleDef[] = [
  { ...PLAIN_ROLE, id: 7, name: "seller" },
  { ...PLAIN_ROLE, id: 8, name: "chief", superuser: true },
  { ...PLAIN_ROLE, id: 9, name: "ann", login: true, memberOf: [{ roleId: 7, admin: false, inherit: true }] },
];
const catalog = {
  roles: () => roles,
  role: (name: string) => roles.find((role) => role.name === name) ?? null,
  roleById: (id: number) => roles.find((role) => role.id === id) ?? null,
} as unknown as CatalogView;

const agents = JSON.stringify({ administrator: false, ofAgent: true });

t.test("an agent on a lead has the roles of the claims with which it was started", async (t) => {
  const login = { user: "corp:ada", administrator: false, lead: agents };
  const acting = (memberOf: readonly string[]) => actingAs(catalog, { ...login, memberOf });
  t.match(acting(["seller"]), { name: "corp:ada", role: { id: 7 }, superuser: false, lead: agents });
  t.match(acting(["seller", "chief"]), { superuser: false, role: { memberOf: [{ roleId: 8 }] } });
  t.throws(() => acting(["stranger"]), { code: "forbidden" }, "a role that is no more is not left out");
  t.equal(actingAs(catalog, login).role, null, "without claims it is nobody's namesake");
});

t.test("a key on a lead has its user's role, or the one that it names", async (t) => {
  const key = (lead: object, memberOf?: readonly string[]) =>
    actingAs(catalog, {
      ...{ user: "ann", administrator: false, lead: JSON.stringify({ key: "k", administrator: false, ...lead }) },
      ...(memberOf !== undefined && { memberOf }),
    });
  t.match(key({}), { role: { id: 9 }, superuser: false });
  t.match(key({ role: "seller" }, ["seller"]), { role: { id: 7 } });
  t.throws(() => key({ role: "chief" }, ["chief"]), { code: "forbidden", message: /no member/ });
});
