/* The script of the shop. It calls the widget where a real shop would. */

import { widgetApi } from "./widget-api";

/** The customer whom the shop signs in. The demo webhook knows this token. */
const CUSTOMER = { token: "demo-customer-42", name: "Ada Lind", email: "ada.lind@example.com" };

export function startShop(): void {
  let basketCount = 0;
  on("[data-add]", () => (find("#basket").textContent = `Basket: ${++basketCount}`));
  on("[data-ask]", (button) => {
    const content = button.dataset["ask"] ?? "";
    widgetApi()?.["setCustomData"]?.([{ title: "Product", content, link: location.origin + location.pathname }]);
    widgetApi()?.["open"]?.();
  });
  on("#ask-parcel", () => widgetApi()?.["open"]?.());
  on("#call-me", () => widgetApi()?.["open"]?.({ start: "call" }));
  on("#shop-sign-in", (button) => {
    const { token, name, email } = CUSTOMER;
    widgetApi()?.["setUserToken"]?.(token);
    widgetApi()?.["setContactInfo"]?.({ name, email });
    button.textContent = name;
    (button as HTMLButtonElement).disabled = true;
  });
}

function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`no element matches ${selector}`);
  return element;
}

function on(selector: string, onClick: (element: HTMLElement) => void): void {
  for (const element of document.querySelectorAll<HTMLElement>(selector))
    element.addEventListener("click", () => onClick(element));
}
