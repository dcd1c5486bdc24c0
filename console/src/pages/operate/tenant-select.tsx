/** For administrators of the installation: of which tenant a tab of Operate tells. */
import { useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { Select } from "../../ui/field.js";

interface TenantSelectProps {
  readonly tab: "users" | "limits";
  readonly tenant: string;
}

export function TenantSelect({ tab, tenant }: TenantSelectProps) {
  const { data } = useGet<{ tenants: readonly { readonly id: string }[] }>("/admin/tenants");
  const ids = (data?.tenants ?? []).map(({ id }) => id);
  if (ids.length < 2) return null;
  return (
    <div class="form-row slim">
      <Select
        label="Tenant"
        value={tenant}
        options={ids}
        onChange={(chosen) => goTo(["operate", tab], { tenant: chosen })}
      />
    </div>
  );
}
