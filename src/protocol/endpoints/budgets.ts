/** What a tenant may use in a day, and has used: for its own administrators, and for those of the installation. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { tenantParam } from "./admin.js";
import { Strict } from "./schemas.js";

const daily = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));

const dailyBudget = {
  rows_per_day: daily("Rows of results."),
  bytes_per_day: daily("Bytes of answers."),
  tokens_per_day: daily("Tokens that models read and write."),
};

const DailyBudget = Strict(dailyBudget);

const TenantBudget = Type.Object({
  ...dailyBudget,
  used_today: Type.Object(
    { rows: Type.Integer(), bytes: Type.Integer(), tokens: Type.Integer() },
    { description: "Counted while the tenant has a limit." },
  ),
});

export const budgetEndpoints = [
  {
    name: "admin.budget.get",
    door: "none",
    method: "GET",
    path: "/admin/budget",
    summary: "What all users and keys of the tenant together may use in a day, and have used today.",
    tag: "admin",
    access: "admin",
    home: "tenant",
    response: TenantBudget,
  },
  {
    name: "admin.budget.set",
    door: "none",
    method: "PUT",
    path: "/admin/budget",
    summary:
      "Set what all users and keys of the tenant together may use in a day of UTC. What is left out is unbounded.",
    tag: "admin",
    access: "admin",
    home: "tenant",
    body: DailyBudget,
    example: { body: { tokens_per_day: 1_000_000 } },
    response: TenantBudget,
  },
  {
    name: "admin.tenants.budget.get",
    door: "none",
    method: "GET",
    path: "/admin/tenants/{tenant}/budget",
    summary: "What all users and keys of that tenant together may use in a day, and have used today.",
    tag: "admin",
    access: "system",
    home: "named",
    params: tenantParam,
    response: TenantBudget,
  },
  {
    name: "admin.tenants.budget.set",
    door: "none",
    method: "PUT",
    path: "/admin/tenants/{tenant}/budget",
    summary:
      "Set what all users and keys of that tenant together may use in a day of UTC. What is left out is unbounded. Its own administrators can change it, too.",
    tag: "admin",
    access: "system",
    home: "named",
    params: tenantParam,
    body: DailyBudget,
    example: { params: { tenant: "acme" }, body: { rows_per_day: 5_000_000, tokens_per_day: 1_000_000 } },
    response: TenantBudget,
  },
] as const satisfies readonly EndpointSpec[];
