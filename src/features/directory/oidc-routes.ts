/** Sign-in with providers of OpenID Connect, and tenants' own providers: answered in partition 0's actor only. */

import { requireSystem, tenantOf } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Directory } from "../../directory/directory.js";
import type { BackchannelLogouts } from "./backchannel-logout.js";
import type { OidcSignIns } from "./oidc-sign-in.js";

/** Of `RequestHead.media`, after Accept, Content-Type and Content-Encoding. */
const COOKIE = 3;

export function oidcHandlers(directory: Directory, signIns: OidcSignIns, logouts: BackchannelLogouts) {
  return {
    "auth.oidc.providers": (_request, { query }) => ({
      plain: { providers: directory.signInProviders(query.tenant ?? null) },
    }),
    "auth.oidc.start": async (_request, { body }) => {
      const { url, cookie } = await signIns.start(body.provider);
      return { plain: { authorization_url: url }, headers: `Set-Cookie: ${cookie}\nCache-Control: no-store` };
    },
    "auth.oidc.finish": async (request, { body }) => {
      const { signedIn, cookie } = await signIns.finish(request.head.media[COOKIE] ?? "", body);
      request.auditedName = signedIn.user.username;
      return { plain: signedIn, headers: `Set-Cookie: ${cookie}\nCache-Control: no-store` };
    },
    "auth.oidc.logout": async (request, { body }) => {
      const token = body.logout_token ?? new URLSearchParams(body.form ?? "").get("logout_token") ?? "";
      const { name, ended } = await logouts.logOut(token);
      request.auditedName = name;
      return { plain: { logged_out: ended }, headers: "Cache-Control: no-store" };
    },
    "admin.oidc.list": (request, input) => ({
      plain: { providers: directory.listOidcProviders(tenantOf(request, input)) },
    }),
    "admin.oidc.put": (request, input) => {
      // The claims of whoever runs the issuer would make administrators of tenants.
      if (Object.values(input.body.roles).includes("super_admin")) requireSystem(request);
      const spec = { ...input.body, name: input.params.provider };
      return { plain: directory.putOidcProvider(tenantOf(request, input), spec) };
    },
    "admin.oidc.delete": (request, input) => {
      directory.deleteOidcProvider(tenantOf(request, input), input.params.provider);
      return { plain: null };
    },
  } satisfies Handlers;
}
