/**
 * TLS to etcd, as `[cluster]` says: files of the authority that signed the members' certificates, and of this node's
 * own.
 */
import { readFileSync } from "node:fs";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import type { EtcdTls } from "../protocol/messages.js";

/**
 * Undefined: none is wished for. Throws invalid_request for a file that cannot be read, or one without the other that
 * it needs.
 */
export function readEtcdTls({ etcdCaFile, etcdCertificateFile, etcdKeyFile }: Config["cluster"]): EtcdTls | undefined {
  const files = [etcdCaFile, etcdCertificateFile, etcdKeyFile];
  if (files.every((file) => file === "")) return undefined;
  if (etcdCaFile === "")
    throw wrong("cluster.etcd_ca_file is missing: it says whose certificates of etcd's members count");
  if ((etcdCertificateFile === "") !== (etcdKeyFile === ""))
    throw wrong("cluster.etcd_certificate_file and cluster.etcd_key_file belong together: set both or none");
  const own = etcdKeyFile === "" ? {} : { certificate: read(etcdCertificateFile), key: read(etcdKeyFile) };
  return { authority: read(etcdCaFile), ...own };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw wrong(`cluster: the file ${file} cannot be read (${(error as Error).message})`);
  }
}

function wrong(what: string): DbError {
  return new DbError("invalid_request", `${what}.`);
}
