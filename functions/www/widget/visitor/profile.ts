/* The data about the visitor from the page and the forms. The service gets only what it does not have yet. */

import { MAX_CUSTOM_FIELDS } from "../api/arguments";
import { toJson } from "../service/client";
import type { CustomField, VisitorUpdate } from "../service/types";
import { USER, type DeferredStorage } from "./deferred-storage";

const HANDLED = "handled";

/** What the service has stored or rejected, as JSON by field. */
type Handled = Partial<Record<(typeof REMEMBERED)[number], string>>;
/** The fields that are sent again only after a change. */
const REMEMBERED = ["contact_info", "answers", "custom_data", "user_token", "utm", "analytics"] as const;

export class Profile {
  /** Whether the page's data is not sent yet, because the page may name another user next. */
  isHeld = false;
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

  /** The page's user whom the present person is, or undefined if the page has named none. */
  get user(): string | undefined {
    return this.#storage.read<string>(USER) ?? (JSON.parse(this.#handled.user_token ?? "null") || undefined);
  }

  setUser(token: string): void {
    this.#storage.write(USER, token);
  }

  /** Forgets what belongs to a person. What belongs to the visit stays. */
  forgetPerson(): void {
    const { utm, analytics } = this.#values;
    this.#values = { ...(utm && { utm }), ...(analytics && { analytics }) };
    this.#customData = undefined;
    this.#attributes = [];
  }

  setCustomData(fields: CustomField[]): void {
    this.#customData = fields.map(({ content, title, link, key }) => ({ content, title, link, key }));
    this.#mergeCustomData();
  }

  /** Adds attributes, or replaces those with the same name. An empty value removes an attribute. Agents see attributes
   * below the custom data. */
  setAttributes(attributes: Record<string, string>): void {
    const added = Object.entries(attributes).map(([key, content]) => ({ key, content }));
    this.#attributes = [
      ...this.#attributes.filter(({ key }) => !added.some((attribute) => attribute.key === key)),
      ...added,
    ].filter(({ content }) => content !== "");
    this.#mergeCustomData();
  }

  /** Returns the values that the service has neither stored nor rejected yet. */
  changes(): VisitorUpdate {
    const { user } = this;
    const changes: VisitorUpdate = { ...this.#values, ...(user !== undefined && { user_token: user }) };
    for (const name of REMEMBERED) if (this.#handled[name] === toJson(changes[name] ?? null)) delete changes[name];
    if (this.isHeld) {
      delete changes.contact_info;
      delete changes.custom_data;
    }
    if (changes.contact_info === undefined) delete changes.source;
    return changes;
  }

  markHandled(changes: VisitorUpdate): void {
    const handled = this.#handled;
    for (const name of REMEMBERED) if (changes[name] !== undefined) handled[name] = toJson(changes[name]);
    this.#storage.write(HANDLED, handled);
    if (this.#values.page === changes.page) delete this.#values.page;
  }

  /** Forgets what has been sent, so that everything is sent again for a new visitor. */
  forgetHandled(): void {
    this.#storage.remove(HANDLED);
  }

  get #handled(): Handled {
    return this.#storage.read<Handled>(HANDLED) ?? {};
  }

  #mergeCustomData(): void {
    this.#values.custom_data = [...(this.#customData ?? []), ...this.#attributes].slice(0, MAX_CUSTOM_FIELDS);
  }
}
