/* The data about the visitor from the page and the forms. The service gets only what it does not have yet. */

import { MAX_CUSTOM_FIELDS } from "../api/arguments";
import type { CustomField, VisitorUpdate } from "../service/types";
import type { DeferredStorage } from "./deferred-storage";

const HANDLED = "handled";

/** What the service has stored or rejected, as JSON by field. */
type Handled = Record<string, string>;
/** The fields that are sent again only after a change. */
const REMEMBERED = ["contact_info", "custom_data", "user_token", "utm", "analytics"] as const;

export class Profile {
  #values: VisitorUpdate = {};
  #customData: CustomField[] | undefined;
  #attributes: CustomField[] = [];

  readonly #storage: DeferredStorage;

  constructor(storage: DeferredStorage) {
    this.#storage = storage;
  }

  set(values: VisitorUpdate): void {
    const contact = { ...this.#values.contact_info, ...values.contact_info };
    this.#values = { ...this.#values, ...values };
    if (Object.keys(contact).length > 0) this.#values.contact_info = contact;
  }

  /** Takes the token of the page's user, or null if the user has signed out. Returns whether the user is another one than
   * the one whom the service knows. What the service has about the known user is then not sent for the other one. */
  setUserToken(token: string | null): boolean {
    const handled = this.#storage.read<Handled>(HANDLED) ?? {};
    const { user_token: known = "null" } = handled;
    const isOther = known !== "null" && known !== JSON.stringify(token);
    const isHandled = (name: (typeof REMEMBERED)[number]) => handled[name] === JSON.stringify(this.#values[name]);
    if (isOther) this.#forget(isHandled("contact_info"), isHandled("custom_data"));
    this.#values.user_token = token;
    return isOther;
  }

  /** Forgets the page's user, because another tab has replaced the visitor. */
  forgetUser(): void {
    delete this.#values.user_token;
    this.#forget(true, true);
  }

  #forget(contactInfo: boolean, customData: boolean): void {
    if (contactInfo) delete this.#values.contact_info;
    if (!customData) return;
    delete this.#values.custom_data;
    this.#customData = undefined;
    this.#attributes = [];
  }

  setCustomData(fields: CustomField[]): void {
    this.#customData = fields.map(({ content, title, link, key }) => ({ content, title, link, key }));
    this.#mergeCustomData();
  }

  /** Adds attributes, or replaces those with the same name. An empty value removes an attribute. Agents see attributes
   * below the custom data. */
  setAttributes(attributes: Record<string, unknown>): void {
    const names = Object.keys(attributes);
    this.#attributes = [
      ...this.#attributes.filter(({ key }) => !names.includes(String(key))),
      ...names.map((key) => ({ key, content: String(attributes[key]).slice(0, 1000) })),
    ].filter(({ content }) => content !== "");
    this.#mergeCustomData();
  }

  /** Returns the values that the service has neither stored nor rejected yet. */
  changes(): VisitorUpdate {
    const handled = this.#storage.read<Handled>(HANDLED) ?? {};
    const changes = { ...this.#values };
    for (const name of REMEMBERED) if (handled[name] === JSON.stringify(changes[name])) delete changes[name];
    if (changes.contact_info === undefined) delete changes.source;
    return changes;
  }

  markHandled(changes: VisitorUpdate): void {
    const handled = this.#storage.read<Handled>(HANDLED) ?? {};
    for (const name of REMEMBERED) if (changes[name] !== undefined) handled[name] = JSON.stringify(changes[name]);
    this.#storage.write(HANDLED, handled);
    if (this.#values.page === changes.page) delete this.#values.page;
  }

  /** Forgets what has been sent, so that everything is sent again for a new visitor. */
  forgetHandled(): void {
    this.#storage.remove(HANDLED);
  }

  #mergeCustomData(): void {
    this.#values.custom_data = [...(this.#customData ?? []), ...this.#attributes].slice(0, MAX_CUSTOM_FIELDS);
  }
}
