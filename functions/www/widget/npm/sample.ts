/* A page that uses the package. Type-checked with the widget, and run by tests/pages/embedding/npm-package.test.mjs. */

import { destroy, load, type ContactInfo, type LoadOptions, type Mode, type WidgetApi } from "./index.js";

export async function openChat(options: LoadOptions): Promise<{ mode: Mode; info: ContactInfo }> {
  const api = await load({
    ...options,
    on: { onChangeState: (state) => state === "label" && destroy(options.prefix) },
  });
  const result = api.setContactInfo({ name: "Amara Kone", email: "amara@shop.example" });
  if (result.result === "fail") throw new Error(result.reason);
  api.setCustomData([{ title: "Cart", content: 3, link: "https://shop.example/cart" }]);
  api.getVisitorNumber((error, number) => console.log(error ?? number));
  // @ts-expect-error There is no such start.
  api.open({ start: "video" });
  api.open({ start: "chat" });
  return { mode: api.chatMode(), info: api.getContactInfo() };
}

export function leaveMessage(api: WidgetApi): void {
  const message = { email: "amara@shop.example", message: "Size 45?" };
  api.sendOfflineMessage(message, (stored) => stored.result === "fail" && console.warn(stored.error));
}
