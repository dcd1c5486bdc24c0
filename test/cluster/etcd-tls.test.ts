/** TLS between nodes and etcd, with certificates that openssl makes. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { ClusterMap } from "../../src/cluster/cluster-map.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { readEtcdTls } from "../../src/cluster/etcd-tls.js";
import { loadConfig } from "../../src/config/load-config.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";

const NO_OPENSSL = spawnSync("openssl", ["version"]).status === 0 ? false : "no openssl on the path";

/** An authority in the folder, and a certificate for this machine that it signed. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...fresh, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2");
  openssl("req", ...fresh, "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=node");
  writeFileSync(join(folder, "own.ext"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "own.ext", "-days", "2"];
  openssl("x509", "-req", "-in", "own.csr", ...signed, "-out", "own.pem");
}

function tlsOf(ca: string, certificate = "", key = ""): ReturnType<typeof readEtcdTls> {
  const files = {
    "cluster.etcd_ca_file": ca,
    "cluster.etcd_certificate_file": certificate,
    "cluster.etcd_key_file": key,
  };
  return readEtcdTls(loadConfig({ env: {}, overrides: files }).cluster);
}

t.test(
  "only who trusts the members, and is trusted by them, reaches etcd",
  { skip: NO_ETCD || NO_OPENSSL },
  async (t) => {
    const folder = t.testdir({ other: {} });
    makeCertificates(folder);
    makeCertificates(join(folder, "other"));
    const file = (name: string): string => join(folder, name);
    const tls = tlsOf(file("ca.pem"), file("own.pem"), file("own.key"))!;
    const args = ["--cert-file", file("own.pem"), "--key-file", file("own.key"), "--client-cert-auth"];
    args.push("--trusted-ca-file", file("ca.pem"));
    const member = await EtcdMember.start({ secured: { args, tls } });
    t.teardown(() => member.end());
    const endpoints = [member.endpoint];
    const service = new EtcdLogService({ endpoints, installation: "tls", tls });
    t.ok((await service.claim({ partition: 0, node: "a", tenure: "t", epoch: 0 }))! > 0);
    await service.close();

    const others = {
      "without TLS": undefined,
      "without a certificate": tlsOf(file("ca.pem")),
      "with another authority": tlsOf(file("other/ca.pem"), file("own.pem"), file("own.key")),
      "with a certificate that another authority signed": tlsOf(
        file("ca.pem"),
        file("other/own.pem"),
        file("other/own.key"),
      ),
    };
    for (const [how, given] of Object.entries(others)) {
      const map = new ClusterMap(endpoints, "tls", given);
      await t.rejects(map.meta(), { code: "log_unavailable" }, how);
      map.close();
    }
  },
);

t.test("settings for TLS that do not fit are refused with what to do", async (t) => {
  t.equal(tlsOf(""), undefined);
  t.throws(() => tlsOf("", "own.pem", "own.key"), { code: "invalid_request", message: /etcd_ca_file is missing/ });
  t.throws(() => tlsOf("ca.pem", "own.pem"), { code: "invalid_request", message: /belong together/ });
  t.throws(() => tlsOf("/nowhere/ca.pem"), { code: "invalid_request", message: /\/nowhere\/ca.pem cannot be read/ });
});
