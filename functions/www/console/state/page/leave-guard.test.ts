import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { answerLeaveRequest, guardPage, leaveRequest } from "./leave-guard";
import { CHANNELS_ROUTE } from "./page-routes";
import { hrefOf, navigate, route, startRouting } from "./route";

const QUESTION = { title: "Discard the changes?", text: "", stay: "", leave: "" };
const SETTINGS = { section: "settings", id: undefined } as const;

/** Fakes the browser's address, history and clicks, and starts the routing. */
function openBrowser() {
  const listeners = new Map<string, (event: object) => void>();
  const entries = ["#/settings"];
  let at = 0;
  const push = (hash: string) => {
    entries.splice(++at, entries.length, hash);
  };
  const browser = {
    location: {
      get hash() {
        return entries[at];
      },
      set hash(hash) {
        push(hash ?? "");
      },
    },
    history: {
      pushState: (_: null, __: string, hash: string) => push(hash),
      replaceState: (_: null, __: string, hash: string) => entries.splice(at, 1, hash),
    },
    addEventListener: (type: string, listener: (event: object) => void) => listeners.set(type, listener),
    Element: class {
      closest = () => ({ getAttribute: () => "#/channels" });
    },
  };
  for (const [name, value] of Object.entries(browser))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  startRouting(["channels", "settings"]);
  return {
    entries,
    go: (step: number) => {
      at += step;
      listeners.get("hashchange")?.({});
    },
    /** Clicks a link to the list of channels. Returns whether the browser follows it. */
    click: () => {
      let isFollowed = true;
      const target = new browser.Element();
      listeners.get("click")?.({ target, button: 0, preventDefault: () => (isFollowed = false) });
      return isFollowed;
    },
  };
}

let release = () => {};
afterEach(() => release());

test("page with changes is left only after the question", () => {
  const { click } = openBrowser();
  assert.ok(click(), "nothing is lost");
  release = guardPage({ ...QUESTION });
  assert.ok(!click());
  assert.deepEqual([route.peek(), leaveRequest.peek()?.question], [SETTINGS, QUESTION]);
  answerLeaveRequest(false);
  assert.deepEqual([route.peek(), leaveRequest.peek()], [SETTINGS, undefined]);
  navigate(CHANNELS_ROUTE);
  answerLeaveRequest(true);
  assert.deepEqual([route.peek(), location.hash], [CHANNELS_ROUTE, "#/channels"]);
});

test("way back asks too, and keeps the history", () => {
  const { entries, go } = openBrowser();
  navigate(CHANNELS_ROUTE);
  release = guardPage({ ...QUESTION });
  go(-1);
  assert.deepEqual([hrefOf(route.peek()), location.hash], ["#/channels", "#/channels"]);
  assert.deepEqual(entries, ["#/settings", "#/channels"]);
  answerLeaveRequest(true);
  assert.equal(hrefOf(route.peek()), "#/settings");
});

test("page whose subject was deleted is left without a question", () => {
  openBrowser();
  release = guardPage({ ...QUESTION });
  navigate(CHANNELS_ROUTE, true);
  assert.deepEqual([route.peek(), leaveRequest.peek()], [CHANNELS_ROUTE, undefined]);
});

test("latest guard is asked, and its end withdraws the question", () => {
  openBrowser();
  release = guardPage({ ...QUESTION });
  const releaseDialog = guardPage({ ...QUESTION, title: "Leave without it?" });
  navigate(CHANNELS_ROUTE);
  assert.equal(leaveRequest.peek()?.question.title, "Leave without it?");
  releaseDialog();
  assert.equal(leaveRequest.peek(), undefined);
});
