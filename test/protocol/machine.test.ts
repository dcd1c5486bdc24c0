/** What a machine lacks is said before a binary ends the process, with what to do. */
import t from "tap";
import { isNodeSupported, lacksOf, type Machine, thisMachine } from "../../src/protocol/machine.js";

const good: Machine = { node: "22.5.1", platform: "linux", architecture: "x64", glibc: "2.36", hasAvx2: true };
const said = (changed: Partial<Machine>) => lacksOf({ ...good, ...changed }).map(({ message }) => message);

t.test("machines that run it", (t) => {
  t.same(lacksOf(thisMachine()), [], "this one does, or it would not run this test");
  t.same(said({}), []);
  t.same(said({ node: "20.12.0", glibc: "2.34" }), []);
  t.same(said({ node: "24.21.0", glibc: "2.38" }), []);
  t.same(said({ platform: "darwin", architecture: "arm64", glibc: undefined, hasAvx2: undefined }), []);
  t.end();
});

t.test("each lack has its remedy", (t) => {
  t.match(said({ node: "23.1.0" }), [/Node 23\.1\.0 is not supported; install Node 20, 22, 24/]);
  t.match(said({ node: "24.0.0" }), [/need glibc 2\.38, and this is glibc 2\.36; use Debian 13.* or Node 22$/]);
  t.match(said({ node: "24.0.0", glibc: "2.31" }), [/glibc 2\.31; use Debian 13, Ubuntu 24\.04 or later$/]);
  t.match(said({ glibc: "2.31" }), [/need glibc 2\.34, and this is glibc 2\.31; use Debian 12/]);
  t.match(said({ glibc: undefined }), [/this is no glibc/]);
  t.match(said({ hasAvx2: false }), [/needs AVX2.*virtual machine/]);
  t.match(said({ architecture: "arm64" }), [/no binary for linux on arm64/]);
  t.equal(said({ node: "18.0.0", glibc: "2.19", hasAvx2: false }).length, 3);
  t.end();
});

t.test("versions of Node", (t) => {
  t.same(["18.20.0", "20.20.2", "21.0.0", "22.23.3", "24.21.0", "25.0.0"].filter(isNodeSupported), [
    "20.20.2",
    "22.23.3",
    "24.21.0",
  ]);
  t.end();
});
