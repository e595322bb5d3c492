import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkCall } from "./arguments";

Object.assign(globalThis, { document: { baseURI: "https://shop.example/orders/list?page=2" } });

/** The phone numbers that the service's tests read too. */
const PHONES = JSON.parse(readFileSync("../../shared/src/domain/calls/phone_number_examples.json", "utf8"));
const ok = { result: "ok" };
const resultOf = (method: string, ...args: unknown[]) => checkCall(method, args).result;
/** Returns the arguments that the widget gets. */
const taken = (method: string, ...args: unknown[]) => {
  const { result, args: taken } = checkCall(method, args);
  assert.equal(result.result, "ok", `${method} ${JSON.stringify(args)}`);
  return JSON.parse(JSON.stringify(taken)) as unknown[];
};

test("custom data must be an array of at most ten fields", () => {
  const fields = (count: number) => Array.from({ length: count }, () => ({ content: "x" }));
  assert.deepEqual(resultOf("setCustomData", {}), { result: "fail", reason: "Custom data must be array." });
  assert.deepEqual(resultOf("setCustomData"), { result: "fail", reason: "Custom data must be array." });
  assert.deepEqual(resultOf("setCustomData", fields(10)), ok);
  assert.equal(resultOf("setCustomData", fields(11)).result, "fail");
  assert.deepEqual(resultOf("setCustomData", [...fields(10), { content: "" }, null]), ok);
});

test("custom data keeps what has a meaning", () => {
  const table: [unknown, object | undefined][] = [
    [
      { content: "x".repeat(1000), title: "T", key: "K" },
      { content: "x".repeat(1000), title: "T", key: "K" },
    ],
    [
      { content: " Gold ", title: 7, key: 8 },
      { content: "Gold", title: "7", key: "8" },
    ],
    [{ content: 0 }, { content: "0" }],
    [{ content: "x".repeat(1001) }, { content: "x".repeat(1000) }],
    [
      { content: "x", title: {}, key: "k".repeat(256) },
      { content: "x", key: "k".repeat(255) },
    ],
    [{ content: "x", title: "", link: null }, { content: "x" }],
    [
      { content: "<b>x</b>", link: "https://crm.example/7" },
      { content: "<b>x</b>", link: "https://crm.example/7" },
    ],
    [
      { content: "x", link: "/users/7" },
      { content: "x", link: "https://shop.example/users/7" },
    ],
    [
      { content: "x", link: "7?tab=1" },
      { content: "x", link: "https://shop.example/orders/7?tab=1" },
    ],
    [
      { content: "x", link: "//crm.example/7" },
      { content: "x", link: "https://crm.example/7" },
    ],
    [{ content: "x", link: "javascript:alert(1)" }, { content: "x" }],
    [{ content: "x", link: "https://" }, { content: "x" }],
    [{ content: "x", link: `https://a.example/${"x".repeat(1000)}` }, { content: "x" }],
    [{}, undefined],
    [{ content: "" }, undefined],
    [{ content: {} }, undefined],
    [{ content: NaN }, undefined],
    ["text", undefined],
    [null, undefined],
  ];
  for (const [field, expected] of table)
    assert.deepEqual(taken("setCustomData", [field]), [expected ? [expected] : []], JSON.stringify(field));
});

test("user token is returned with the result", () => {
  assert.deepEqual(resultOf("setUserToken", "abc"), { result: "ok", token: "abc" });
  assert.deepEqual(resultOf("setUserToken", 7), { result: "ok", token: 7 });
  assert.deepEqual(taken("setUserToken", 7), ["7"]);
  for (const token of ["", null]) {
    assert.deepEqual(resultOf("setUserToken", token), { result: "ok", token });
    assert.deepEqual(taken("setUserToken", token), [null], "a sign-out");
  }
  const long = "x".repeat(2049);
  for (const token of [" ", {}, long]) assert.deepEqual(resultOf("setUserToken", token), { result: "fail", token });
  assert.deepEqual(resultOf("setUserToken"), { result: "fail", token: false });
});

test("call needs a number that the service may call", () => {
  for (const phone of [...PHONES.callable, ...PHONES.unassigned, 4930123456])
    assert.deepEqual(resultOf("startCall", phone), ok, phone);
  for (const phone of [...PHONES.malformed, undefined, null, {}])
    assert.deepEqual(resultOf("startCall", phone), { result: "fail", reason: "Phone is not valid." }, phone);
});

