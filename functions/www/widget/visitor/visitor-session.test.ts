import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError, type Post } from "../service/client";
import { DeferredStorage } from "./deferred-storage";
import { Profile } from "./profile";
import { VisitorSession } from "./visitor-session";

type Request = Record<string, unknown> & { endpoint: string };

Object.assign(globalThis, {
  location: { href: "https://shop.example/" },
  document: { title: "Shop", referrer: "" },
});

/** Returns a session with the token "old". `respond` returns or throws the response to a request. */
function sessionWith(respond: (request: Request) => unknown) {
  const storage = new DeferredStorage(undefined, "");
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
  profile.set({ user_token: "user-7" });
  profile.setCustomData([{ content: "Gold" }]);
  await session.sync();
  const expected = { endpoint: "visitor", token: "old", user_token: "user-7" };
  assert.deepEqual(requests, [{ ...expected, custom_data: [{ content: "Gold" }] }, expected]);
  await session.sync();
  assert.equal(requests.length, 2);
});

test("another user gets the new visitor, and only what belongs to that user", async () => {
  const { session, storage, profile, requests } = sessionWith(({ endpoint, token, user_token }) => {
    if (endpoint === "session") return { visitor: { number: token === "old" ? 7 : 8 } };
    return { visitor: user_token === "bob" ? { number: 8, token: "new" } : { number: token === "old" ? 7 : 8 } };
  });
  let replaced = 0;
  session.onReplaced = () => replaced++;
  profile.set({ contact_info: { client_name: "Ada" } as never, source: "script", utm: { source: "mail" } });
  assert.equal(profile.setUserToken("ada"), false);
  await session.sync();
  assert.equal(profile.setUserToken("ada"), false);
  assert.equal(profile.setUserToken("bob"), true);
  assert.equal(await session.withToken((token) => Promise.resolve(token)), "new");
  assert.deepEqual([replaced, storage.read("token"), session.visitor], [1, "new", { number: 8 }]);
  assert.deepEqual(
    requests.slice(1).map(({ token, user_token, contact_info, utm }) => ({ token, user_token, contact_info, utm })),
    [
      { token: "old", user_token: "bob", contact_info: undefined, utm: undefined },
      { token: "new", user_token: undefined, contact_info: undefined, utm: { source: "mail" } },
    ],
  );
  assert.equal(profile.setUserToken(null), true, "a sign-out ends the identity");
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
