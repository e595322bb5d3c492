/* The visitor's token, and the requests that need it. */

import { pageTitle } from "../page-title";
import { ServiceError, type Post } from "../service/client";
import type { PageInfo, Session, Visitor, VisitorUpdate } from "../service/types";
import { exclusively } from "../tabs/tab-group";
import type { DeferredStorage } from "./deferred-storage";
import type { Profile } from "./profile";

const TOKEN = "token";
/** The maximum length of a URL that the service stores. */
export const MAX_URL_LENGTH = 4096;

/** The reason why a request is given up whose person has signed out in the meantime. */
export class PersonChanged extends Error {}

export class VisitorSession {
  visitor: Visitor | null = null;
  /** Called when the service does not know the visitor any more. */
  onForgotten: () => void = () => {};
  /** Called when the person at the browser has changed, in this tab or in another one. */
  onLeft: () => void = () => {};
  /** Called when the service has created another visitor, because it knows the present one as another user. */
  onReplaced: () => void = () => {};
  /** The page's title and URL as the API method `sendPageTitle` has named them, and the address for which they hold. */
  namedPage: (PageInfo & { address: string }) | undefined;
  /** The address from which the visitor came to the site. */
  referrer: string | undefined;

  readonly #post: Post;
  readonly #storage: DeferredStorage;
  readonly #profile: Profile;
  readonly #lockName: string;

  constructor(post: Post, storage: DeferredStorage, profile: Profile, lockName: string) {
    this.#post = post;
    this.#storage = storage;
    this.#profile = profile;
    this.#lockName = lockName;
    if (this.token !== undefined) storage.persist();
  }

  get page(): PageInfo {
    const { href } = location;
    const { url = href, title = pageTitle() } = this.namedPage?.address === href ? this.namedPage : {};
    return { url: url.slice(0, MAX_URL_LENGTH), title };
  }

  get token(): string | undefined {
    return this.#storage.read<string>(TOKEN) || undefined;
  }

  /** Notices whether the person has signed out, or another user has signed in, in another tab. */
  check(): void {
    if (this.#storage.follow()) this.#onPersonChanged();
  }

  /** Forgets the person at the browser, in all tabs. The next act creates a new visitor. */
  leave(): void {
    const { token } = this;
    this.#storage.leave();
    this.#onPersonChanged();
    // Also hide the messages from a copy of the token.
    if (token) this.#post("visitor", { token, clear_history: true }).catch(() => {});
  }

  #onPersonChanged(): void {
    this.visitor = null;
    this.#profile.forgetPerson();
    this.onLeft();
  }

  /** Reads the session, without the messages of the current chat up to the number `after`. Does not create a visitor. */
  load(after?: number): Promise<Session> {
    this.check();
    return this.#repeatIfUnauthorized(async () => {
      const { token } = this;
      const { generation } = this.#storage;
      const session = await this.#request({ token, after });
      this.check();
      // The person or the visitor may have changed during the request.
      if (token !== this.token || generation !== this.#storage.generation) return this.load();
      this.visitor = session.visitor ?? this.visitor;
      return session;
    });
  }

  /** Calls `request` with the token of the visitor, who is created if there is none. Rejects with PersonChanged if the
   * person has changed unnoticed before the call, when `request` got its data, or changes before the request has ended:
   * nothing of one person may reach another one. */
  withToken<T>(request: (token: string) => Promise<T>): Promise<T> {
    const { generation } = this.#storage;
    const expectSamePerson = () => {
      this.check();
      if (generation !== this.#storage.generation) throw new PersonChanged();
    };
    return this.#repeatIfUnauthorized(async () => {
      expectSamePerson();
      const token = await this.#identify(expectSamePerson);
      const response = await request(token);
      expectSamePerson();
      return response;
    });
  }

  /** Sends what the service does not know about the visitor yet. Does nothing before the visitor exists. */
  async sync(): Promise<void> {
    if (this.token !== undefined) await this.withToken(() => Promise.resolve());
  }

  /** Runs a request, and once more if the service does not know the visitor's token. */
  async #repeatIfUnauthorized<T>(request: () => Promise<T>): Promise<T> {
    const before = this.token;
    const { generation } = this.#storage;
    // Forget the visitor if another tab has removed the token, for example because the service does not know the
    // visitor any more.
    if (this.visitor && before === undefined) this.#forget();
    try {
      return await request();
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      // Another tab may already have replaced the token.
      const isSame = generation === this.#storage.generation && (before === undefined || before === this.token);
      if (isSame) this.#forget();
      return request();
    }
  }

  async #identify(expectSamePerson: () => void): Promise<string> {
    this.#storage.persist();
    const token =
      this.token ??
      (await exclusively(`${this.#lockName}.identify`, async () => {
        expectSamePerson();
        if (this.token !== undefined) return this.token;
        this.#profile.forgetHandled();
        const { visitor } = await this.#request({ identify: true });
        expectSamePerson();
        if (!visitor?.token) throw new ServiceError(502, undefined, undefined);
        this.visitor = visitor;
        this.#storage.write(TOKEN, visitor.token);
        return visitor.token;
      }));
    return this.#sendProfile(token, expectSamePerson);
  }

  /** Returns the visitor's token, which is a new one if the service knows the visitor as another user. */
  async #sendProfile(token: string, expectSamePerson: () => void, changes = this.#profile.changes()): Promise<string> {
    if (Object.keys(changes).length === 0) return token;
    try {
      const { visitor } = await this.#post<{ visitor: Visitor }>("visitor", { token, ...changes });
      expectSamePerson();
      this.visitor = visitor ?? this.visitor;
      if (visitor?.token) return this.#replace(visitor.token, changes, expectSamePerson);
    } catch (error) {
      expectSamePerson();
      if (!(error instanceof ServiceError) || error.isTemporary || isUnauthorized(error)) throw error;
      // Do not send rejected data again: it must not prevent the visitor from writing or other data from being sent.
      // `error.field` names the rejected data, for example "custom_data[0].link".
      const name = error.field?.split(/\W/)[0] as keyof VisitorUpdate;
      if (name in changes) {
        const { [name]: rejected, ...others } = changes;
        this.#profile.markHandled({ [name]: rejected } as VisitorUpdate);
        return this.#sendProfile(token, expectSamePerson, others);
      }
    }
    this.#profile.markHandled(changes);
    return token;
  }

  /** Takes over the visitor whom the service has created for another user. This happens only if the browser has lost
   * the name of the user. */
  #replace(token: string, sent: VisitorUpdate, expectSamePerson: () => void): Promise<string> {
    this.#storage.write(TOKEN, token);
    this.#profile.forgetHandled();
    this.#profile.markHandled(sent);
    this.onReplaced();
    return this.#sendProfile(token, expectSamePerson);
  }

  #request(fields: object): Promise<Session> {
    const { page, referrer } = this;
    return this.#post<Session>("session", { ...fields, page, referrer });
  }

  #forget(): void {
    this.#storage.remove(TOKEN);
    this.#profile.forgetHandled();
    this.visitor = null;
    this.onForgotten();
  }
}

const isUnauthorized = (error: unknown) => error instanceof ServiceError && error.status === 401;
