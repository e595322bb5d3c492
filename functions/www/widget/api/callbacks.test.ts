import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmit } from "./callbacks";

/** Returns the page's window with all callbacks that note their calls. */
function pageWith(names: string[]) {
  const called: unknown[] = [];
  const window = Object.fromEntries(
    names.map((name) => [`w_${name}`, (...args: unknown[]) => void called.push([name, ...args].join(" "))]),
  );
  Object.assign(globalThis, { window });
  return { called, window };
}

test("nothing is called after onWidgetDestroy", () => {
  const { called } = pageWith(["onLoadCallback", "onMessageReceived", "onWidgetDestroy"]);
  const emit = createEmit("w");
  emit("onLoadCallback");
  emit("onMessageReceived");
  emit("onWidgetDestroy");
  emit("onMessageReceived");
  emit("onWidgetDestroy");
  assert.deepEqual(called, ["onLoadCallback", "onMessageReceived", "onWidgetDestroy"]);
});

test("widget that is destroyed in onLoadCallback calls nothing later", () => {
  const { called, window } = pageWith(["onOpen", "onWidgetDestroy"]);
  const emit = createEmit("w");
  window["w_onLoadCallback"] = () => {
    emit("onWidgetDestroy");
    emit("onOpen");
  };
  emit("onLoadCallback");
  emit("onOpen");
  assert.deepEqual(called, ["onWidgetDestroy"]);
});
