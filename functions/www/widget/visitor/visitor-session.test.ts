import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError, type Post } from "../service/client";
import { DeferredStorage } from "./deferred-storage";
import { Profile } from "./profile";
import { PersonChanged, VisitorSession } from "./visitor-session";

type Request = Record<string, unknown> & { endpoint: string };

Object.defineProperty(globalThis, "navigator", { value: {} });
Object.assign(globalThis, {
  location: { href: "https://shop.example/" },
  document: { title: "Shop", referrer: "" },
});

/** Returns a session with the token "old". `respond` returns or throws the response to a request. */
function sessionWith(respond: (request: Request) => unknown, storage = new DeferredStorage(undefined, "")) {
  storage.write("token", "old");
  const profile = new Profile(storage);
  const requests: Request[] = [];
  const post = (async (endpoint: string, body: object) => {
    const request = JSON.parse(JSON.stringify({ endpoint, ...body })) as Request;
    requests.push(request);
    return respond(request);
  }) as Post;
  return { session: new VisitorSession(post, storage, profile, ""), storage, profile, requests };
}

test("rejected field does not keep the others from being sent", async () => {
  const { session, profile, requests } = sessionWith(({ custom_data }) => {
    if (custom_data) throw new ServiceError(400, "custom_data[0].link", undefined);
    return {};
  });
  profile.setUser("user-7");
  profile.setCustomData([{ content: "Gold" }]);
  await session.sync();
  const expected = { endpoint: "visitor", token: "old", user_token: "user-7" };
  assert.deepEqual(requests, [{ ...expected, custom_data: [{ content: "Gold" }] }, expected]);
  await session.sync();
  assert.equal(requests.length, 2);
});

const noTokens = ({ endpoint, identify }: Request) =>
  endpoint === "session" ? { visitor: { number: identify ? 8 : 7, ...(identify ? { token: "new" } : {}) } } : {};

test("person who signs out is forgotten, and the next act creates another visitor", async () => {
  const { session, storage, profile, requests } = sessionWith(noTokens);
  let left = 0;
  session.onLeft = () => left++;
  profile.set({ contact_info: { name: "Ada" }, source: "script", utm: { source: "mail" } });
  profile.setUser("ada");
  storage.write("draft", "My card number");
  await session.sync();
  session.leave();
  assert.deepEqual([left, session.token, session.visitor, profile.user], [1, undefined, null, undefined]);
  assert.deepEqual(storage.names(""), []);
  requests.length = 0;
  assert.equal(await session.withToken((token) => Promise.resolve(token)), "new");
  assert.deepEqual(
    requests.map(({ endpoint, token, contact_info, user_token, utm }) => [
      endpoint,
      token,
      contact_info,
      user_token,
      utm,
    ]),
    [
      ["session", undefined, undefined, undefined, undefined],
      ["visitor", "new", undefined, undefined, { source: "mail" }],
    ],
  );
});

test("nothing of a person who has signed out comes back with a late response", async () => {
  let answer = (_: unknown) => {};
  const { session, storage } = sessionWith(() => new Promise((done) => (answer = done)));
  const visitor = { number: 7, token: "late" };
  for (const request of [() => session.load(), () => session.sync(), () => session.withToken(async () => 1)]) {
    storage.write("token", "old");
    const result = request().catch((error: unknown) => error);
    await Promise.resolve();
    session.leave();
    storage.write("token", "next");
    answer({ visitor });
    await Promise.race([result, new Promise((done) => setTimeout(done))]);
    assert.equal(session.token, "next");
    assert.equal(session.visitor, null);
  }
  storage.remove("token");
  const creation = session.withToken(() => assert.fail("the request is for the earlier person"));
  await new Promise((done) => setTimeout(done));
  session.leave();
  answer({ visitor });
  await assert.rejects(creation, PersonChanged);
  assert.equal(session.token, undefined);
});

test("request for a person who has signed out unnoticed is not sent for the next one", async () => {
  const values = new Map<string, string>();
  const backend = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as Storage;
  const { session, requests } = sessionWith(noTokens, new DeferredStorage(backend, ""));
  let left = 0;
  session.onLeft = () => left++;
  // Another tab signs out.
  backend.setItem("person", "1");
  const late = session.withToken(() => assert.fail("the request is for the earlier person"));
  await assert.rejects(late, PersonChanged);
  assert.deepEqual([left, requests], [1, []]);
  assert.equal(await session.withToken((token) => Promise.resolve(token)), "new");
});

test("data for a user whom another tab has replaced is forgotten", async () => {
  const values = new Map([["user", '"bob"']]);
  const backend = { getItem: (key: string) => values.get(key) ?? null } as Storage;
  const storage = new DeferredStorage(backend, "");
  const { session, profile } = sessionWith(noTokens, storage);
  profile.setCustomData([{ content: "Ada's level" }]);
  storage.write("user", "ada");
  session.check();
  assert.deepEqual(profile.changes(), { user_token: "bob" });
});

test("visitor whom the service knows as another user is replaced", async () => {
  const { session, storage, profile } = sessionWith(({ token }) => ({
    visitor: token === "old" ? { number: 8, token: "new" } : { number: 8 },
  }));
  let replaced = 0;
  session.onReplaced = () => replaced++;
  profile.setUser("bob");
  assert.equal(await session.withToken((token) => Promise.resolve(token)), "new");
  assert.deepEqual([replaced, storage.read("token")], [1, "new"]);
});

test("token that another tab has just stored is kept", async () => {
  const { session, storage, requests } = sessionWith(({ token }) => {
    if (token !== "old") return { visitor: { number: 8 } };
    storage.write("token", "new");
    throw new ServiceError(401, undefined, undefined);
  });
  await session.load();
  assert.deepEqual(
    requests.map(({ token }) => token),
    ["old", "new"],
  );
  assert.equal(session.token, "new");
});

test("visitor whose token another tab has removed is forgotten", async () => {
  const { session, storage } = sessionWith(({ token }) => ({ visitor: token ? { number: 8 } : null }));
  let forgotten = 0;
  session.onForgotten = () => forgotten++;
  await session.load();
  assert.equal(forgotten, 0);
  storage.remove("token");
  await session.load();
  assert.equal(forgotten, 1);
  assert.equal(session.visitor, null);
  await session.load();
  assert.equal(forgotten, 1);
});
