/* The visitor's token, and the requests that need it. */

import { pageTitle } from "../page-title";
import { ServiceError, type Post } from "../service/client";
import type { PageInfo, Session, Visitor, VisitorUpdate } from "../service/types";
import { exclusively } from "../tabs/tab-group";
import type { DeferredStorage } from "./deferred-storage";
import type { Profile } from "./profile";

const TOKEN = "token";
/** The maximum length of a URL that the service stores. */
const MAX_URL_LENGTH = 5000;

export class VisitorSession {
  visitor: Visitor | null = null;
  /** Called when the service does not know the visitor any more. */
  onForgotten: () => void = () => {};
  /** Called when another user has become the visitor. */
  onReplaced: () => void = () => {};
  /** The page that was last passed to the API method `sendPageTitle`. */
  namedPage: PageInfo | undefined;

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
    return this.namedPage ?? { url: location.href.slice(0, MAX_URL_LENGTH), title: pageTitle() };
  }

  get token(): string | undefined {
    return this.#storage.read<string>(TOKEN) || undefined;
  }

  /** Reads the session, without the messages of the current chat up to the number `after`. Does not create a visitor. */
  load(after?: number): Promise<Session> {
    return this.#repeatIfUnauthorized(async () => {
      const { token } = this;
      const session = await this.#request({ token, after });
      // The visitor may have been replaced during the request.
      return token === this.token ? session : this.load();
    });
  }

  /** Calls `request` with the token of the visitor, who is created if there is none. */
  withToken<T>(request: (token: string) => Promise<T>): Promise<T> {
    return this.#repeatIfUnauthorized(async () => request(await this.#identify()));
  }

  /** Sends what the service does not know about the visitor yet. Does nothing before the visitor exists. */
  async sync(): Promise<void> {
    if (this.token !== undefined) await this.withToken(() => Promise.resolve());
  }

  /** Runs a request, and once more if the service does not know the visitor's token. */
  async #repeatIfUnauthorized<T>(request: () => Promise<T>): Promise<T> {
    const before = this.token;
    // Forget the visitor if another tab has removed the token, for example because the service does not know the
    // visitor any more.
    if (this.visitor && before === undefined) this.#forget();
    try {
      return await request();
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      // Another tab may already have replaced the token.
      if (before === undefined || before === this.token) this.#forget();
      return request();
    }
  }

  async #identify(): Promise<string> {
    this.#storage.persist();
    const token =
      this.token ??
      (await exclusively(`${this.#lockName}.identify`, async () => {
        if (this.token !== undefined) return this.token;
        this.#profile.forgetHandled();
        const { visitor } = await this.#request({ identify: true });
        if (!visitor?.token) throw new ServiceError(502, undefined, undefined);
        this.#storage.write(TOKEN, visitor.token);
        return visitor.token;
      }));
    return this.#sendProfile(token);
  }

  /** Returns the visitor's token, which is a new one if the page has named another user. */
  async #sendProfile(token: string, changes = this.#profile.changes()): Promise<string> {
    if (Object.keys(changes).length === 0) return token;
    try {
      const { visitor } = await this.#post<{ visitor: Visitor }>("visitor", { token, ...changes });
      this.visitor = visitor ?? this.visitor;
      if (visitor?.token) return this.#replace(visitor.token, changes);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.isTemporary || isUnauthorized(error)) throw error;
      // Do not send rejected data again: it must not prevent the visitor from writing or other data from being sent.
      // `error.field` names the rejected data, for example "custom_data[0].link".
      const name = error.field?.split(/\W/)[0] as keyof VisitorUpdate;
      if (name in changes) {
        const { [name]: rejected, ...others } = changes;
        this.#profile.markHandled({ [name]: rejected } as VisitorUpdate);
        return this.#sendProfile(token, others);
      }
      // The visitor is still that of another user.
      if ("user_token" in changes) throw error;
    }
    this.#profile.markHandled(changes);
    return token;
  }

  /** Takes over the visitor whom the service has created for another user. */
  #replace(token: string, sent: VisitorUpdate): Promise<string> {
    this.#storage.write(TOKEN, token);
    this.#profile.forgetHandled();
    this.#profile.markHandled(sent);
    this.onReplaced();
    return this.#sendProfile(token);
  }

  /** Takes over the visitor whose token another tab has stored. */
  adopt(): void {
    this.visitor = null;
    this.#profile.forgetUser();
  }

  async #request(fields: object): Promise<Session> {
    const session = await this.#post<Session>("session", {
      ...fields,
      page: this.page,
      referrer: document.referrer || undefined,
    });
    this.visitor = session.visitor ?? this.visitor;
    return session;
  }

  #forget(): void {
    this.#storage.remove(TOKEN);
    this.#profile.forgetHandled();
    this.visitor = null;
    this.onForgotten();
  }
}

const isUnauthorized = (error: unknown) => error instanceof ServiceError && error.status === 401;
