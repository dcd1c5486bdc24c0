/** Finds or makes the plans of a session's statements. One per session. */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { Transaction } from "../storage/store.js";
import { graphFinder } from "./ensure-graph.js";
import type { ReadyRun } from "./lifted-plans.js";
import type { SessionNames } from "./session-names.js";
import { planStatement, type StatementPlan } from "./statement-plan.js";
import { openValuesOf, type StatementRun, type StatementText } from "./statement-run.js";
import type { Tenant } from "./tenant.js";

export class StatementPlanner {
  constructor(
    private readonly tenant: Tenant,
    private readonly names: SessionNames,
    private readonly tenantName: string,
  ) {}

  /** What is planned already, perhaps for the text without its constants; null: nothing that fits. */
  known(run: StatementRun, catalogVersion: number | string): ReadyRun | null {
    const { plans, liftedPlans } = this.tenant;
    const plan = plans.find(this.names.planKey(run), catalogVersion, openValuesOf(run));
    return plan === null ? liftedPlans.find(run, catalogVersion, this.keysFor(run)) : { plan, run };
  }

  /** As `known`; what is not planned yet is planned. Throws for anything wrong with the text. */
  ready(run: StatementRun, catalog: CatalogView, tx: Transaction): ReadyRun {
    return traced(run, () => {
      const known = this.known(run, catalog.version);
      if (known !== null) return known;
      const plan = this.newPlan(run, catalog, tx);
      if (!this.names.shapes.isUsed)
        this.tenant.liftedPlans.learn(run, plan, this.keysFor(run), (text) =>
          this.made({ ...text, ...(run.own && { own: run.own }) }, catalog, tx),
        );
      return { plan, run };
    });
  }

  /** As `planFor`, in a span of its own where the request is traced. */
  planned(run: StatementRun, catalog: CatalogView, tx: Transaction): StatementPlan {
    return traced(run, () => this.planFor(run, catalog, tx));
  }

  /** Plans the statement as it was sent, or takes the plan of an earlier run. */
  planFor(text: StatementText, catalog: CatalogView, tx: Transaction): StatementPlan {
    const cached = this.tenant.plans.find(this.names.planKey(text), catalog.version, openValuesOf(text));
    return cached ?? this.newPlan(text, catalog, tx);
  }

  /** Plans what is not known, and keeps the plan for the next run. */
  private newPlan(text: StatementText, catalog: CatalogView, tx: Transaction): StatementPlan {
    const { plans } = this.tenant;
    plans.misses++;
    const plan = this.made(text, catalog, tx);
    // Definitions that are not committed may still change under the same text.
    const { version } = this.tenant.catalog.view(tx);
    const isKept = !this.names.shapes.isUsed && (plan.program !== null || plan.bound.kind === "transaction");
    if (isKept && typeof version === "number") plans.add(this.names.planKey(text), plan);
    return plan;
  }

  private made(text: StatementText, catalog: CatalogView, tx: Transaction): StatementPlan {
    const { tenant } = this;
    const names = this.names.environment(catalog, text.own);
    const environment = this.names.isClients ? { ...names, isSent: true as const } : names;
    return planStatement(text, environment, tenant.statistics.source(tx), graphFinder(tenant, tx, this.tenantName));
  }

  private keysFor({ own }: StatementText): (sql: string) => string {
    return own === true ? this.ownKeyOf : this.keyOf;
  }

  private readonly keyOf = (sql: string): string => this.names.planKey({ sql });
  private readonly ownKeyOf = (sql: string): string => this.names.planKey({ sql, own: true });
}

function traced<T>(run: StatementRun, plan: () => T): T {
  const end = run.request.trace?.begin("plan");
  try {
    const planned = plan();
    end?.();
    return planned;
  } catch (error) {
    end?.(error);
    throw error;
  }
}