test("offline message needs a text and a way to answer", () => {
  const message = "Hi";
  assert.deepEqual(taken("sendOfflineMessage", { email: "a@b.example", message }), [
    { email: "a@b.example", message },
    null,
  ]);
  assert.deepEqual(resultOf("sendOfflineMessage", { phone: "+49 30 123456", message }), ok);
  assert.deepEqual(taken("sendOfflineMessage", { name: "", email: null, phone: 4930123456, id: 7, message: 42 })[0], {
    phone: "4930123456",
    message: "42",
  });
  assert.deepEqual(resultOf("sendOfflineMessage", "Amara", "a@b.example", undefined, undefined, message), ok);
  const failures: [unknown, string][] = [
    [{ email: "a@b.example" }, "Message must not be empty."],
    [{ email: "a@b.example", message: "  " }, "Message must not be empty."],
    [{ email: "a@b.example", message: "😀".repeat(1001) }, "Message must have at most 1000 characters."],
    [{ message }, "Email or phone is required."],
    [{ email: "a@b", message }, "Email is not valid."],
    [{ phone: "call me", message }, "Phone is not valid."],
  ];
  for (const [fields, error] of failures)
    assert.deepEqual(resultOf("sendOfflineMessage", fields), { result: "fail", error });
  assert.deepEqual(resultOf("sendOfflineMessage", { email: "a@b.example", message: "😀".repeat(1000) }), ok);
  const report = () => {};
  for (const args of [
    [{ email: "a@b.example", message }, report],
    ["Amara", "a@b.example", "", "", message, report],
  ])
    assert.equal(checkCall("sendOfflineMessage", args).args[1], report);
});

test("contact info takes texts and numbers, and empty texts clear a field", () => {
  assert.deepEqual(taken("setContactInfo", { name: " Amara ", phone: null, email: "", description: 7, id: 8 }), [
    { name: "Amara", phone: "", email: "", description: "7" },
  ]);
  assert.deepEqual(taken("setContactInfo", { name: {}, phone: undefined, email: true }), [{}]);
  assert.deepEqual(taken("setContactInfo", { name: "x".repeat(256) }), [{ name: "x".repeat(255) }]);
  for (const info of ["Amara", undefined, null, []])
    assert.deepEqual(resultOf("setContactInfo", info), { result: "fail", reason: "Contact info must be object." });
});

test("attributes are texts, and those without a meaning are left out", () => {
  const attributes = { " plan ": " gold ", visits: 7, vip: true, cart: {}, tags: [], since: undefined, " ": "x" };
  assert.deepEqual(taken("setClientAttributes", attributes), [{ plan: "gold", visits: "7" }]);
  assert.deepEqual(taken("setClientAttributes", { plan: null, level: " " }), [{ plan: "", level: "" }]);
  assert.deepEqual(taken("setClientAttributes", { ["n".repeat(300)]: "x".repeat(1001) }), [
    { ["n".repeat(255)]: "x".repeat(1000) },
  ]);
  assert.equal(resultOf("setClientAttributes", ["gold"]).result, "fail");
});

test("other arguments are checked by their meaning", () => {
  assert.deepEqual(resultOf("setRules", []), ok);
  assert.equal(resultOf("setRules", {}).result, "fail");
  assert.equal(resultOf("showProactiveInvitation", " ").result, "fail");
  assert.deepEqual(taken("showProactiveInvitation", 7, "3"), ["7", "3"]);
  const colors: [unknown[], unknown[]][] = [
    [
      ["#aabbcc", null],
      ["#aabbcc", null],
    ],
    [["#fff"], ["#ffffff", null]],
    [
      ["1aF", "#ABC"],
      ["#11aaFF", "#AABBCC"],
    ],
    [
      ["#aabbcc", "red"],
      ["#aabbcc", null],
    ],
  ];
  for (const [given, expected] of colors) assert.deepEqual(taken("setWidgetColor", ...given), expected);
  for (const color of ["red;}", "", undefined, "#aabb"])
    assert.equal(resultOf("setWidgetColor", color).result, "fail", color);
  assert.deepEqual(taken("sendPageTitle", "Cart", true, "/cart"), ["Cart", "https://shop.example/cart"]);
  assert.deepEqual(taken("sendPageTitle", "Cart", true, "javascript:alert(1)"), ["Cart", null]);
  assert.equal(resultOf("sendPageTitle", "").result, "fail");
  assert.deepEqual(resultOf("close"), ok);
});
