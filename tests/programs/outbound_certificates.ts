/** Certificates made at test time: a CA of our own, and servers it vouches for. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";

export interface Certificates {
  /** The CA's certificate, as a file. */
  readonly caFile: string;
  /** A server's key and certificate for a name and its lifetime in days. */
  readonly issue: (names: string, days?: number) => { readonly key: string; readonly cert: string };
  readonly remove: () => void;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

export function makeCertificates(): Certificates {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "outbound-ca-"));
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: folder });
    if (status !== 0) throw new Error(String(stderr));
  };
  openssl(
    "req",
    "-x509",
    ...KEY,
    ..."-keyout ca.key -out ca.pem -days 30 -subj".split(" "),
    "/CN=Test CA",
    "-addext",
    "basicConstraints=critical,CA:TRUE",
  );
  let made = 0;
  const issue = (names: string, days = 30) => {
    const n = `s${++made}`;
    openssl("req", ...KEY, "-keyout", `${n}.key`, "-out", `${n}.csr`, "-subj", "/CN=server");
    fs.writeFileSync(at(`${n}.ext`), `subjectAltName=${names}\nextendedKeyUsage=serverAuth\n`);
    openssl(
      ...`x509 -req -in ${n}.csr -CA ca.pem -CAkey ca.key -CAcreateserial`.split(" "),
      ...`-out ${n}.pem -days ${days} -extfile ${n}.ext`.split(" "),
    );
    const read = (file: string) => fs.readFileSync(at(file), "utf8");
    return { key: read(`${n}.key`), cert: read(`${n}.pem`) };
  };
  return { caFile: at("ca.pem"), issue, remove: () => fs.rmSync(folder, { recursive: true }) };
}
