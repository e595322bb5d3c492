import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCall } from "./arguments";

const ok = { result: "ok" };

test("custom data must be an array of at most ten fields", () => {
  const fields = (count: number) => Array.from({ length: count }, () => ({ content: "x" }));
  assert.deepEqual(checkCall("setCustomData", [{}]), { result: "fail", reason: "Custom data must be array." });
  assert.deepEqual(checkCall("setCustomData", []), { result: "fail", reason: "Custom data must be array." });
  assert.deepEqual(checkCall("setCustomData", [fields(10)]), ok);
  assert.equal(checkCall("setCustomData", [fields(11)]).result, "fail");
});

test("custom data field has content of at most 1000 characters and an http link", () => {
  assert.deepEqual(checkCall("setCustomData", [[{ content: "x".repeat(1000), title: "T", key: "K" }]]), ok);
  for (const field of [
    {},
    "text",
    null,
    { content: "" },
    { content: {} },
    { content: "x".repeat(1001) },
    { content: "x", link: "javascript:alert(1)" },
    { content: "x", link: "https://" },
    { content: "x", title: {} },
    { content: "x", key: "x".repeat(256) },
  ])
    assert.equal(checkCall("setCustomData", [[field]]).result, "fail", JSON.stringify(field));
  assert.deepEqual(checkCall("setCustomData", [[{ content: "<b>x</b>", link: "https://crm.example/7" }]]), ok);
  assert.deepEqual(checkCall("setCustomData", [[{ content: 7, key: 8 }]]), ok);
});

test("user token is returned with the result", () => {
  assert.deepEqual(checkCall("setUserToken", ["abc"]), { result: "ok", token: "abc" });
  assert.deepEqual(checkCall("setUserToken", [""]), { result: "fail", token: "" });
  assert.deepEqual(checkCall("setUserToken", [7]), { result: "fail", token: 7 });
  assert.deepEqual(checkCall("setUserToken", []), { result: "fail", token: false });
});

test("call needs a phone number", () => {
  for (const phone of ["+4930123456", "030 / 123-456"]) assert.deepEqual(checkCall("startCall", [phone]), ok);
  for (const phone of ["call me", "12", "", 4930123456, undefined])
    assert.deepEqual(checkCall("startCall", [phone]), { result: "fail", reason: "Phone is not valid." });
});

test("offline message needs a text and a way to answer", () => {
  const send = (...args: unknown[]) => checkCall("sendOfflineMessage", args);
  assert.deepEqual(send({ email: "a@b.example", message: "Hi" }), ok);
  assert.deepEqual(send({ phone: "+49 30 123456", message: "Hi" }), ok);
  assert.deepEqual(send("Amara", "a@b.example", undefined, undefined, "Hi"), ok);
  const failures: [unknown, string][] = [
    [{ email: "a@b.example" }, "Message must not be empty."],
    [{ email: "a@b.example", message: "  " }, "Message must not be empty."],
    [{ message: "Hi" }, "Email or phone is required."],
    [{ email: "a@b", message: "Hi" }, "Email is not valid."],
    [{ phone: "call me", message: "Hi" }, "Phone is not valid."],
    [{ name: 7, email: "a@b.example", message: "Hi" }, "All fields must be strings."],
    [{ name: "x".repeat(256), email: "a@b.example", message: "Hi" }, "Contact info is too long."],
  ];
  for (const [fields, error] of failures) assert.deepEqual(send(fields), { result: "fail", error });
});

test("other arguments are checked by their type", () => {
  assert.deepEqual(checkCall("setRules", [[]]), ok);
  assert.equal(checkCall("setRules", [{}]).result, "fail");
  assert.deepEqual(checkCall("setContactInfo", [{ name: "Amara", phone: null }]), ok);
  assert.equal(checkCall("setContactInfo", ["Amara"]).result, "fail");
  assert.equal(checkCall("setContactInfo", [{ name: {} }]).result, "fail");
  assert.equal(checkCall("setContactInfo", [{ name: "x".repeat(256) }]).result, "fail");
  assert.equal(checkCall("showProactiveInvitation", [" "]).result, "fail");
  assert.deepEqual(checkCall("setWidgetColor", ["#aabbcc", null]), ok);
  assert.equal(checkCall("setWidgetColor", ["red;}"]).result, "fail");
  assert.equal(checkCall("setWidgetColor", []).result, "fail");
  assert.deepEqual(checkCall("close", []), ok);
});
