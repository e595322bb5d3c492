import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Message, Session, Settings } from "../service/types";
import { createState, Store } from "../state";
import english from "../../texts/en/widget";
import { DeferredStorage } from "../visitor/deferred-storage";
import type { VisitorSession } from "../visitor/visitor-session";
import { Messenger } from "./messenger";

const settings = { title: "Northlight", texts: {}, sound: false } as unknown as Settings;
const sessionWith = (messages: Partial<Message>[], state: "waiting" | "active") =>
  ({
    mode: "online",
    bot: false,
    agents: [],
    call: null,
    callback: false,
    callback_available: false,
    has_earlier: false,
    chat: { chat_id: 7, state, agent: { name: "Marta" }, last_seq: messages.length },
    messages: messages.map((message, index) => ({ chat_id: 7, seq: index + 1, at: 0, ...message })),
  }) as unknown as Session;

const flushPromises = async () => {
  for (let round = 0; round < 20; round++) await Promise.resolve();
};

/** Returns a messenger with an open chat whose reads of the session wait for `release`. */
function createMessenger(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  let channels = 0;
  class Channel {
    constructor() {
      channels++;
    }
    postMessage() {}
    close() {}
  }
  Object.assign(globalThis, { BroadcastChannel: Channel, document: { hidden: false } });
  const releases: ((session: Session | Promise<Session>) => void)[] = [];
  const reads: (number | undefined)[] = [];
  const session = {
    check: () => {},
    load: (after: number | undefined) => {
      reads.push(after);
      return new Promise<Session>((done) => void releases.push(done));
    },
    onForgotten: () => {},
  };
  const state = createState({
    settings,
    texts: english,
    language: "en",
    mode: "online",
    hasBot: false,
    isBotDisclosed: false,
    agents: [],
    callback: false,
    isCallbackAvailable: false,
    opensAt: undefined,
  });
  const events: string[] = [];
  const messenger = new Messenger(
    "w",
    new Store(state, () => {}),
    session as unknown as VisitorSession,
    new DeferredStorage(undefined, ""),
    () => new Promise<never>(() => {}),
    (name) => void events.push(name),
  );
  messenger.onChat = () => void events.push("chat");
  messenger.begin(sessionWith([], "waiting"));
  return { messenger, state, session, releases, reads, events, channelCount: () => channels };
}

test("response to a read changes nothing after the end", async (t) => {
  const { messenger, state, releases, events } = createMessenger(t);
  state.isOpen = true;
  void messenger.catchUp();
  messenger.stop();
  releases[0]?.(sessionWith([{ from: "agent", type: "text", text: "Hello" } as Partial<Message>], "active"));
  await flushPromises();
  messenger.windowChanged();
  void messenger.catchUp();
  t.mock.timers.tick(600_000);
  await flushPromises();
  assert.deepEqual(events, []);
  assert.equal(state.conversation.messages.length, 0);
  assert.equal(releases.length, 1);
});

test("missed change is read again after a failure", async (t) => {
  const { messenger, state, releases, reads } = createMessenger(t);
  const message = { from: "agent", type: "text", text: "helo" } as Partial<Message>;
  const changed = (text: string) => {
    const session = sessionWith([{ ...message, text } as Partial<Message>], "waiting");
    return { ...session, chat: { ...session.chat, messages_changed_at: 900 } } as Session;
  };
  const release = async (session: Session | Promise<Session>) => {
    releases.at(-1)?.(session);
    await flushPromises();
  };
  state.isOpen = true;
  void messenger.catchUp();
  await release(sessionWith([message], "waiting"));
  messenger.windowChanged();
  t.mock.timers.tick(600_000);
  await release({ ...changed("hello"), messages: [] });
  await release(Promise.reject(new Error("no network")));
  t.mock.timers.tick(600_000);
  await release({ ...changed("hello"), messages: [] });
  await release(changed("hello"));
  assert.deepEqual(reads, [undefined, 1, undefined, 1, undefined]);
  assert.equal(state.conversation.messages[0]?.text, "hello");
  messenger.stop();
});

test("forgotten visitor and a restart do not connect after the end", (t) => {
  const { messenger, session, channelCount } = createMessenger(t);
  const before = channelCount();
  messenger.stop();
  session.onForgotten();
  messenger.restart();
  assert.equal(channelCount(), before);
});
