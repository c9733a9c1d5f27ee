import assert from "node:assert/strict";
import test from "node:test";
import { expandTilde, profileOf, resolveHome, userHomeOf } from "../lib/config/home.ts";

const lookupUser = (name: string) => (name === "ann" ? "/users/ann" : undefined);
const userHome = "/users/me";

test("the home is --home, else HERMES_HOME, else ~/.hermes", () => {
  const env = { HERMES_HOME: "/env" };
  assert.equal(resolveHome({ flag: "/flag", env, userHome }), "/flag");
  assert.equal(resolveHome({ env, userHome }), "/env");
  assert.equal(resolveHome({ env: {}, userHome }), "/users/me/.hermes");
});

test("an empty --home or HERMES_HOME counts as not given", () => {
  assert.equal(resolveHome({ flag: "", env: { HERMES_HOME: "/env" }, userHome }), "/env");
  assert.equal(resolveHome({ env: { HERMES_HOME: "" }, userHome }), "/users/me/.hermes");
});

test("a leading tilde in either is expanded", () => {
  assert.equal(resolveHome({ flag: "~/h", env: {}, userHome }), "/users/me/h");
  assert.equal(resolveHome({ flag: "~", env: {}, userHome }), "/users/me");
  assert.equal(
    resolveHome({ env: { HERMES_HOME: "~ann/h" }, userHome, lookupUser }),
    "/users/ann/h",
  );
});

test("the home is absolute and without dots", () => {
  const env = {};
  assert.equal(resolveHome({ flag: "a/../b/", env, userHome, startFolder: "/start" }), "/start/b");
  assert.equal(resolveHome({ flag: "/a/./b//c", env, userHome }), "/a/b/c");
});

test("~ and ~user are expanded at the start of a word only", () => {
  const env = { HOME: userHome };
  const expand = (word: string) => expandTilde(word, env, lookupUser);
  assert.equal(expand("~"), "/users/me");
  assert.equal(expand("~/a b"), "/users/me/a b");
  assert.equal(expand("~ann"), "/users/ann");
  assert.equal(expand("~ann/x~"), "/users/ann/x~");
  for (const word of ["", "a~", "/~/x", "x/~ann", "--dir=~"]) assert.equal(expand(word), word);
});

test("an unknown user, or ~ without HOME, stays as it is", () => {
  assert.equal(expandTilde("~bob/x", { HOME: userHome }, lookupUser), "~bob/x");
  assert.equal(expandTilde("~/x", {}, lookupUser), "~/x");
  assert.equal(expandTilde("~/x", { HOME: "" }, lookupUser), "~/x");
});

test("a HOME that ends in a slash gives no double slash", () => {
  assert.equal(expandTilde("~/x", { HOME: "/" }), "/x");
  assert.equal(expandTilde("~", { HOME: "/" }), "/");
  assert.equal(expandTilde("~/x", { HOME: "/h/" }), "/h/x");
});

test("users are looked up on this machine by their whole name", () => {
  assert.match(userHomeOf("root") ?? "", /^\//);
  assert.equal(userHomeOf("roo"), undefined);
  assert.equal(userHomeOf("root:x"), undefined);
});

test("the profile is the name below profiles, default for ~/.hermes, else custom", () => {
  assert.equal(profileOf("/users/me/.hermes/profiles/work", userHome), "work");
  assert.equal(profileOf("/srv/profiles/ci/", userHome), "ci");
  assert.equal(profileOf("/users/me/.hermes", userHome), "default");
  assert.equal(profileOf("/users/me/.hermes/", userHome), "default");
  assert.equal(profileOf("/srv/hermes", userHome), "custom");
  assert.equal(profileOf("/users/me/.hermes/profiles", userHome), "custom");
});
