/* The widget on a page: connects the view, the conversation, the rules and the API. */

import type { VisitorUploads } from "./chat/visitor-uploads";
import { DISABLED, UNAVAILABLE, type OfflineMessage, type OfflineReport, type Result } from "./api/arguments";
import { REQUESTED_CALL } from "./call/requested-call";
import { mergeContactInfo, type Widget } from "./api/page-api";
import type { Calls, Parts } from "./parts";
import type { RuleCommand, RuleContext } from "./rules/rules";
import { RuleEngine } from "./rules/rules";
import { ServiceError } from "./service/client";
import type { ButtonId, OnlineAgent, Session } from "./service/types";
import { isAddressNeeded, isAway, NO_CONTACT, rateOf, type Invitation, type Rate, type Screen } from "./state";
import {
  findErrors,
  findOfflineErrors,
  formField,
  formVersion,
  isAnyRequired,
  isKnown,
  nonBlank,
  requireAddress,
  splitValues,
  type FormValues,
} from "./visitor/contact-rules";
import { PersonData } from "./visitor/person-data";
import { PersonChanged } from "./visitor/visitor-session";
import type { Actions } from "./view/props";
import { fillsScreen } from "./view/fills-screen";

const SITE_VISIT_GAP_MS = 30 * 60_000;
const RULE_INTERVAL_MS = 1000;
const DRAFT = "draft";
const CONTACTS_FORM_DONE = "contacts-form-done";
const IS_OPEN = "open";
const CLOSED_AT = "closed-at";
const INVITED_AT = "invited-at";
const SITE = "site";
const NOTHING_REQUIRED = { required: [], custom_fields: [] };

export class ChatWidget implements Widget, Actions {
  readonly #rules = new RuleEngine((command) => this.#execute(command));
  #isStarted = false;
  #ruleTimer: ReturnType<typeof setInterval> | undefined;
  readonly #pageOpenedAt = Date.now();
  readonly #siteOpenedAt: number;
  /** Whether the page has asked for the mode. */
  #isModeAsked = false;
  /** What happens when the service has answered an offline message. */
  readonly #offlineReports = new Map<string, (error: ServiceError | PersonChanged | undefined) => void>();
  #lastState = "label";
  #uploads: Promise<VisitorUploads> | undefined;
  #calls: Promise<Calls> | undefined;

