/* What the page says about the person at the browser: the data, the user's token, and the page itself. */

import type { CustomField, PageInfo } from "../service/types";
import type { Profile } from "./profile";
import type { VisitorSession } from "./visitor-session";

/** How long the page's data about the visitor waits for the page to name the user. */
const USER_WAIT_MS = 3000;

export class PersonData {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The page that the service was last told about. */
  #page: PageInfo | undefined;
  /** The data that belongs to the user whom the page names next. */
  #batch: [method: string, data: unknown][] = [];
  #isUserNamedInBatch = false;
  /** Whether the page has named its user, or that there is none. */
  #isUserNamed = false;

  readonly #profile: Profile;
  readonly #session: VisitorSession;
  readonly #setContact: (fields: object) => void;

  constructor(profile: Profile, session: VisitorSession, setContact: (fields: object) => void) {
    this.#profile = profile;
    this.#session = session;
    this.#setContact = setContact;
  }

  /** Takes the data of setContactInfo, setCustomData or setClientAttributes. */
  set(method: string, data: unknown): void {
    const profile = this.#profile;
    if (!this.#isUserNamedInBatch) this.#batch.push([method, data]);
    if (method === "setContactInfo") {
      profile.set({ contact_info: data as Record<string, string>, source: "script" });
      this.#setContact(data as object);
    } else if (method === "setCustomData") profile.setCustomData(data as CustomField[]);
    else profile.setAttributes(data as Record<string, string>);
    this.#sync();
  }

  /** Takes the token of the page's user, or null if the user has signed out. Another user than the known one is another
   * person. The data that the page has set just before then belongs to that user. */
  setUser(token: string | null): void {
    this.#session.check();
    const { user } = this.#profile;
    const data = token === null ? [] : this.#batch;
    this.#batch = [];
    this.#isUserNamed = this.#isUserNamedInBatch = true;
    if (user !== undefined && user !== token) {
      this.#session.leave();
      for (const [method, value] of data) this.set(method, value);
    }
    if (token !== null) this.#profile.setUser(token);
    this.#sync();
  }

  /** Must be called when the page has another address or name. If there is no visitor yet, the request that creates the
   * visitor contains the page. */
  pageChanged(): void {
    const { page, token } = this.#session;
    if (token === undefined || (page.url === this.#page?.url && page.title === this.#page.title)) return;
    this.#page = page;
    this.#profile.set({ page });
    this.#sync();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Sends the visitor's data that the page has set. Consecutive API calls of the page cause a single request. If the
   * browser knows a user whom the page has not named yet, the data waits, because it may be another user's. */
  #sync(): void {
    const profile = this.#profile;
    const isHeld = profile.user !== undefined && !this.#isUserNamed && this.#batch.length > 0;
    // Further calls of the page do not prolong the time.
    if (isHeld && profile.isHeld) return;
    profile.isHeld = isHeld;
    clearTimeout(this.#timer);
    const send = () => {
      profile.isHeld = this.#isUserNamedInBatch = false;
      this.#batch = [];
      this.#session.sync().catch(() => {});
    };
    this.#timer = setTimeout(send, isHeld ? USER_WAIT_MS : 0);
  }
}