  readonly #parts: Parts;
  readonly #personData: PersonData;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#personData = new PersonData(parts.profile, parts.session, (fields) => this.#setContact(fields));
    const { storage, messenger } = parts;
    const visit = storage.read<{ start: number; seen: number }>(SITE);
    const isSameVisit = visit !== undefined && this.#pageOpenedAt - visit.seen < SITE_VISIT_GAP_MS;
    this.#siteOpenedAt = isSameVisit ? visit.start : parts.landing.start;
    storage.write(SITE, { start: this.#siteOpenedAt, seen: this.#pageOpenedAt });
    messenger.onOfflineResult = (messageId, error) => {
      const report = this.#offlineReports.get(messageId) ?? ((error) => warn(offlineResult(error)));
      report(error);
      this.#offlineReports.delete(messageId);
    };
    messenger.onLeft = () => this.#forgetPerson();
    messenger.onChat = () => this.#reportState();
    messenger.isModeNeeded = () => this.#isModeAsked || this.#rules.usesMode;
    messenger.onCall = (call, id) => {
      if (call || this.#calls || storage.read(REQUESTED_CALL))
        this.#withCalls((calls) => calls.update(call, id), undefined, true);
    };
  }

  get #state() {
    return this.#parts.store.state;
  }

  /** Starts with the session that the service has returned. */
  begin(session: Session): void {
    const { messenger } = this.#parts;
    messenger.begin(session);
    this.#lastState = this.#stateName;
    this.#setContact(nonBlank(session.visitor?.contact_info ?? {}));
    this.#rules.setRules(session.rules);
  }

  /** Begins to act on its own, after the page's calls so far: shows again what was open, and follows the rules. */
  start(): void {
    const { conversation, isOpen } = this.#state;
    const wasOpen = this.#parts.storage.read(IS_OPEN);
    if (wasOpen && !isOpen && !fillsScreen() && conversation.isChatOpen) this.#show(true);
    this.#isStarted = true;
    this.#followRules();
  }

  stop(): void {
    clearInterval(this.#ruleTimer);
    this.#personData.stop();
    this.#parts.messenger.stop();
    if (this.#calls) this.#withCalls((calls) => calls.stop(), undefined, true);
  }

  // The window

  open = (): void => {
    this.#parts.storage.persist();
    this.#show(true, true);
  };

  close = (): void => {
    this.#parts.storage.persist();
    this.#hide(true);
  };

  #hide(isFocusMoved: boolean): void {
    // A window that was open on the page before is not shown again.
    if (!this.#state.isOpen) return this.#parts.storage.write(IS_OPEN, false);
    this.#parts.storage.write(CLOSED_AT, Date.now());
    this.#show(false, isFocusMoved);
  }

  #show(isOpen: boolean, isFocusMoved = false, screen = this.#defaultScreen()): void {
    const { store, emit, storage, messenger, focus } = this.#parts;
    const wasOpen = this.#state.isOpen;
    store.update({ isOpen, screen, isInvitationOutside: false, errors: {}, isBusy: false });
    if (screen === "chat") store.update({ formIntro: {} });
    storage.write(IS_OPEN, isOpen);
    messenger.windowChanged();
    if (isOpen !== wasOpen) {
      if (isFocusMoved) focus(isOpen);
      emit(isOpen ? "onOpen" : "onClose");
      emit("onResizeCallback");
    }
    this.#reportState();
    if (isOpen && !wasOpen && this.#state.conversation.isChatOpen) this.#withCalls((calls) => calls.prepare());
    if (isOpen && messenger.isOutdated) void this.#readMode();
  }

  #defaultScreen(): Screen {
    // If there is a conversation, it is shown, with a button for the form below it.
    return isAway(this.#state) && this.#state.conversation.isEmpty ? "offline" : "chat";
  }

  get #stateName(): string {
    const { isOpen, screen, conversation } = this.#state;
    if (!isOpen) return conversation.isChatOpen ? "chat/min" : "label";
    return screen === "offline" ? "chat" : screen === "call" && conversation.isChatOpen ? "chat/call" : screen;
  }

  #reportState(): void {
    const name = this.#stateName;
    if (name === this.#lastState) return;
    this.#lastState = name;
    this.#parts.emit("onChangeState", name);
  }

  async #readMode(): Promise<void> {
    const before = this.#defaultScreen();
    await this.#parts.messenger.catchUp();
    const screen = this.#defaultScreen();
    if (screen !== before && this.#state.isOpen && this.#state.screen === before) this.#parts.store.update({ screen });
  }

  // Messages

  send = (text: string, buttonId?: ButtonId): void => {
    this.#parts.messenger.sendText(text, buttonId);
    this.#reportState();
  };

  stopAnswer = (): void => this.#parts.messenger.stopAnswer();

  // The code that uploads files is loaded with the first one.
  sendFiles = (files: readonly File[]): void => {
    const { store, session, post, messenger } = this.#parts;
    this.#uploads ??= import("./chat/visitor-uploads").then(
      ({ VisitorUploads }) =>
        new VisitorUploads(store, session, post, (uploaded, name) => {
          messenger.sendFile(uploaded, name);
          this.#reportState();
        }),
    );
    void this.#uploads.then((uploads) => uploads.start(files));
  };

  cancelUpload = (id: number): void => void this.#uploads?.then((uploads) => uploads.cancel(id));

  retryUpload = (id: number): void => void this.#uploads?.then((uploads) => uploads.retry(id));

  loadEarlier = (): void => void this.#parts.messenger.loadEarlier();

  retry = (messageId: string): void => this.#parts.messenger.retry(messageId);

  typed = (text: string): void => {
    const { storage, messenger } = this.#parts;
    storage.persist();
    storage.write(DRAFT, text);
    messenger.typing.changed(text);
  };

  readDraft = (): string => this.#parts.storage.read<string>(DRAFT) ?? "";

  rate = (rate: Rate): void => {
    const { session, post, store } = this.#parts;
    const { chat } = this.#state.conversation;
    if (!chat) return;
    const before = this.#state.rate;
    const value = rateOf(this.#state) === rate ? null : rate;
    const given = { chatId: chat.chat_id, value };
    store.update({ rate: given });
    session
      .withToken((token) => post("rating", { token, chat_id: chat.chat_id, rate: value }))
      .catch(() => this.#state.rate === given && store.update({ rate: before }));
  };

  mediaFailed = (address: string): void =>
    this.#parts.store.update({ broken: new Set([...this.#state.broken, address]) });

  // Forms

  submitContacts = (values: FormValues): void => {
    if (this.#state.isBusy) return;
    const { store, storage, session, post, profile, emit } = this.#parts;
    const { settings, texts } = this.#state;
    const { contacts_form } = settings;
    const isAddress = isAddressNeeded(this.#state);
    const errors = isAddress
      ? requireAddress(values, contacts_form, findErrors(values, NOTHING_REQUIRED, texts), texts)
      : findErrors(values, contacts_form, texts);
    store.update({ errors });
    if (Object.keys(errors).length > 0) return;
    const { fields: contact_info, answers } = splitValues(values, contacts_form.custom_fields);
    const finish = () => {
      if (!isAddress || contacts_form.custom_fields.length === 0)
        storage.write(CONTACTS_FORM_DONE, formVersion(contacts_form));
      this.#setContact(contact_info);
      store.update({ isBusy: false });
      emit("onIntroduction");
    };
    storage.persist();
    store.update({ isBusy: true });
    session
      .withToken((token) => post("visitor", { token, contact_info, answers, source: "visitor" }))
      .then(finish, (error) => {
        if (error instanceof PersonChanged) return;
        if (error instanceof ServiceError && error.status === 400) return this.#showError(error);
        // The data is sent with the next request.
        profile.set({ contact_info, source: "visitor", ...(answers && { answers }) });
        finish();
      });
  };

  skipContacts = (): void => {
    this.#parts.storage.persist();
    const { contacts_form } = this.#state.settings;
    this.#parts.store.update({ isAddressRefused: true });
    if (isAnyRequired(contacts_form)) return;
    this.#parts.storage.write(CONTACTS_FORM_DONE, formVersion(contacts_form));
    this.#parts.store.update({ isContactsFormDone: true });
  };

  submitOffline = (values: FormValues): void => {
    if (this.#state.isBusy) return;
    const { store, messenger } = this.#parts;
    const { texts, settings } = this.#state;
    const errors = findOfflineErrors(values, settings.contacts_form, texts);
    const hasErrors = Object.keys(errors).length > 0;
    store.update({ errors, isBusy: !hasErrors });
    if (hasErrors) return;
    const { fields, answers } = splitValues(values, settings.contacts_form.custom_fields);
    this.#offlineReports.set(messenger.sendOffline({ ...fields, answers }), (error) => {
      if (error instanceof PersonChanged) return;
      const isFormShown = this.#state.screen === "offline";
      if (error) return isFormShown ? this.#showError(error) : warn(offlineResult(error));
      this.#setContact(fields);
      if (isFormShown) store.update({ isBusy: false, screen: "offline/success" });
      this.#reportState();
    });
  };

  writeAnother = (): void => this.#show(true, false, "offline");

  /** Sends an offline message of the page, which hears what came of it, or reads it in the browser's console. */
  #sendOffline(message: OfflineMessage, report: OfflineReport = warn): void {
    this.#parts.session.check();
    this.#setContact(message);
    this.#offlineReports.set(this.#parts.messenger.sendOffline({ ...message }), (error) =>
      report(offlineResult(error)),
    );
  }

  #showError(error: ServiceError): void {
    this.#parts.store.update({ isBusy: false, errors: { [formField(error.field)]: this.#state.texts.refused } });
  }

  #setContact(fields: object): void {
    const { store, storage } = this.#parts;
    const contact = { ...this.#state.contact };
    mergeContactInfo(contact, fields);
    const form = this.#state.settings.contacts_form;
    const isContactsFormDone = storage.read(CONTACTS_FORM_DONE) === formVersion(form) || isKnown(form, contact);
    store.update({ contact, isContactsFormDone });
  }

  /** Shows nothing of the earlier person. An open window stays open, with empty fields. */
  #forgetPerson(): void {
    const { store, storage } = this.#parts;
    if (this.#calls) this.#withCalls((calls) => calls.stop(), undefined, true);
    this.#calls = undefined;
    for (const report of this.#offlineReports.values()) report(new PersonChanged());
    this.#offlineReports.clear();
    const { person, isOpen, screen } = this.#state;
    store.update({ contact: NO_CONTACT, person: person + 1, call: null, formIntro: {}, isBusy: false, errors: {} });
    this.#setContact({});
    if (isOpen) storage.write(IS_OPEN, true);
    if (isOpen && screen !== this.#defaultScreen()) this.#show(true, false);
    this.#reportState();
  }

  // Invitations and rules

  dismissInvitation = (): void => {
    this.#parts.storage.persist();
    this.#parts.storage.write(CLOSED_AT, Date.now());
    this.#parts.store.update({ invitation: null, isInvitationOutside: false });
    this.#parts.emit("onResizeCallback");
  };

  dismissPreview = (): void => {
    this.#parts.storage.persist();
    this.#parts.messenger.dismissPreview();
    this.#parts.emit("onResizeCallback");
  };

  #invite(text: string, departmentId: number | undefined, isOutside: boolean): void {
    const { store, storage, emit } = this.#parts;
    const { agents, conversation } = this.#state;
    if (conversation.isChatOpen) {
      if (isOutside) return;
      this.#parts.messenger.notify(text);
      return this.#show(true);
    }
    const isOfDepartment = ({ department_ids }: OnlineAgent) => !departmentId || department_ids?.includes(departmentId);
    const invitation: Invitation = {
      text,
      departmentId,
      agent: agents.find(isOfDepartment) ?? null,
      at: Date.now(),
      after: conversation.end,
    };
    // What the visitor has seen counts on the later pages of the tab, even if the visitor does not act.
    storage.writeForTab(INVITED_AT, invitation.at);
    storage.writeForTab(SITE, { start: this.#siteOpenedAt, seen: this.#pageOpenedAt });
    store.update({ invitation, isInvitationOutside: isOutside && !this.#state.isOpen });
    if (!isOutside) this.#show(true, false, "chat");
    else emit("onResizeCallback");
  }

  #setRules(rules: unknown): void {
    this.#rules.setRules(rules);
    if (this.#isStarted) this.#followRules();
  }

  #followRules(): void {
    clearInterval(this.#ruleTimer);
    if (this.#rules.isWaiting) this.#ruleTimer = setInterval(() => this.#evaluateRules(), RULE_INTERVAL_MS);
    this.#parts.messenger.refreshMode();
    this.#evaluateRules();
  }

  #evaluateRules(): void {
    this.#rules.evaluate(this.#ruleContext());
    if (!this.#rules.isWaiting) clearInterval(this.#ruleTimer);
  }

  #ruleContext(): RuleContext {
    const { storage, messenger } = this.#parts;
    return {
      now: Date.now(),
      isOnline: this.#state.mode === "online",
      url: location.href,
      pageOpenedAt: this.#pageOpenedAt,
      siteOpenedAt: this.#siteOpenedAt,
      closedAt: storage.read(CLOSED_AT),
      invitedAt: storage.read(INVITED_AT),
      firstMessageAt: messenger.firstMessageAt,
    };
  }

  #execute({ command, params }: RuleCommand): void {
    const { store } = this.#parts;
    const title = textOf(params["title"]);
    const message = textOf(params["message"]);
    if (command === "proactive" && message) this.#invite(message, undefined, true);
    if (command === "system_message" && message) this.#parts.messenger.notify(message);
    if (command === "open_offline" && !this.#state.isOpen && !this.#state.conversation.isChatOpen) {
      store.update({ formIntro: { title, message } });
      // A bot answers in the chat, where nobody has to wait.
      this.#show(true, false, this.#state.hasBot ? "chat" : "offline");
    }
    if (command === "show_callform") this.#withCalls((calls) => calls.offer(params));
  }

  // Calls

  /** Loads the part of the widget that makes calls, unless it is loaded already, and then calls `use` with it. Calls
   * `otherwise` if `isNeeded` is false or the part cannot be loaded. By default, the part is needed if visitors can
   * request to be called back. */
  #withCalls(
    use: (calls: Calls) => void,
    otherwise: (problem: Result) => void = () => {},
    isNeeded = this.#state.callback,
  ): void {
    if (!isNeeded) return otherwise(DISABLED);
    const show = (screen?: Screen) => this.#show(true, !!navigator.userActivation?.isActive, screen);
    this.#calls ??= this.#parts.loadCalls({ ...this.#parts, show });
    this.#calls.then(use, () => {
      this.#calls = undefined;
      otherwise(UNAVAILABLE);
    });
  }

  /** Why the visitor cannot ask for a callback, as far as it is known. What is older than a minute may have changed. */
  get #callProblem(): Result | undefined {
    const { callback, isCallbackAvailable, call } = this.#state;
    if (!callback) return DISABLED;
    return call || isCallbackAvailable || this.#parts.messenger.isOutdated ? call?.problem : UNAVAILABLE;
  }

  // The API

  read(method: string): unknown {
    switch (method) {
      case "chatMode":
        this.#isModeAsked = true;
        this.#parts.messenger.refreshMode();
        return this.#state.mode;
      case "getContactInfo":
        return { ...this.#state.contact };
      case "startCall":
        return this.#callProblem;
      case "getUtm":
        return this.#parts.landing.utm;
      case "widgetColor":
        return this.#state.settings.color;
      default:
        return this.#state.unread;
    }
  }

  run(method: string, args: unknown[]): void {
    const { session, store } = this.#parts;
    const [first, second] = args;
    switch (method) {
      case "open": {
        const open = () => this.#show(true, !!navigator.userActivation?.isActive);
        if ((first as { start?: unknown } | undefined)?.start !== "call") return open();
        return this.#withCalls((calls) => calls.open(), open);
      }
      case "startCall":
        return this.#withCalls(
          (calls) => calls.start(first as string),
          (problem) => this.#parts.emit("onCallEnd", problem),
        );
      case "isCallbackEnabled": {
        const callback = first as (result: Result) => void;
        return this.#withCalls((calls) => calls.check(callback), callback);
      }
      case "close":
        return this.#hide(false);
      case "setContactInfo":
      case "setCustomData":
      case "setClientAttributes":
        return this.#personData.set(method, first);
      case "setUserToken":
        return this.#personData.setUser(first as string | null);
      case "sendPageTitle": {
        const { href } = location;
        session.namedPage = { title: first as string, url: (second as string | undefined) ?? href, address: href };
        return this.pageChanged();
      }
      case "setRules":
        return this.#setRules(first);
      case "showProactiveInvitation":
        return this.#invite(first as string, departmentOf(second), false);
      case "setWidgetColor":
        return store.update({
          settings: { ...this.#state.settings, color: first as string, color2: (second as string | undefined) ?? null },
        });
      case "sendOfflineMessage":
        return this.#sendOffline(first as OfflineMessage, second as OfflineReport | undefined);
      case "getVisitorNumber":
        return this.#passVisitorNumber(first as (error: string | null, number: unknown) => void);
      case "clearHistory":
        session.leave();
        return this.#hide(false);
    }
  }

  /** Must be called when the page has another address or name. */
  pageChanged(): void {
    this.#personData.pageChanged();
  }

  /** Passes the visitor's number, or an error, to the page's callback. Creates the visitor if there is none yet. */
  #passVisitorNumber(callback: (error: string | null, number: unknown) => void): void {
    const { session } = this.#parts;
    session.check();
    session
      .withToken(() => (session.visitor ? Promise.resolve() : session.load().then(() => {})))
      .then(
        () => callback(null, session.visitor?.number ?? null),
        () => callback("The visitor number is not available.", null),
      );
  }
}

/** Returns the value as the id of a department, or undefined if it is not a positive whole number. */
const departmentOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;
const offlineResult = (error: ServiceError | PersonChanged | undefined): Result =>
  error ? { result: "fail", error: offlineErrorText(error) } : { result: "ok" };
const warn: OfflineReport = ({ error }) => error && console.warn("The offline message was not sent.", error);
function offlineErrorText(error: ServiceError | PersonChanged): string {
  if (error instanceof PersonChanged) return "The visitor has signed out.";
  if (error.status === 408) return "Message is too old.";
  if (error.status === 413) return "Message is too long.";
  return `The service has refused the ${error.field ? `field ${error.field}` : "message"}.`;
}
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
